#include "engine/text/pretokenizer.h"

#include <gtest/gtest.h>

#include "engine/text/pretokenizer_table.h"
#include "engine/text/tokenizer_unicode.h"
#include "tests/support/golden.h"

namespace quern::engine::text {
namespace {

using Strings = std::vector<std::string>;

Strings split(std::string_view text, const std::vector<PreTokenizerPtr>& steps) {
    Pieces pieces(text, true);
    for (const PreTokenizerPtr& step : steps) {
        step->apply(pieces);
    }
    Strings result;
    for (const Pieces::Span& span : pieces.spans()) {
        result.emplace_back(pieces.at(span));
    }
    return result;
}

Strings split(std::string_view text, PreTokenizerPtr step) {
    std::vector<PreTokenizerPtr> steps;
    steps.push_back(std::move(step));
    return split(text, steps);
}

Regex compiled(std::string_view pattern, RegexDialect dialect = RegexDialect::kOniguruma) {
    auto regex = Regex::create(pattern, dialect);
    EXPECT_TRUE(regex) << regex.error().message;
    return std::move(*regex);
}

std::vector<PreTokenizerPtr> splitter(const std::vector<std::string>& patterns) {
    std::vector<PreTokenizerPtr> steps;
    for (const std::string& pattern : patterns) {
        steps.push_back(makeRegexSplit(compiled(pattern, RegexDialect::kGguf),
                                       SplitBehavior::kIsolated, false));
    }
    return steps;
}

TEST(PreTokenizer, SplitsByEveryBehavior) {
    const auto by = [](SplitBehavior behavior, bool isInverted = false) {
        return split("the-final--countdown", makeStringSplit("-", behavior, isInverted));
    };
    EXPECT_EQ(by(SplitBehavior::kRemoved), (Strings{"the", "final", "countdown"}));
    EXPECT_EQ(by(SplitBehavior::kIsolated), (Strings{"the", "-", "final", "-", "-", "countdown"}));
    EXPECT_EQ(by(SplitBehavior::kMergedWithPrevious),
              (Strings{"the-", "final-", "-", "countdown"}));
    EXPECT_EQ(by(SplitBehavior::kMergedWithNext), (Strings{"the", "-final", "-", "-countdown"}));
    EXPECT_EQ(by(SplitBehavior::kContiguous), (Strings{"the", "-", "final", "--", "countdown"}));
    EXPECT_EQ(by(SplitBehavior::kRemoved, true), (Strings{"-", "-", "-"}));
}

TEST(PreTokenizer, TakesEmptyMatchesForBorders) {
    const auto digits = [](std::string_view text) {
        return split(text, makeRegexSplit(compiled(R"((?=(\d{3})+(?!\d)))"),
                                          SplitBehavior::kIsolated, false));
    };
    EXPECT_EQ(digits("1234567"), (Strings{"1", "234", "567"}));
    EXPECT_EQ(digits("123456"), (Strings{"123", "456"}));
    EXPECT_EQ(digits(""), Strings{});
}

TEST(PreTokenizer, AppliesEachPatternToWhatTheLastOneLeft) {
    EXPECT_EQ(split("ab12 3", splitter({"\\p{N}", "[a-z]"})),
              (Strings{"a", "b", "1", "2", " ", "3"}));
}

TEST(PreTokenizer, MarksSpaces) {
    EXPECT_EQ(split("Hey  friend!", makeMetaspace("▁", PrependScheme::kAlways, true)),
              (Strings{"▁Hey", "▁", "▁friend!"}));
    EXPECT_EQ(split("Hey you", makeMetaspace("▁", PrependScheme::kNever, false)),
              (Strings{"Hey▁you"}));
    EXPECT_EQ(split(" Hey", makeMetaspace("▁", PrependScheme::kFirst, true)), (Strings{"▁Hey"}));
}

TEST(PreTokenizer, KnowsWordsAndCharacters) {
    EXPECT_EQ(split("Hey, y'all!", makeWordSplit()), (Strings{"Hey", ",", "y", "'", "all", "!"}));
    EXPECT_EQ(split("a12b", makeCharSplit(isNumeric, SplitBehavior::kContiguous)),
              (Strings{"a", "12", "b"}));
    EXPECT_EQ(split("日本語です", makeFixedLength(2)), (Strings{"日本", "語で", "す"}));
}

TEST(PreTokenizer, WritesBytesAsCharacters) {
    EXPECT_EQ(split(" é\n", makeByteLevel()), (Strings{"ĠÃ©Ċ"}));
    for (int byte = 0; byte < 256; ++byte) {
        const std::string_view c = byteLevelChar(static_cast<unsigned char>(byte));
        EXPECT_TRUE(c.size() == 1 || c.size() == 2);
    }
}

TEST(RegexTranslation, WritesOutWhatDiffers) {
    const auto matches = [](std::string_view pattern, std::string_view text) {
        std::vector<RegexMatch> found;
        compiled(pattern).findAll(text, found);
        Strings parts;
        for (const RegexMatch& match : found) {
            parts.emplace_back(text.substr(match.begin, match.end - match.begin));
        }
        return parts;
    };
    EXPECT_EQ(matches("\\s+", "a\u180Eb \u3000c"), (Strings{" \u3000"}));
    EXPECT_EQ(matches("\\w+", "a\u0301 x_½"), (Strings{"a\u0301", "x_½"}));
    EXPECT_EQ(matches("[\\p{L}&&[^\\p{Han}]]+", "ab你好cd"), (Strings{"ab", "cd"}));
    EXPECT_EQ(matches("[a[bc]]+", "abcd"), (Strings{"abc"}));
    EXPECT_EQ(matches("\\h+", "xFF0"), (Strings{"FF0"}));
    EXPECT_EQ(matches("\\p{N}{1,2}+", "12345"), (Strings{"12345"}));
    EXPECT_EQ(matches("^a|b$", "a\nab\nb"), (Strings{"a", "a", "b", "b"}));
    EXPECT_EQ(matches("[\\u0041-\\u0043]+", "xABCD"), (Strings{"ABC"}));
    EXPECT_EQ(matches("\\p{Han}+", "你、好"), (Strings{"你", "好"}));
}

TEST(RegexTranslation, NamesPatternsThatDoNotCompile) {
    for (const char* pattern : {"(", "[a", "[^a&&b]", "a**b)", "\\p{NoSuch}"}) {
        const auto regex = Regex::create(pattern, RegexDialect::kOniguruma);
        ASSERT_FALSE(regex) << pattern;
        EXPECT_EQ(regex.error().code, ErrorCode::kUnsupported);
        EXPECT_NE(regex.error().message.find(pattern), std::string::npos);
    }
}

TEST(Regex, StaysBoundedOnPatternsThatExplode) {
    const Regex regex = compiled("(a|aa)+$|b");
    const std::string text = "b" + std::string(200'000, 'a') + "cb";
    std::vector<RegexMatch> matches;
    regex.findAll(text, matches);
    ASSERT_FALSE(matches.empty());
    EXPECT_EQ(matches.front().end, 1U);
    for (std::size_t i = 1; i < matches.size(); ++i) {
        EXPECT_GE(matches[i].begin, matches[i - 1].end);
        EXPECT_LE(matches[i].end, text.size());
    }
}

TEST(Regex, KnowsWhichPatternsLookFar) {
    EXPECT_TRUE(looksFarAhead(R"(\d{1,3}(?=(?:\d{3})*\b))"));
    EXPECT_TRUE(looksFarAhead(R"((?=(\d{3})+(?!\d)))"));
    EXPECT_FALSE(looksFarAhead(R"(\s+(?!\S)|[(?=]+a*|\(?=+)"));
    EXPECT_FALSE(looksFarAhead(std::string(findSplitter("llama3")->patterns[0])));
}

TEST(Regex, GroupsDigitsOfAnyLengthInBoundedTime) {
    for (const char* name : {"afmoe", "superbpe", "cohere2moe"}) {
        SCOPED_TRACE(name);
        const SplitterFacts* facts = findSplitter(name);
        const std::vector<PreTokenizerPtr> steps =
            splitter({facts->patterns.begin(), facts->patterns.end()});
        // A number near the end of a window must be seen whole.
        for (std::size_t before = 755; before < 780; ++before) {
            const Strings pieces =
                split(std::string(before, '-') + "1234567" + std::string(99, '-'), steps);
            const auto at = std::find(pieces.begin(), pieces.end(), "234");
            ASSERT_NE(at, pieces.end()) << before;
            EXPECT_EQ(*(at - 1), "1");
            EXPECT_EQ(*(at + 1), "567");
        }
        EXPECT_EQ(split(std::string(90'000, '7'), steps).size(), 30'000U);
    }
}

TEST(Regex, SplitsLongWordsWhole) {
    for (const char* name : {"gpt-4o", "exaone-moe", "llama3", "granite-embed-multi-97m"}) {
        const SplitterFacts* facts = findSplitter(name);
        ASSERT_NE(facts, nullptr);
        const std::string word(300'000, 'a');
        const Strings pieces =
            split(word, splitter({facts->patterns.begin(), facts->patterns.end()}));
        ASSERT_EQ(pieces.size(), 1U) << name;
        EXPECT_EQ(pieces[0], word);
    }
}

TEST(SplitterTable, HoldsWhatIsKnown) {
    const auto folder = quern::test::goldenDir();
    if (!folder) {
        GTEST_SKIP() << "no golden data (set QUERN_GOLDEN)";
    }
    const auto golden = quern::test::readJson(*folder / "pretokenizers.json");
    EXPECT_EQ(golden.size(), splitterNames().size());
    std::string text = "Hello WORLD, it's McDonald's 'LL iOS9 1234567 12 1,000.5\n\n  x\t\ty ";
    text += "ÄÖü ǅ \u00a0z 你好、世界 한국어 ไทย कार्तिक 😀 ";
    text += "<sentinel:12> IMGIMGABZ — “q” //a/b\r\n ﬁ ᾈ ª";
    for (const auto& [name, facts] : golden.items()) {
        SCOPED_TRACE(name);
        const SplitterFacts* known = findSplitter(name);
        ASSERT_NE(known, nullptr);
        EXPECT_EQ(known->ignoresMerges, facts.value("ignore_merges", false));
        EXPECT_EQ(known->addsBos, facts.value("add_bos", false));
        EXPECT_EQ(known->addsSeparator, facts.value("add_sep", false));
        if (name == "kimi-k2") {
            continue;  // the list holds only the first part of its pattern
        }
        const std::vector<std::string> patterns = facts["regex"];
        EXPECT_EQ(split(text, splitter({known->patterns.begin(), known->patterns.end()})),
                  split(text, splitter(patterns)));
    }
    EXPECT_EQ(findSplitter("no-such"), nullptr);
}

TEST(SplitterTable, SplitsIdeographsFromLettersForKimi) {
    const SplitterFacts* kimi = findSplitter("kimi-k2");
    ASSERT_NE(kimi, nullptr);
    EXPECT_EQ(split("ab你好Cd 1234", splitter({kimi->patterns.begin(), kimi->patterns.end()})),
              (Strings{"ab", "你好", "Cd", " ", "123", "4"}));
}

}  // namespace
}  // namespace quern::engine::text
