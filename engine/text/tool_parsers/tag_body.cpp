#include <array>

#include "engine/text/tool_parsers/call_body.h"

namespace quern::engine::tool_parsers {
namespace {

/// One line break at each end belongs to the tags.
std::string_view withoutBreaks(std::string_view text) {
    if (text.starts_with('\n')) {
        text.remove_prefix(1);
    }
    if (text.ends_with('\n')) {
        text.remove_suffix(1);
    }
    return text;
}

/// Writes a call's arguments parameter by parameter.
class ParameterWriter {
public:
    explicit ParameterWriter(const ParameterTypes& types) : m_types(types) {}

    void begin(CallSink& sink, std::string name) {
        m_tool = std::move(name);
        m_count = 0;
        sink.beginCall(m_tool);
    }
    void put(CallSink& sink, const std::string& key, std::string_view text, bool isText = false) {
        sink.arguments((m_count++ == 0 ? "{" : ", ") + quoteJson(key) + ": " +
                       (isText ? quoteJson(text) : m_types.toJson(m_tool, key, text)));
    }
    void end(CallSink& sink) const { sink.arguments(m_count == 0 ? "{}" : "}"); }

private:
    const ParameterTypes& m_types;
    std::string m_tool;
    std::size_t m_count = 0;
};

/// The name in <function=NAME>, <invoke name="NAME">, <parameter name="KEY" string="true">.
std::string nameInTag(std::string_view tag) {
    const std::size_t equals = tag.find('=');
    if (equals == std::string_view::npos) {
        return {};
    }
    std::string_view name = tag.substr(equals + 1);
    if (name.starts_with('"')) {
        name.remove_prefix(1);
        name = name.substr(0, name.find('"'));
    }
    return std::string(trimmed(name));
}

/// The word a tag begins with, without a slash and any prefix that ends in a bar (DSML's) or a
/// colon.
std::string_view tagWord(std::string_view tag) {
    tag = tag.substr(0, tag.find_first_of(" =\n"));
    for (const std::string_view border : {std::string_view("｜"), std::string_view(":")}) {
        if (const std::size_t at = tag.rfind(border); at != std::string_view::npos) {
            tag = tag.substr(at + border.size());
        }
    }
    return tag;
}

constexpr std::string_view kVerbatimOpen = "<![CDATA[";
constexpr std::string_view kVerbatimClose = "]]>";

class TagBody : public CallBody {
public:
    TagBody(const ParameterTypes& types, std::string close)
        : m_writer(types), m_close(std::move(close)) {}

    Status feed(char c, CallSink& sink) override {
        m_text += c;
        if (m_inParameter) {
            return parameter(sink);
        }
        if (m_text.ends_with(m_close)) {
            if (m_isOpen) {
                m_writer.end(sink);
                m_isOpen = false;
            }
            return m_hasCalls ? Status::kDone : Status::kFailed;
        }
        if (c != '>') {
            const bool mayBeTag = trimmed(m_text).empty() || trimmed(m_text).front() == '<';
            return mayBeTag && m_text.size() < 512 ? Status::kMore : Status::kFailed;
        }
        std::string_view tag = trimmed(m_text);
        if (!tag.starts_with('<')) {
            return Status::kFailed;
        }
        tag = tag.substr(1, tag.size() - 2);
        const Status status = take(tag, sink);
        if (status == Status::kMore) {
            m_text.clear();
        }
        return status;
    }

private:
    Status take(std::string_view tag, CallSink& sink) {
        const bool isEnd = tag.starts_with('/');
        const std::string_view word = tagWord(isEnd ? tag.substr(1) : tag);
        if (word == "function" || word == "invoke") {
            if (isEnd) {
                if (m_isOpen) {
                    m_writer.end(sink);
                }
                m_isOpen = false;
                return Status::kMore;
            }
            const std::string name = nameInTag(tag);
            if (!isCallName(name) || m_isOpen) {
                return Status::kFailed;
            }
            m_writer.begin(sink, name);
            m_isOpen = true;
            m_hasCalls = true;
            return Status::kMore;
        }
        if ((word == "parameter" || word == "param") && !isEnd && m_isOpen) {
            m_key = nameInTag(tag);
            m_isText = tag.find("string=\"true\"") != std::string_view::npos;
            m_end = "</" + std::string(tag.substr(0, tag.find_first_of(" ="))) + ">";
            m_inParameter = true;
            return Status::kMore;
        }
        return Status::kFailed;
    }

    Status parameter(CallSink& sink) {
        if (!m_text.ends_with(m_end)) {
            return Status::kMore;
        }
        std::string_view value(m_text.data(), m_text.size() - m_end.size());
        if (value.starts_with(kVerbatimOpen)) {
            if (!value.ends_with(kVerbatimClose)) {
                return Status::kMore;
            }
            value.remove_prefix(kVerbatimOpen.size());
            value.remove_suffix(kVerbatimClose.size());
            m_writer.put(sink, m_key, value, true);
        } else {
            m_writer.put(sink, m_key, withoutBreaks(value), m_isText);
        }
        m_inParameter = false;
        m_text.clear();
        return Status::kMore;
    }

    ParameterWriter m_writer;
    std::string m_close;
    std::string m_text;
    std::string m_key;
    std::string m_end;
    bool m_inParameter = false;
    bool m_isText = false;  // the tag itself says that its value is a string
    bool m_isOpen = false;
    bool m_hasCalls = false;
};

class GlmBody : public CallBody {
public:
    GlmBody(const ParameterTypes& types, const std::string& suffix) : m_writer(types) {
        constexpr std::string_view kWords[] = {"<arg_key",    "</arg_key",   "<arg_value",
                                               "</arg_value", "</tool_call", "<tool_sep"};
        for (std::size_t i = 0; i < m_marks.size(); ++i) {
            m_marks[i] = std::string(kWords[i]) + suffix + ">";
        }
    }

    Status feed(char c, CallSink& sink) override {
        m_text += c;
        if (!m_hasBegun && m_text.size() > 200) {
            return Status::kFailed;
        }
        if (c != '>') {
            return Status::kMore;
        }
        for (std::size_t i = 0; i < m_marks.size(); ++i) {
            // A value ends at its own mark; what else it spells is text.
            const auto mark = static_cast<Mark>(i);
            if (m_text.ends_with(m_marks[i]) && (!m_inValue || mark == Mark::kValueEnd)) {
                const std::string before = m_text.substr(0, m_text.size() - m_marks[i].size());
                m_text.clear();
                return take(mark, before, sink);
            }
        }
        return Status::kMore;
    }

private:
    enum class Mark { kKey, kKeyEnd, kValue, kValueEnd, kCallEnd, kNameEnd };

    Status take(Mark mark, const std::string& before, CallSink& sink) {
        m_inValue = m_hasBegun && mark == Mark::kValue;
        if (!m_hasBegun) {
            const std::string name(trimmed(before));
            if (!isCallName(name) ||
                (mark != Mark::kKey && mark != Mark::kCallEnd && mark != Mark::kNameEnd)) {
                return Status::kFailed;
            }
            m_writer.begin(sink, name);
            m_hasBegun = true;
        } else if (mark == Mark::kKeyEnd) {
            m_key = std::string(trimmed(before));
        } else if (mark == Mark::kValueEnd) {
            m_writer.put(sink, m_key, before);
        }
        if (mark != Mark::kCallEnd) {
            return Status::kMore;
        }
        m_writer.end(sink);
        return Status::kDone;
    }

    std::array<std::string, 6> m_marks;
    ParameterWriter m_writer;
    std::string m_text;
    std::string m_key;
    bool m_hasBegun = false;
    bool m_inValue = false;
};

}  // namespace

std::unique_ptr<CallBody> makeTagBody(const ParameterTypes& types, std::string close) {
    return std::make_unique<TagBody>(types, std::move(close));
}

std::unique_ptr<CallBody> makeGlmBody(const ParameterTypes& types, const std::string& suffix) {
    return std::make_unique<GlmBody>(types, suffix);
}

}  // namespace quern::engine::tool_parsers
