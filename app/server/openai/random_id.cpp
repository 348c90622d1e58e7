#include "app/server/openai/random_id.h"

#include <random>

namespace quern::app {

std::string randomId(const char* prefix, std::size_t digits) {
    static constexpr char kDigits[] = "0123456789abcdef";
    constexpr std::size_t kDigitsPerDraw = 8;
    std::random_device random;
    std::string id = prefix;
    unsigned bits = 0;
    for (std::size_t i = 0; i < digits; ++i, bits >>= 4) {
        if (i % kDigitsPerDraw == 0) {
            bits = random();
        }
        id += kDigits[bits & 15];
    }
    return id;
}

}  // namespace quern::app
