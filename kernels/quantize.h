#pragma once

#include <cstddef>
#include <span>

#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::kernels {

/// Whether `quantize` writes that type: F32, F16, BF16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K
/// and Q6_K.
[[nodiscard]] bool canQuantize(DType type);

/// Rounds whole rows to a type: what `dequantize` then gives is close to `values`. The formats of
/// 32 elements give the bytes of GGML's reference; the K formats search for the scales that make
/// the weighted squared error small. Values must be finite for the block formats (kInvalidArgument
/// names the first that is not). Each block depends on its own elements alone.
/// `blocks` holds the bytes of values.size() elements in whole blocks; a size that does not match
/// is an error, a type without an encoder kUnsupported. Any thread.
[[nodiscard]] Status quantize(DType type, std::span<const float> values,
                              std::span<std::byte> blocks);

}  // namespace quern::kernels
