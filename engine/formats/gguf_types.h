#pragma once

#include <cstdint>
#include <optional>

#include "kernels/tensor.h"

namespace quern::engine {

/// The element type that a number of GGML stands for; absent for those that have no reader.
[[nodiscard]] std::optional<kernels::DType> dtypeOfGgml(std::uint32_t ggmlType);
/// The other way; absent for types that GGUF files cannot hold (8-bit floats).
[[nodiscard]] std::optional<std::uint32_t> ggmlTypeOf(kernels::DType type);

}  // namespace quern::engine
