// Methods of str that take a text apart.
#include <algorithm>
#include <array>
#include <limits>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/methods.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

using Pieces = std::vector<std::string_view>;

Value listOf(Interpreter& interpreter, const Value& self, const Pieces& pieces) {
    std::vector<Value> items;
    items.reserve(pieces.size());
    for (const std::string_view piece : pieces) {
        items.push_back(interpreter.text(std::string(piece), self.isMarkup()));
    }
    return interpreter.heap().list(std::move(items));
}

Pieces splitSpaces(std::string_view text, std::int64_t limit) {
    Pieces pieces;
    text = strip(text, Ends::kLeft);
    while (!text.empty() && limit-- > 0) {
        std::size_t end = 0;
        while (end < text.size()) {
            std::size_t next = end;
            if (isSpace(nextCodePoint(text, next))) {
                break;
            }
            end = next;
        }
        pieces.push_back(text.substr(0, end));
        text = strip(text.substr(end), Ends::kLeft);
    }
    if (!text.empty()) {
        pieces.push_back(text);
    }
    return pieces;
}

Pieces splitSpacesFromEnd(std::string_view text, std::int64_t limit) {
    Pieces pieces;
    text = strip(text, Ends::kRight);
    while (!text.empty() && limit-- > 0) {
        std::size_t start = text.size();
        while (start > 0) {
            std::size_t last = start - 1;
            while (last > 0 && (static_cast<unsigned char>(text[last]) & 0xC0U) == 0x80U) {
                --last;
            }
            std::size_t pos = last;
            if (isSpace(nextCodePoint(text, pos))) {
                break;
            }
            start = last;
        }
        pieces.push_back(text.substr(start));
        text = strip(text.substr(0, start), Ends::kRight);
    }
    if (!text.empty()) {
        pieces.push_back(text);
    }
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

Pieces splitAt(std::string_view text, std::string_view separator, std::int64_t limit) {
    Pieces pieces;
    std::size_t at = 0;
    while (limit-- > 0) {
        const std::size_t found = text.find(separator, at);
        if (found == std::string_view::npos) {
            break;
        }
        pieces.push_back(text.substr(at, found - at));
        at = found + separator.size();
    }
    pieces.push_back(text.substr(at));
    return pieces;
}

Pieces splitAtFromEnd(std::string_view text, std::string_view separator, std::int64_t limit) {
    Pieces pieces;
    while (limit-- > 0) {
        const std::size_t found = text.rfind(separator);
        if (found == std::string_view::npos) {
            break;
        }
        pieces.push_back(text.substr(found + separator.size()));
        text = text.substr(0, found);
    }
    pieces.push_back(text);
    std::reverse(pieces.begin(), pieces.end());
    return pieces;
}

template <bool fromEnd>
Value splitMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given(fromEnd ? "rsplit" : "split", arguments, {"sep", "maxsplit"});
    std::int64_t limit = given.integer(1, -1);
    if (limit < 0) {
        limit = std::numeric_limits<std::int64_t>::max();
    }
    interpreter.stepBytes(self.text().size());
    if (given[0].isNone()) {
        return listOf(
            interpreter, self,
            fromEnd ? splitSpacesFromEnd(self.text(), limit) : splitSpaces(self.text(), limit));
    }
    const std::string_view separator = given.text(0, "");
    if (separator.empty()) {
        raiseValue("empty separator");
    }
    return listOf(interpreter, self,
                  fromEnd ? splitAtFromEnd(self.text(), separator, limit)
                          : splitAt(self.text(), separator, limit));
}

template <bool fromEnd>
Value partitionMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("partition", arguments, {"sep"}, 1);
    const std::string_view separator = given.text(0, "");
    if (separator.empty()) {
        raiseValue("empty separator");
    }
    const std::string_view text = self.text();
    interpreter.stepBytes(text.size());
    const std::size_t at = fromEnd ? text.rfind(separator) : text.find(separator);
    const auto piece = [&](std::string_view bytes) {
        return interpreter.text(std::string(bytes), self.isMarkup());
    };
    if (at == std::string_view::npos) {
        return fromEnd ? interpreter.heap().tuple({piece(""), piece(""), self})
                       : interpreter.heap().tuple({self, piece(""), piece("")});
    }
    return interpreter.heap().tuple(
        {piece(text.substr(0, at)), piece(separator), piece(text.substr(at + separator.size()))});
}

Value splitLinesMethod(Interpreter& interpreter, const Value& self, const Arguments& arguments) {
    const Parameters given("splitlines", arguments, {"keepends"});
    interpreter.stepBytes(self.text().size());
    return listOf(interpreter, self, splitLines(self.text(), given.isTrue(0, false)));
}

constexpr std::array kSplitMethods = {
    MethodEntry{"split", splitMethod<false>},
    MethodEntry{"rsplit", splitMethod<true>},
    MethodEntry{"partition", partitionMethod<false>},
    MethodEntry{"rpartition", partitionMethod<true>},
    MethodEntry{"splitlines", splitLinesMethod},
};

bool isLineEnd(char32_t c) {
    return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
           c == 0x2029;
}

}  // namespace

std::vector<std::string_view> splitLines(std::string_view text, bool keepsEnds) {
    Pieces lines;
    std::size_t start = 0;
    for (std::size_t pos = 0; pos < text.size();) {
        const std::size_t end = pos;
        const char32_t c = nextCodePoint(text, pos);
        if (!isLineEnd(c)) {
            continue;
        }
        if (c == U'\r' && pos < text.size() && text[pos] == '\n') {
            ++pos;
        }
        lines.push_back(text.substr(start, (keepsEnds ? pos : end) - start));
        start = pos;
    }
    if (start < text.size()) {
        lines.push_back(text.substr(start));
    }
    return lines;
}

const MethodEntry* findTextSplitMethod(std::string_view name) {
    const auto* const found = std::find_if(kSplitMethods.begin(), kSplitMethods.end(),
                                           [name](const MethodEntry& m) { return m.name == name; });
    return found != kSplitMethods.end() ? found : nullptr;
}

}  // namespace quern::engine::jinja
