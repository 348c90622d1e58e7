#include "app/chat/conversation_title.h"

namespace quern::app {

namespace {

constexpr std::size_t kMostCharacters = 48;

bool isBlank(char c) {
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Runs of white space become a blank, those at the ends go.
std::string onOneLine(std::string_view text) {
    std::string line;
    for (const char c : text) {
        if (!isBlank(c)) {
            line += c;
        } else if (!line.empty() && line.back() != ' ') {
            line += ' ';
        }
    }
    if (!line.empty() && line.back() == ' ') {
        line.pop_back();
    }
    return line;
}

// Where the character behind the first `count` begins.
std::size_t offsetOf(std::string_view text, std::size_t count) {
    std::size_t at = 0;
    for (; at < text.size(); ++at) {
        const bool isLead = (static_cast<unsigned char>(text[at]) & 0xC0) != 0x80;
        if (isLead && count-- == 0) {
            break;
        }
    }
    return at;
}

}  // namespace

std::string titleFrom(std::string_view message) {
    std::string title = onOneLine(message);
    const std::size_t end = offsetOf(title, kMostCharacters);
    if (end < title.size()) {
        title.resize(end);
        // At a word, unless that would take half of it away.
        const std::size_t word = title.rfind(' ');
        if (word != std::string::npos && word > end / 2) {
            title.resize(word);
        }
        title += "…";
    }
    return title;
}

}  // namespace quern::app
