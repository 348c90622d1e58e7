#include "engine/text/tokenizer_decoder.h"

#include <array>
#include <utility>

#include "engine/text/normalizer.h"
#include "engine/text/pretokenizer.h"
#include "engine/text/tokenizer_utf8.h"
#include "engine/text/tokenizer_vocabulary.h"

namespace quern::engine::text {
namespace {

template <class Function>
class FunctionStep final : public DecoderStep {
public:
    explicit FunctionStep(Function function) : m_function(std::move(function)) {}
    [[nodiscard]] Status apply(std::string& token, bool isFirst) const override {
        return m_function(token, isFirst);
    }

private:
    Function m_function;
};

template <class Function>
DecoderStepPtr makeFrom(Function function) {
    return std::make_unique<FunctionStep<Function>>(std::move(function));
}

Status replaceAll(std::string& text, std::string_view pattern, std::string_view content) {
    std::size_t at = pattern.empty() ? std::string::npos : text.find(pattern);
    if (at == std::string::npos) {
        return {};
    }
    std::string out;
    std::size_t done = 0;
    for (; at != std::string::npos; at = text.find(pattern, done)) {
        out.append(text, done, at - done).append(content);
        if (out.size() > mostGrownBytes(text.size())) {
            return growsTooLong("decoder", text.size());
        }
        done = at + pattern.size();
    }
    text = std::move(out.append(text, done));
    return {};
}

/// Takes `part` from the start or the end of `text`, at most `times` times.
void takeStart(std::string& text, std::string_view part, std::size_t times) {
    std::size_t count = 0;
    while (count < times && !part.empty() &&
           std::string_view(text).substr(count * part.size()).starts_with(part)) {
        ++count;
    }
    text.erase(0, count * part.size());
}
void takeEnd(std::string& text, std::string_view part, std::size_t times) {
    for (std::size_t count = 0; count < times && !part.empty() && text.ends_with(part); ++count) {
        text.resize(text.size() - part.size());
    }
}

void decodeByteLevel(std::string& token) {
    std::string bytes;
    bytes.reserve(token.size());
    for (std::size_t i = 0; i < token.size();) {
        const DecodedChar c = decodeUtf8(token, i);
        const int byte = c.length == 0 ? -1 : byteOfLevelChar(c.codepoint);
        if (byte < 0) {
            return;  // not in the alphabet: the token is its own text
        }
        bytes.push_back(static_cast<char>(byte));
        i += c.length;
    }
    token = std::move(bytes);
}

/// BERT's tidying: spaces before punctuation and inside contractions go.
Status cleanUp(std::string& token) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kRules = {{
        {" .", "."},
        {" ?", "?"},
        {" !", "!"},
        {" ,", ","},
        {" ' ", "'"},
        {" n't", "n't"},
        {" 'm", "'m"},
        {" do not", " don't"},
        {" 's", "'s"},
        {" 've", "'ve"},
        {" 're", "'re"},
    }};
    for (const auto& [pattern, content] : kRules) {
        if (auto status = replaceAll(token, pattern, content); !status) {
            return status;
        }
    }
    return {};
}

}  // namespace

DecoderStepPtr makeByteLevelDecoder() {
    return makeFrom([](std::string& token, bool) {
        decodeByteLevel(token);
        return Status();
    });
}

DecoderStepPtr makeByteFallbackDecoder() {
    return makeFrom([](std::string& token, bool) {
        if (const auto byte = parseByteToken(token)) {
            token.assign(1, static_cast<char>(*byte));
        }
        return Status();
    });
}

DecoderStepPtr makeUnescapeDecoder() {
    return makeFrom([](std::string& token, bool) {
        std::string bytes;
        appendUnescaped(bytes, token);
        token = std::move(bytes);
        return Status();
    });
}

DecoderStepPtr makeReplaceDecoder(std::string pattern, std::string content) {
    return makeFrom([pattern = std::move(pattern), content = std::move(content)](
                        std::string& token, bool) { return replaceAll(token, pattern, content); });
}

DecoderStepPtr makeReplaceRegexDecoder(Regex pattern, std::string content) {
    return makeFrom([replace = makeReplaceRegex(std::move(pattern), std::move(content))](
                        std::string& token, bool) -> Status {
        if (needsEscape(token)) {
            return {};
        }
        auto text = replace->apply(token);
        if (!text) {
            return forward(text);
        }
        token = std::move(*text);
        return {};
    });
}

DecoderStepPtr makeMetaspaceDecoder(std::string replacement, bool drops) {
    return makeFrom(
        [replacement = std::move(replacement), drops](std::string& token, bool isFirst) {
            return replaceAll(token, replacement, isFirst && drops ? "" : " ");
        });
}

DecoderStepPtr makeWordPieceDecoder(std::string prefix, bool cleansUp) {
    return makeFrom([prefix = std::move(prefix), cleansUp](std::string& token, bool isFirst) {
        if (!isFirst) {
            if (token.starts_with(prefix)) {
                token.erase(0, prefix.size());
            } else {
                token.insert(0, " ");
            }
        }
        return cleansUp ? cleanUp(token) : Status();
    });
}

DecoderStepPtr makeSuffixDecoder(std::string suffix) {
    return makeFrom([suffix = std::move(suffix)](std::string& token, bool) {
        return replaceAll(token, suffix, " ");
    });
}

DecoderStepPtr makeStripDecoder(std::string content, std::size_t start, std::size_t stop) {
    return makeFrom([content = std::move(content), start, stop](std::string& token, bool) {
        takeStart(token, content, start);
        takeEnd(token, content, stop);
        return Status();
    });
}

DecoderStepPtr makeJoinDecoder() {
    return makeFrom([](std::string& token, bool isFirst) {
        if (!isFirst) {
            token.insert(0, " ");
        }
        return Status();
    });
}

Result<std::string> TextDecoder::decode(std::string_view spelling, bool isFirst) const {
    std::string text(spelling);
    for (const DecoderStepPtr& step : steps) {
        if (auto status = step->apply(text, isFirst); !status) {
            return forward(status);
        }
        if (text.size() > mostGrownBytes(spelling.size())) {
            return growsTooLong("decoder", spelling.size());
        }
    }
    return text;
}

void TextDecoder::trimStart(std::string& text) const {
    takeStart(text, trimmed, trimsStart);
}
void TextDecoder::trimEnd(std::string& text) const {
    takeEnd(text, trimmed, trimsEnd);
}

}  // namespace quern::engine::text
