#pragma once

#include <array>
#include <cstdint>

namespace quern::kernels::iq {

// Grid points of eight values, two bits each: codes 0, 1, 2 stand for 8, 25, 43 (the 2-bit
// formats) or −1, 0, 1 (the 1-bit formats).
extern const std::array<std::uint16_t, 256> kGrid2Xxs;
extern const std::array<std::uint16_t, 512> kGrid2Xs;
extern const std::array<std::uint16_t, 1024> kGrid2S;
extern const std::array<std::uint16_t, 2048> kGrid1;

// Grid points of four values, three bits each: codes stand for 4, 12, 20, 28, 36, 44, 52, 62
// (IQ3_XXS) or 1, 3, 5 … 15 (IQ3_S).
extern const std::array<std::uint16_t, 256> kGrid3Xxs;
extern const std::array<std::uint16_t, 512> kGrid3S;

}  // namespace quern::kernels::iq
