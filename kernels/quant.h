#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::kernels {

/// What a loader must know of an element type. One truth for loaders, converters and kernels.
struct DTypeTraits {
    std::string_view name;       // as GGML writes it: "Q4_K", "F16"
    std::int64_t blockElements;  // elements in a block; 1 for plain types
    std::int64_t blockBytes;     // bytes of a block
    bool isQuantized;            // a block format (weights that take Q8 activations)
};

[[nodiscard]] const DTypeTraits& traits(DType type);

/// The type with that name (case-insensitive), or an error that lists the names there are.
[[nodiscard]] Result<DType> dtypeFromName(std::string_view name);

/// Bytes of one row of `cols` elements. Error when cols is not a multiple of the block, or when the
/// product overflows.
[[nodiscard]] Result<std::int64_t> rowBytes(DType type, std::int64_t cols);

/// Reference dequantization of whole rows, bit for bit what the GGML formats define.
/// `blocks` holds out.size() elements in whole blocks; a size that does not match is an error. Slow
/// and portable: tests, embeddings of odd types, conversion.
[[nodiscard]] Status dequantize(DType type, std::span<const std::byte> blocks,
                                std::span<float> out);

}  // namespace quern::kernels
