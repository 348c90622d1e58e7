#pragma once

#include <cstddef>

namespace quern::kernels {

struct KScaleMin {
    int scale;
    int min;
};

/// Q4_K and Q5_K keep eight 6-bit scales and minima in 12 bytes: the first four of each in the low
/// six bits of bytes 0–3 and 4–7, the others split over the nibbles of bytes 8–11 and the top two
/// bits of the first eight bytes.
[[nodiscard]] inline KScaleMin scaleMinK(const std::byte* packed, std::size_t i) {
    const auto at = [&](std::size_t index) { return std::to_integer<int>(packed[index]); };
    if (i < 4) {
        return {.scale = at(i) & 63, .min = at(i + 4) & 63};
    }
    return {.scale = (at(i + 4) & 15) | ((at(i - 4) >> 6) << 4),
            .min = (at(i + 4) >> 4) | ((at(i) >> 6) << 4)};
}

}  // namespace quern::kernels
