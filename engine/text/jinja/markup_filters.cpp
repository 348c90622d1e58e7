// Filters about HTML and URLs.
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/filters.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/parameters.h"
#include "engine/text/jinja/repr.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {
namespace {

Value escape(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("escape", arguments, {});
    if (input.isMarkup()) {
        return input;
    }
    return interpreter.text(escapeHtml(toText(input)), true);
}

Value forceEscape(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("forceescape", arguments, {});
    return interpreter.text(escapeHtml(toText(input)), true);
}

Value safe(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("safe", arguments, {});
    return input.isMarkup() ? input : interpreter.text(toText(input), true);
}

/// Removes what stands between `open` and `close`, to the end where it is not closed.
std::string withoutSpans(std::string_view text, std::string_view open, std::string_view close) {
    std::string out;
    std::size_t at = 0;
    while (true) {
        const std::size_t start = text.find(open, at);
        const std::size_t end =
            start == std::string_view::npos ? start : text.find(close, start + open.size());
        if (end == std::string_view::npos) {
            out += text.substr(at);
            return out;
        }
        out += text.substr(at, start - at);
        at = end + close.size();
    }
}

std::string unescapeHtml(std::string_view text) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kNames = {{
        {"&amp;", "&"},
        {"&lt;", "<"},
        {"&gt;", ">"},
        {"&#39;", "'"},
        {"&#34;", "\""},
        {"&quot;", "\""},
        {"&nbsp;", "\u00A0"},
    }};
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const auto* const found = std::find_if(kNames.begin(), kNames.end(), [&](const auto& name) {
            return text.substr(at, name.first.size()) == name.first;
        });
        if (found == kNames.end()) {
            out += text[at++];
        } else {
            out += found->second;
            at += found->first.size();
        }
    }
    return out;
}

Value stripTags(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("striptags", arguments, {});
    const std::string all = toText(input);
    interpreter.stepBytes(all.size() * 4);
    const std::string bare = withoutSpans(withoutSpans(all, "<!--", "-->"), "<", ">");
    std::string out;
    bool needsSpace = false;
    for (const char32_t c : toCodePoints(bare)) {
        if (isSpace(c)) {
            needsSpace = !out.empty();
            continue;
        }
        out += needsSpace ? " " : "";
        needsSpace = false;
        text::appendUtf8(out, c);
    }
    return interpreter.text(unescapeHtml(out));
}

std::string quoteUrl(std::string_view text, bool isQuery) {
    std::string out;
    for (const char c : text) {
        const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                             (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-' ||
                             c == '~' || (c == '/' && !isQuery);
        if (isPlain) {
            out += c;
        } else if (c == ' ' && isQuery) {
            out += '+';
        } else {
            std::array<char, 4> buffer{};
            std::snprintf(buffer.data(), buffer.size(), "%%%02X",
                          static_cast<unsigned>(static_cast<unsigned char>(c)));
            out += buffer.data();
        }
    }
    return out;
}

Value urlEncode(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("urlencode", arguments, {});
    if (input.isText() || !isIterable(input)) {
        return interpreter.text(quoteUrl(toText(input), false));
    }
    std::string out;
    const auto add = [&](const Value& key, const Value& value) {
        out += out.empty() ? "" : "&";
        out += quoteUrl(toText(key), true) + "=" + quoteUrl(toText(value), true);
        interpreter.stepBytes(out.size() / 16);
        interpreter.checkSize(out.size());
    };
    if (input.is(Kind::kDict)) {
        for (const auto& [key, value] : input.as<Dict>().entries()) {
            add(key, value);
        }
    } else {
        for (const Value& pair : interpreter.itemsOf(input)) {
            const std::vector<Value> two = interpreter.itemsOf(pair);
            if (two.size() != 2) {
                raiseValue("not enough values to unpack (expected 2, got " +
                           std::to_string(two.size()) + ")");
            }
            add(two[0], two[1]);
        }
    }
    return interpreter.text(std::move(out));
}

Value xmlAttributes(Interpreter& interpreter, const Value& input, const Arguments& arguments) {
    const Parameters given("xmlattr", arguments, {"autospace"});
    raiseIfUndefined(input);
    if (!input.is(Kind::kDict)) {
        raise("AttributeError", "'" + typeName(input) + "' object has no attribute 'items'");
    }
    std::string out;
    for (const auto& [key, value] : input.as<Dict>().entries()) {
        if (value.isNone() || value.isUndefined()) {
            continue;
        }
        if (!key.isText()) {
            raiseType("expected string or bytes-like object, got '" + typeName(key) + "'");
        }
        if (key.text().find_first_of(" \t\n\r\f\v/>=") != std::string_view::npos) {
            raiseValue("Invalid character in attribute name: " + toRepr(key));
        }
        const std::string shown =
            value.isMarkup() ? std::string(value.text()) : escapeHtml(toText(value));
        out += out.empty() ? "" : " ";
        out += escapeHtml(key.text()) + "=\"" + shown + "\"";
        interpreter.stepBytes(shown.size());
        interpreter.checkSize(out.size());
    }
    if (!out.empty() && given.isTrue(0, true)) {
        out.insert(0, " ");
    }
    return interpreter.text(std::move(out));
}

constexpr std::array kMarkupFilters = {
    FilterEntry{"escape", escape},           FilterEntry{"e", escape},
    FilterEntry{"forceescape", forceEscape}, FilterEntry{"safe", safe},
    FilterEntry{"striptags", stripTags},     FilterEntry{"urlencode", urlEncode},
    FilterEntry{"xmlattr", xmlAttributes},
};

}  // namespace

std::span<const FilterEntry> markupFilters() {
    return kMarkupFilters;
}

}  // namespace quern::engine::jinja
