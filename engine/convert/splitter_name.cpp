#include "engine/convert/splitter_name.h"

#include <algorithm>
#include <array>
#include <vector>

#include "engine/text/pretokenizer_table.h"
#include "engine/text/tokenizer_json.h"

namespace quern::engine::convert {

namespace {

using text::Pieces;
using text::PreTokenizerPtr;

constexpr std::array<std::string_view, 34> kProbes{
    "Hello, world! This is a test of 3.14159 and 1,234,567 numbers.",
    "I'm sure they've said it's what we'd do; you'll see, he's right.",
    "I'M SURE THEY'VE SAID IT'S WHAT WE'D DO; YOU'LL SEE",
    "don\u2019t can\u2019t won\u2019t",
    "for (int i = 0; i < 10; ++i) {\n\t\tprintf(\"%d\\n\", i);\n    }\n\n\n",
    "def f(x):\n    return x ** 2  # squared\r\n\r\nprint(f(12))",
    "  leading and trailing   ",
    "a  b   c    d\t\te \n f\n\ng \n\n h\r\ni",
    "1 12 123 1234 12345 123456 1234567890",
    "x1y22z333 v2.0.1-beta+build.7",
    "\u00e9t\u00e9 na\u00efve \u00c4pfel \u0141\u00f3d\u017a \u00f1and\u00fa",
    "\u0417\u0434\u0440\u0430\u0432\u0441\u0442\u0432\u0443\u0439, \u043c\u0438\u0440! "
    "\u041a\u0430\u043a \u0434\u0435\u043b\u0430?",
    "\u6211\u60f3\u5728apple\u5de5\u4f5c1314151\u5929\uff5e\u3002\u4f60\u597d\uff0c\u4e16\u754c"
    "\uff01",
    "\u3053\u3093\u306b\u3061\u306f\u4e16\u754c\u3001\u30ab\u30bf\u30ab\u30ca\u3068\u6f22\u5b57",
    "\uc548\ub155\ud558\uc138\uc694 \uc138\uacc4",
    "\u0645\u0631\u062d\u0628\u0627 \u0628\u0627\u0644\u0639\u0627\u0644\u0645 "
    "\u0661\u0662\u0663\u0664\u0665",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e \u0967\u0968\u0969",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "\U0001F600\U0001F680 emoji \U0001F468\u200D\U0001F469\u200D\U0001F467 \u2764\uFE0F!",
    "!!! ??? ... --- *** ### $$$ %%% &&& @@@",
    "(parens) [brackets] {braces} <angles> \"quotes\" 'single' `ticks`",
    "path/to/file.txt C:\\Users\\me https://example.com/a?b=c&d=e#f user@mail.org",
    "CamelCaseWords snake_case_words kebab-case-words SCREAMING_CASE mixedUP123case",
    "'s's't 're 'REAL \"'ll\" 'Tis",
    "\u00a0non-breaking\u00a0space\u2003em\u2009thin\u3000wide",
    "Ω≈ç√∫˜µ≤≥÷ ½ ² ³ № ™ © €100 £5 ¥7",
    "word\n\nword \n \nword\n   indented\n\ttab",
    "=== a == b != c <= d >= e -> f => g :: h ... i",
    "\u0130stanbul \u1E9E \uFB01n \u01C5 \u00AA\u00BA",
    "it'stop we'really I'mine x'dare O'Reilly y'all 'twas",
    "width   5   px \n  7 \t\t8\n\n\n9   ",
    // Letters and their marks one by one, which some tokenizers put together first.
    "e\u0301te\u0301 A\u0308pfel n\u0303 \u1112\u1161\u11ab\u1100\u1173\u11af",
    "\ufb01x \u2460 \u2075 \uff21\uff22\uff23 \u212b \u1e9b\u0323",
    "A.B.C. e.g., i.e.; Mr. Smith (b. 1970) \u2014 ok\u2026",
};

// Several names may stand for one splitting: those that most programs know come first.
constexpr std::array<std::string_view, 14> kCommon{
    "llama-bpe", "qwen2",     "gpt-2",     "gpt-4o", "tekken",  "deepseek-v3", "deepseek-llm",
    "starcoder", "command-r", "stablelm2", "dbrx",   "default", "falcon",      "smollm"};

std::vector<std::string_view> namesInOrder() {
    std::vector<std::string_view> names(kCommon.begin(), kCommon.end());
    for (const std::string_view name : text::splitterNames()) {
        if (std::find(kCommon.begin(), kCommon.end(), name) == kCommon.end()) {
            names.push_back(name);
        }
    }
    return names;
}

std::vector<PreTokenizerPtr> stepsOf(const text::SplitterFacts& facts) {
    std::vector<PreTokenizerPtr> steps;
    for (const std::string_view pattern : facts.patterns) {
        auto regex = text::Regex::create(pattern, text::RegexDialect::kGguf);
        if (!regex) {
            return {};
        }
        steps.push_back(
            text::makeRegexSplit(std::move(*regex), text::SplitBehavior::kIsolated, false));
    }
    steps.push_back(text::makeByteLevel());
    return steps;
}

std::vector<std::string> piecesOf(std::string_view probe,
                                  const std::vector<PreTokenizerPtr>& steps) {
    Pieces pieces(probe, true);
    for (const PreTokenizerPtr& step : steps) {
        step->apply(pieces);
    }
    std::vector<std::string> result;
    for (const Pieces::Span& span : pieces.spans()) {
        result.emplace_back(pieces.at(span));
    }
    return result;
}

}  // namespace

std::span<const std::string_view> probeTexts() {
    return kProbes;
}

SplitterMatch findSplitterName(const nlohmann::json& root) {
    Status status;
    const text::JsonNode node(&root, "", status);
    std::vector<PreTokenizerPtr> own;
    text::readPreTokenizer(node.child("pre_tokenizer"), own);
    const text::JsonNode model = node.child("model");
    const bool ignoresMerges = model.flag("ignore_merges", false);
    std::vector<std::vector<std::string>> wanted;
    wanted.reserve(kProbes.size());
    for (const std::string_view probe : kProbes) {
        wanted.push_back(piecesOf(probe, own));
    }
    SplitterMatch best{.name = "default", .differing = kProbes.size() + 1};
    for (const std::string_view name : namesInOrder()) {
        const text::SplitterFacts& facts = *text::findSplitter(name);
        if (facts.usesSpaceMarks || facts.ignoresMerges != ignoresMerges) {
            continue;
        }
        const std::vector<PreTokenizerPtr> steps = stepsOf(facts);
        std::size_t differing = 0;
        for (std::size_t i = 0; i < kProbes.size() && differing < best.differing; ++i) {
            differing += piecesOf(kProbes[i], steps) == wanted[i] ? 0 : 1;
        }
        if (differing < best.differing) {
            best = {.name = std::string(name), .differing = differing};
        }
        if (differing == 0) {
            break;
        }
    }
    return best;
}

}  // namespace quern::engine::convert
