#include "engine/core/byte_text.h"

#include <array>
#include <iomanip>
#include <sstream>

namespace quern::engine {

std::string byteText(std::int64_t bytes) {
    static constexpr std::array kUnits = {" B", " KiB", " MiB", " GiB", " TiB"};
    auto value = static_cast<double>(bytes);
    std::size_t unit = 0;
    while (value >= 1024.0 && unit + 1 < kUnits.size()) {
        value /= 1024.0;
        ++unit;
    }
    std::ostringstream text;
    text << std::fixed << std::setprecision(unit == 0 || value >= 100.0 ? 0 : 1) << value
         << kUnits[unit];
    return text.str();
}

}  // namespace quern::engine
