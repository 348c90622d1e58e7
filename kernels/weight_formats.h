#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "kernels/tensor.h"

namespace quern::kernels {

/// What weights of a type become that has no fast kernel of its own: another format that holds each
/// of its values exactly and has one.
struct HeldAs {
    std::string_view name;  // for people
    std::int64_t bits = 0;  // a weight, scales included
};
/// Absent for types that are held in the size they have in the file.
[[nodiscard]] std::optional<HeldAs> heldAs(DType type);

}  // namespace quern::kernels
