#include "engine/text/normalizer.h"

#include <utf8proc.h>

#include <cstdlib>
#include <utility>

#include "engine/text/pretokenizer.h"
#include "engine/text/tokenizer_unicode.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

template <class Function>
class FunctionNormalizer final : public Normalizer {
public:
    explicit FunctionNormalizer(Function function) : m_function(std::move(function)) {}
    [[nodiscard]] Result<std::string> apply(std::string_view text) const override {
        return m_function(text);
    }

private:
    Function m_function;
};

template <class Function>
NormalizerPtr makeFrom(Function function) {
    return std::make_unique<FunctionNormalizer<Function>>(std::move(function));
}

/// A normalizer that looks at one character at a time: `Each(c, out)` appends what it becomes.
template <class Each>
NormalizerPtr makeFromChars(Each each) {
    return makeFrom([each = std::move(each)](std::string_view text) {
        std::string out;
        out.reserve(text.size());
        for (std::size_t i = 0; i < text.size();) {
            const DecodedChar c = decodeValidUtf8(text, i);
            each(c.codepoint, out);
            i += c.length;
        }
        return out;
    });
}

bool isAscii(std::string_view text) {
    for (const char c : text) {
        if (static_cast<unsigned char>(c) >= 0x80) {
            return false;
        }
    }
    return true;
}

std::string toForm(std::string_view text, int options) {
    if (isAscii(text)) {
        return std::string(text);
    }
    utf8proc_uint8_t* result = nullptr;
    const utf8proc_ssize_t size =
        utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                     static_cast<utf8proc_ssize_t>(text.size()), &result,
                     static_cast<utf8proc_option_t>(options | UTF8PROC_STABLE));
    if (size < 0 || result == nullptr) {
        return std::string(text);
    }
    std::string out(reinterpret_cast<const char*>(result), static_cast<std::size_t>(size));
    std::free(result);
    return out;
}

constexpr int optionsOf(UnicodeForm form) {
    switch (form) {
        case UnicodeForm::kNfc:
            return UTF8PROC_COMPOSE;
        case UnicodeForm::kNfd:
            return UTF8PROC_DECOMPOSE;
        case UnicodeForm::kNfkc:
            return UTF8PROC_COMPOSE | UTF8PROC_COMPAT;
        case UnicodeForm::kNfkd:
            return UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT;
    }
    return UTF8PROC_COMPOSE;
}

std::string trimmed(std::string_view text, bool left, bool right) {
    while (left && !text.empty()) {
        const DecodedChar c = decodeValidUtf8(text, 0);
        if (!isWhitespace(c.codepoint)) {
            break;
        }
        text.remove_prefix(c.length);
    }
    while (right && !text.empty()) {
        const std::size_t last = lastCharStart(text);
        if (!isWhitespace(decodeValidUtf8(text, last).codepoint)) {
            break;
        }
        text = text.substr(0, last);
    }
    return std::string(text);
}

void cleanBertChar(char32_t c, const BertNormalizerOptions& options, std::string& out) {
    if (options.cleansText) {
        const bool isKept = c == '\t' || c == '\n' || c == '\r';
        if (c == 0 || c == 0xFFFD || (isOther(c) && !isKept)) {
            return;
        }
        if (isWhitespace(c)) {
            out.push_back(' ');
            return;
        }
    }
    const bool isSpaced = options.spacesCjk && isCjkIdeograph(c);
    if (isSpaced) {
        out.push_back(' ');
    }
    appendUtf8(out, c);
    if (isSpaced) {
        out.push_back(' ');
    }
}

std::string bertNormalized(std::string_view text, const BertNormalizerOptions& options) {
    std::string cleaned;
    cleaned.reserve(text.size());
    for (std::size_t i = 0; i < text.size();) {
        const DecodedChar c = decodeValidUtf8(text, i);
        cleanBertChar(c.codepoint, options, cleaned);
        i += c.length;
    }
    if (options.stripsAccents) {
        cleaned = toForm(cleaned, optionsOf(UnicodeForm::kNfd));
    }
    std::string out;
    out.reserve(cleaned.size());
    for (std::size_t i = 0; i < cleaned.size();) {
        const DecodedChar c = decodeValidUtf8(cleaned, i);
        i += c.length;
        if (options.stripsAccents && isNonspacingMark(c.codepoint)) {
            continue;
        }
        if (options.lowercases) {
            appendLowercase(out, c.codepoint);
        } else {
            appendUtf8(out, c.codepoint);
        }
    }
    return out;
}

bool isDroppedByNmt(char32_t c) {
    return (c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
           c == 0x8F || c == 0x9F;
}

bool isSpaceToNmt(char32_t c) {
    return c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
           (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
           c == 0xFEFF || c == 0xFFFD;
}

}  // namespace

tl::unexpected<Error> growsTooLong(std::string_view rules, std::size_t bytes) {
    return fail(ErrorCode::kCorrupt, "the tokenizer's " + std::string(rules) + " makes a text of " +
                                         std::to_string(bytes) + " bytes longer than " +
                                         std::to_string(mostGrownBytes(bytes)));
}

NormalizerPtr makeNormalizerSequence(std::vector<NormalizerPtr> steps) {
    return makeFrom([steps = std::move(steps)](std::string_view text) -> Result<std::string> {
        Result<std::string> current = std::string(text);
        for (const NormalizerPtr& step : steps) {
            current = step->apply(*current);
            if (!current) {
                return current;
            }
            if (current->size() > mostGrownBytes(text.size())) {
                return growsTooLong("normalizer", text.size());
            }
        }
        return current;
    });
}

NormalizerPtr makeUnicodeForm(UnicodeForm form) {
    return makeFrom(
        [options = optionsOf(form)](std::string_view text) { return toForm(text, options); });
}

NormalizerPtr makeLowercase() {
    return makeFromChars([](char32_t c, std::string& out) { appendLowercase(out, c); });
}

NormalizerPtr makeStripAccents() {
    return makeFromChars([](char32_t c, std::string& out) {
        if (!isMark(c)) {
            appendUtf8(out, c);
        }
    });
}

NormalizerPtr makeStrip(bool left, bool right) {
    return makeFrom([left, right](std::string_view text) { return trimmed(text, left, right); });
}

NormalizerPtr makeReplaceString(std::string pattern, std::string content) {
    return makeFrom([pattern = std::move(pattern),
                     content = std::move(content)](std::string_view text) -> Result<std::string> {
        std::string out;
        out.reserve(text.size());
        std::size_t done = 0;
        for (std::size_t at = text.find(pattern); at != std::string_view::npos && !pattern.empty();
             at = text.find(pattern, done)) {
            out.append(text.substr(done, at - done)).append(content);
            if (out.size() > mostGrownBytes(text.size())) {
                return growsTooLong("normalizer", text.size());
            }
            done = at + pattern.size();
        }
        return out.append(text.substr(done));
    });
}

NormalizerPtr makeReplaceRegex(Regex pattern, std::string content) {
    return makeFrom([pattern = std::move(pattern),
                     content = std::move(content)](std::string_view text) -> Result<std::string> {
        std::vector<RegexMatch> matches;
        pattern.findAll(text, matches);
        std::string out;
        out.reserve(text.size());
        std::size_t done = 0;
        for (const RegexMatch& match : matches) {
            out.append(text.substr(done, match.begin - done)).append(content);
            if (out.size() > mostGrownBytes(text.size())) {
                return growsTooLong("normalizer", text.size());
            }
            done = match.end;
        }
        return out.append(text.substr(done));
    });
}

NormalizerPtr makePrepend(std::string prefix) {
    return makeFrom([prefix = std::move(prefix)](std::string_view text) {
        return text.empty() ? std::string() : prefix + std::string(text);
    });
}

NormalizerPtr makeBertNormalizer(BertNormalizerOptions options) {
    return makeFrom([options](std::string_view text) { return bertNormalized(text, options); });
}

NormalizerPtr makeNmt() {
    return makeFromChars([](char32_t c, std::string& out) {
        if (isSpaceToNmt(c)) {
            out.push_back(' ');
        } else if (!isDroppedByNmt(c)) {
            appendUtf8(out, c);
        }
    });
}

NormalizerPtr makeByteLevelNormalizer() {
    return makeFrom([](std::string_view text) {
        std::string out;
        appendByteLevel(out, text);
        return out;
    });
}

}  // namespace quern::engine::text
