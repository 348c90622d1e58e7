#include "app/cli/numbers.h"

#include <fmt/format.h>

namespace quern::cli {

CLI::Validator realNumber(double least, double most) {
    const auto check = [least, most](const std::string& text) {
        double value = 0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        // Written so that what is no number (nan) is refused too.
        if (error == std::errc() && rest == end && value >= least && value <= most) {
            return std::string();
        }
        return fmt::format("'{}' is no number from {} to {}", text, least, most);
    };
    return {check, "", "number"};
}

}  // namespace quern::cli
