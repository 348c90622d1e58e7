#pragma once

#include <cstddef>
#include <span>

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

/// The other way; values are of six bits.
inline void packScaleMinsK(std::span<const KScaleMin, 8> parts, std::byte* packed) {
    for (std::size_t i = 0; i < 4; ++i) {
        const KScaleMin& low = parts[i];
        const KScaleMin& high = parts[i + 4];
        packed[i] = static_cast<std::byte>(low.scale | ((high.scale >> 4) << 6));
        packed[i + 4] = static_cast<std::byte>(low.min | ((high.min >> 4) << 6));
        packed[i + 8] = static_cast<std::byte>((high.scale & 15) | ((high.min & 15) << 4));
    }
}

}  // namespace quern::kernels
