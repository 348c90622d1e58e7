#include "app/cli/terminal_text.h"

#include <fmt/format.h>

namespace quern::cli {

std::string withoutTerminalControls(const std::string& text) {
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool isC0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
        // C1 controls are U+0080 … U+009F: C2 80 … C2 9F in UTF-8.
        const bool isC1 =
            byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (isC0) {
            safe += fmt::format("\\x{:02x}", byte);
        } else if (isC1) {
            ++i;
            safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
        } else {
            safe += text[i];
        }
    }
    return safe;
}

}  // namespace quern::cli
