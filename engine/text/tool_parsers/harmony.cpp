#include "engine/text/tool_parsers/harmony.h"

#include <algorithm>
#include <array>
#include <utility>

namespace quern::engine::tool_parsers {
namespace {

constexpr std::string_view kMessage = "<|message|>";
constexpr std::array<std::string_view, 7> kChannelMarks = {
    "<|start|>", "<|channel|>", "<|constrain|>", kMessage, "<|end|>", "<|return|>", "<|call|>"};
constexpr std::array<std::string_view, 4> kRecipientMarks = {"<|start|>", kMessage, "<|eom|>",
                                                             "<|eot|>"};

/// Whether `text` begins with `head`, or may yet.
bool mayBegin(std::string_view text, std::string_view head) {
    return head.starts_with(text.substr(0, head.size()));
}

}  // namespace

std::span<const std::string_view> HarmonyParser::marks(Kind kind) {
    if (kind == Kind::kRecipients) {
        return kRecipientMarks;
    }
    return kChannelMarks;
}

bool HarmonyParser::isEnd(std::string_view mark) const {
    return m_kind == Kind::kRecipients
               ? mark == "<|eom|>" || mark == "<|eot|>"
               : mark == "<|end|>" || mark == "<|return|>" || mark == "<|call|>";
}

void HarmonyParser::feed(char c) {
    m_held += c;
    while (!m_held.empty()) {
        for (const std::string_view mark : marks(m_kind)) {
            if (mark == m_held) {
                if (!takeMark()) {
                    put(m_held);
                }
                m_held.clear();
                return;
            }
            if (mark.starts_with(m_held)) {
                return;
            }
        }
        put(std::string_view(m_held).substr(0, 1));
        m_held.erase(0, 1);
    }
}

bool HarmonyParser::takeMark() {
    if (m_held == kMessage) {
        if (!m_inHeader) {
            return false;
        }
        takeHeader();
        return true;
    }
    if (isEnd(m_held)) {
        if (m_inHeader) {
            return false;
        }
        m_inHeader = true;
        m_mayBeBare = false;
        m_header.clear();
        return true;
    }
    if (!m_inHeader) {
        return false;
    }
    m_header += m_held;
    return true;
}

void HarmonyParser::takeHeader() {
    const std::string header = std::exchange(m_header, {});
    m_inHeader = false;
    m_mayBeBare = false;
    if (m_kind == Kind::kRecipients) {
        m_part = header.find("to=self") != std::string::npos ? Part::kReasoning : Part::kContent;
        return;
    }
    const std::size_t to = header.find("to=functions.");
    if (to != std::string::npos) {
        const std::size_t begin = to + std::string_view("to=functions.").size();
        const std::size_t end = std::min(header.find_first_of(" <\n", begin), header.size());
        const std::string name = header.substr(begin, end - begin);
        if (isCallName(name)) {
            m_sink.beginCall(name);
            m_part = Part::kArguments;
            return;
        }
    }
    m_part = header.find("analysis") != std::string::npos ? Part::kReasoning : Part::kContent;
}

void HarmonyParser::put(std::string_view text) {
    if (!m_inHeader) {
        switch (m_part) {
            case Part::kContent:
                m_sink.content(text);
                break;
            case Part::kReasoning:
                m_sink.reasoning(text);
                break;
            case Part::kArguments:
                m_sink.arguments(text);
                break;
        }
        return;
    }
    m_header += text;
    // A header is short and has marks; anything else is an answer without one.
    const std::string_view header = m_header;
    const bool isBare = m_mayBeBare && header.find("<|") == std::string_view::npos &&
                        !mayBegin(header, " to=") && !mayBegin(header, "to=") &&
                        !mayBegin(header, "assistant");
    if (isBare || m_header.size() > 512) {
        m_inHeader = false;
        m_mayBeBare = false;
        m_part = Part::kContent;
        m_sink.content(std::exchange(m_header, {}));
    }
}

void HarmonyParser::end() {
    put(std::exchange(m_held, {}));
    // A header that never came to its message holds no words of the model, unless it has no marks.
    if (m_inHeader && m_header.find("<|") == std::string::npos && m_header != "assistant") {
        m_sink.content(m_header);
    }
    m_header.clear();
}

}  // namespace quern::engine::tool_parsers
