#include "engine/core/stop_matcher.h"

#include <gtest/gtest.h>

#include <random>

namespace quern::engine {
namespace {

struct Outcome {
    std::string text;
    std::string stop;
    bool operator==(const Outcome&) const = default;
};

/// Feeds the text in the given pieces and takes what is left at the end.
Outcome feedAll(const std::vector<std::string>& stops, bool includeStopText,
                const std::vector<std::string>& pieces) {
    StopMatcher matcher(stops, includeStopText);
    Outcome outcome;
    for (const std::string& piece : pieces) {
        StopMatcher::Result result = matcher.feed(piece);
        outcome.text += result.text;
        if (result.stop) {
            outcome.stop = *result.stop;
            return outcome;
        }
    }
    outcome.text += matcher.takeHeld();
    return outcome;
}

TEST(StopMatcher, FindsStopsAcrossPieces) {
    const std::vector<std::string> pieces = {"DEF", "G", "HI", "J", "K"};
    EXPECT_EQ(feedAll({"DEFGHIJ"}, false, pieces), (Outcome{"", "DEFGHIJ"}));
    EXPECT_EQ(feedAll({"DEFGHIJ"}, true, pieces), (Outcome{"DEFGHIJ", "DEFGHIJ"}));
    EXPECT_EQ(feedAll({"GH"}, false, pieces), (Outcome{"DEF", "GH"}));
    EXPECT_EQ(feedAll({"x"}, false, pieces), (Outcome{"DEFGHIJK", ""}));
    EXPECT_EQ(feedAll({}, false, pieces), (Outcome{"DEFGHIJK", ""}));
}

TEST(StopMatcher, HoldsOnlyWhatMayBecomeAStop) {
    StopMatcher matcher({"\nUser:"}, false);
    EXPECT_EQ(matcher.feed("Hello").text, "Hello");
    EXPECT_EQ(matcher.feed("\nUs").text, "");
    EXPECT_EQ(matcher.feed("ual").text, "\nUsual");
    EXPECT_EQ(matcher.feed("\n\nUse").text, "\n");
    EXPECT_EQ(matcher.takeHeld(), "\nUse");
}

TEST(StopMatcher, TheStopThatIsCompleteFirstCounts) {
    EXPECT_EQ(feedAll({"cd", "abcde"}, false, {"xabcde"}), (Outcome{"xab", "cd"}));
    EXPECT_EQ(feedAll({"bc", "abc"}, false, {"xabcde"}), (Outcome{"x", "abc"}));
    EXPECT_EQ(feedAll({"aab"}, false, {"aaab"}), (Outcome{"a", "aab"}));
}

TEST(StopMatcher, DoesNotDependOnHowTheTextIsCut) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    const auto word = [&](std::size_t most) {
        std::string text(1 + random() % most, 'a');
        for (char& c : text) {
            c = static_cast<char>('a' + random() % 2);
        }
        return text;
    };
    for (int round = 0; round < 3000; ++round) {
        const std::vector<std::string> stops = {word(5), word(5)};
        const std::string text = word(30);
        std::vector<std::string> pieces;
        for (std::size_t at = 0; at < text.size();) {
            const std::size_t length = 1 + random() % 6;
            pieces.push_back(text.substr(at, length));
            at += length;
        }
        const bool includeStopText = random() % 2 == 0;
        ASSERT_EQ(feedAll(stops, includeStopText, pieces), feedAll(stops, includeStopText, {text}))
            << stops[0] << " " << stops[1] << " in " << text;
    }
}

}  // namespace
}  // namespace quern::engine
