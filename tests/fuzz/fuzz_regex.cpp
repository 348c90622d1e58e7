// Any text as a tokenizer's pattern, over any other: the first byte chooses whose rules, the first
// line is the pattern. Matches lie inside, one after the other, and cutting at them loses nothing.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/unicode.h"
#include "engine/text/pretokenizer.h"

namespace {

using namespace quern::engine::text;

void check(const Regex& regex, std::string_view text) {
    std::vector<RegexMatch> matches;
    regex.findAll(text, matches);
    std::size_t last = 0;
    for (const RegexMatch& match : matches) {
        if (match.begin < last || match.end < match.begin || match.end > text.size()) {
            std::abort();
        }
        last = match.end;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const auto dialect = data[0] % 2 == 0 ? RegexDialect::kGguf : RegexDialect::kOniguruma;
    const std::string_view all(reinterpret_cast<const char*>(data) + 1, size - 1);
    const std::string_view pattern = all.substr(0, all.find('\n'));
    const std::string_view text = all.substr(std::min(pattern.size() + 1, all.size()));
    auto regex = Regex::create(pattern, dialect);
    if (!regex || quern::engine::jinja::findInvalidUtf8(text)) {
        return 0;
    }
    check(*regex, text);
    if (text.empty()) {
        return 0;
    }
    Pieces pieces(text, true);
    makeRegexSplit(std::move(*regex), SplitBehavior::kIsolated, false)->apply(pieces);
    std::string joined;
    for (const Pieces::Span& span : pieces.spans()) {
        joined += pieces.at(span);
    }
    if (joined != text) {
        std::abort();
    }
    return 0;
}
