#pragma once

#include <array>
#include <cstdint>

namespace quern::engine {

/// Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"): 128 random
/// bits as a pure function of a counter and a key. No state, so a draw depends on nothing that ran
/// before it.
[[nodiscard]] constexpr std::array<std::uint32_t, 4> philox(std::array<std::uint32_t, 4> counter,
                                                            std::array<std::uint32_t, 2> key) {
    constexpr int kRounds = 10;
    constexpr std::uint64_t kMultiplier0 = 0xD2511F53;
    constexpr std::uint64_t kMultiplier1 = 0xCD9E8D57;
    constexpr std::uint32_t kWeyl0 = 0x9E3779B9;
    constexpr std::uint32_t kWeyl1 = 0xBB67AE85;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t product0 = kMultiplier0 * counter[0];
        const std::uint64_t product1 = kMultiplier1 * counter[2];
        counter = {static_cast<std::uint32_t>(product1 >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(product1),
                   static_cast<std::uint32_t>(product0 >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(product0)};
        key = {key[0] + kWeyl0, key[1] + kWeyl1};
    }
    return counter;
}

/// A double in [0, 1) with 53 random bits, keyed by (seed, choice, position) alone.
[[nodiscard]] constexpr double uniform(std::uint64_t seed, std::int32_t choice,
                                       std::int32_t position) {
    const auto bits =
        philox({static_cast<std::uint32_t>(position), static_cast<std::uint32_t>(choice), 0, 0},
               {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
    const std::uint64_t mantissa = (std::uint64_t{bits[0]} << 21) | (bits[1] >> 11);
    return static_cast<double>(mantissa) * 0x1.0p-53;
}

}  // namespace quern::engine
