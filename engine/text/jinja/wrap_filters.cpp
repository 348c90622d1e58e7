// The wordwrap filter: Python's textwrap, paragraph by paragraph.
#include <algorithm>
#include <array>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/methods.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

using Chunks = std::vector<std::u32string>;

bool isBlank(char32_t c) {
    return c == U' ' || (c >= 0x09 && c <= 0x0D);
}

bool isLetter(char32_t c) {
    return isAlpha(c) || c == U'_';
}

bool isWordPart(char32_t c) {
    return isAlpha(c) || isNumeric(c) || c == U'_' ||
           std::u32string_view(U"!\"'&.,?").find(c) != std::u32string_view::npos;
}

/// True when a line may end behind the hyphen at `at`: letters stand on both sides.
bool breaksAtHyphen(const std::u32string& line, std::size_t start, std::size_t at) {
    const bool twoLetters = at >= start + 2 && isLetter(line[at - 1]) && isLetter(line[at - 2]);
    const bool letterHyphenPart = at >= start + 3 && isWordPart(line[at - 1]) &&
                                  line[at - 2] == U'-' && isLetter(line[at - 3]);
    if (!twoLetters && !letterHyphenPart) {
        return false;
    }
    const auto letterAt = [&](std::size_t i) { return i < line.size() && isLetter(line[i]); };
    if (!letterAt(at + 1)) {
        return false;
    }
    return letterAt(at + 2) || (at + 2 < line.size() && line[at + 2] == U'-' && letterAt(at + 3));
}

/// Length of a dash of two hyphens or more between words, at `at`; 0 when there is none.
std::size_t dashAt(const std::u32string& line, std::size_t at) {
    std::size_t end = at;
    while (end < line.size() && line[end] == U'-') {
        ++end;
    }
    const bool isDash = end - at >= 2 && at > 0 && isWordPart(line[at - 1]) && end < line.size() &&
                        (isLetter(line[end]) || isNumeric(line[end]));
    return isDash ? end - at : 0;
}

Chunks split(const std::u32string& line, bool breaksOnHyphens) {
    Chunks chunks;
    for (std::size_t at = 0; at < line.size();) {
        std::size_t end = at;
        if (isBlank(line[at])) {
            while (end < line.size() && isBlank(line[end])) {
                ++end;
            }
        } else if (const std::size_t dash = breaksOnHyphens ? dashAt(line, at) : 0; dash > 0) {
            end = at + dash;
        } else {
            ++end;
            while (end < line.size() && !isBlank(line[end])) {
                if (breaksOnHyphens && line[end - 1] == U'-' && breaksAtHyphen(line, at, end - 1)) {
                    break;
                }
                if (breaksOnHyphens && dashAt(line, end) > 0) {
                    break;
                }
                ++end;
            }
        }
        chunks.push_back(line.substr(at, end - at));
        at = end;
    }
    return chunks;
}

bool isBlankChunk(const std::u32string& chunk) {
    return std::all_of(chunk.begin(), chunk.end(), isSpace);
}

std::vector<std::u32string> wrap(const std::u32string& text, std::size_t width,
                                 bool breaksLongWords, bool breaksOnHyphens) {
    Chunks chunks = split(text, breaksOnHyphens);
    std::reverse(chunks.begin(), chunks.end());
    std::vector<std::u32string> lines;
    while (!chunks.empty()) {
        if (isBlankChunk(chunks.back()) && !lines.empty()) {
            chunks.pop_back();
        }
        Chunks line;
        std::size_t length = 0;
        while (!chunks.empty() && length + chunks.back().size() <= width) {
            length += chunks.back().size();
            line.push_back(std::move(chunks.back()));
            chunks.pop_back();
        }
        if (!chunks.empty() && chunks.back().size() > width) {
            const std::size_t left = width - std::min(width, length);
            if (breaksLongWords) {
                std::u32string& word = chunks.back();
                std::size_t end = std::max<std::size_t>(left, width < 1 ? 1 : left);
                if (breaksOnHyphens && word.size() > left && left > 0) {
                    const std::size_t hyphen = word.rfind(U'-', left - 1);
                    const bool hasBefore =
                        hyphen != std::u32string::npos && hyphen > 0 &&
                        std::any_of(word.begin(),
                                    word.begin() + static_cast<std::ptrdiff_t>(hyphen),
                                    [](char32_t c) { return c != U'-'; });
                    end = hasBefore ? hyphen + 1 : end;
                }
                line.push_back(word.substr(0, end));
                word.erase(0, end);
            } else if (line.empty()) {
                line.push_back(std::move(chunks.back()));
                chunks.pop_back();
            }
        }
        if (!line.empty() && isBlankChunk(line.back())) {
            line.pop_back();
        }
        if (!line.empty()) {
            std::u32string joined;
            for (const std::u32string& chunk : line) {
                joined += chunk;
            }
            lines.push_back(std::move(joined));
        }
    }
    return lines;
}

Value wordWrap(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("wordwrap", arguments,
                           {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
    raiseIfUndefined(input);
    if (!input.isText()) {
        raise("AttributeError", "'" + typeName(input) + "' object has no attribute 'splitlines'");
    }
    const std::int64_t width = given.integer(0, 79);
    if (width <= 0) {
        raiseValue("invalid width " + std::to_string(width) + " (must be > 0)");
    }
    const std::string end(given[2].isNone() ? "\n" : given.text(2, "\n"));
    std::string out;
    bool isFirst = true;
    for (const std::string_view paragraph : splitLines(input.text(), false)) {
        interpreter.stepBytes(paragraph.size() * 16);
        out += isFirst ? "" : end;
        isFirst = false;
        bool isFirstLine = true;
        for (const auto& line : wrap(toCodePoints(paragraph), static_cast<std::size_t>(width),
                                     given.isTrue(1, true), given.isTrue(3, true))) {
            interpreter.stepBytes(end.size());
            interpreter.checkSize(out.size());
            out += isFirstLine ? "" : end;
            out += toUtf8(line);
            isFirstLine = false;
        }
    }
    return interpreter.text(std::move(out));
}

constexpr std::array kWrapFilters = {FilterEntry{"wordwrap", wordWrap}};

}  // namespace

std::span<const FilterEntry> wrapFilters() {
    return kWrapFilters;
}

}  // namespace quern::engine::jinja
