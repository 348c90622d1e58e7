// What a client gets: text, stops, ends, log-probabilities, choices.
#include <gtest/gtest.h>

#include <cmath>

#include "tests/engine/core/core_helpers.h"

namespace quern::engine {
namespace {

using namespace test;

constexpr TokenId kPiece = FakeTokenizer::kFirstPiece;

TEST(EngineReply, EndsAtTheEndOfGenerationToken) {
    auto engine = makeEngineForTest(sayingModel({'H', 'i', FakeTokenizer::kEndOfTurn}, 2));
    loadFake(*engine, "m");
    const auto sink = runToEnd(*engine, greedy("ab", 10));
    EXPECT_EQ(sink->text(), "Hi");
    EXPECT_EQ(sink->tokens(), (std::vector<TokenId>{'H', 'i'}));
    const FinishInfo finish = sink->finish();
    EXPECT_EQ(finish.reason, FinishReason::kStop);
    EXPECT_EQ(finish.stopToken, FakeTokenizer::kEndOfTurn);
    EXPECT_EQ(finish.stopReason, "");
    EXPECT_EQ(finish.usage.promptTokens, 2);
    EXPECT_EQ(finish.usage.completionTokens, 3);
}

TEST(EngineReply, GoesOnPastItWhenAskedTo) {
    auto engine = makeEngineForTest(sayingModel({'H', FakeTokenizer::kEos}, 2));
    loadFake(*engine, "m");
    Request request = greedy("ab", 5);
    request.output.ignoreEos = true;
    const auto sink = runToEnd(*engine, request);
    EXPECT_EQ(sink->text(), "HHH") << "control tokens are no text";
    EXPECT_EQ(sink->finish().reason, FinishReason::kLength);

    request.output.skipSpecialTokens = false;
    EXPECT_EQ(runToEnd(*engine, request)->text(), "H</s>H</s>H");
}

TEST(EngineReply, ShowsTheMarksOfAChatsReplyAndNoOtherControlToken) {
    FakeEngineModel model = sayingModel({'H', FakeTokenizer::kEndOfTurn, FakeTokenizer::kEos}, 3);
    model.templates.standard =
        ChatTemplate::create("{{ messages[0].content }}{# <|channel|> #}").value();
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    Request request = greedy("", 3);
    request.prompt = ChatPrompt{.messages = {{.role = "user", .textParts = {"ab"}}}};
    request.output.ignoreEos = true;
    EXPECT_EQ(runToEnd(*engine, request)->text(), "H<|end|>");
}

TEST(EngineReply, DoesNotEndBeforeMinTokens) {
    auto engine = makeEngineForTest(sayingModel({FakeTokenizer::kEos, 'b', 'c'}, 2));
    loadFake(*engine, "m");
    Request request = greedy("ab", 20);
    request.output.minTokens = 4;
    request.output.stop = {"c"};
    const auto sink = runToEnd(*engine, request);
    EXPECT_GE(sink->finish().usage.completionTokens, 5);
    EXPECT_EQ(sink->finish().reason, FinishReason::kStop);
    EXPECT_EQ(sink->text().substr(1, 2), "bc") << "a stop string before minTokens is text";
}

TEST(EngineReply, StopsAcrossTokens) {
    const FakeEngineModel model =
        sayingModel({kPiece, kPiece + 1, kPiece + 2, kPiece + 3, 'x'}, 2, {"DEF", "G", "HI", "J"});
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    Request request = greedy("ab", 10);
    request.output.stop = {"DEFGHIJ"};
    auto sink = runToEnd(*engine, request);
    EXPECT_EQ(sink->text(), "");
    EXPECT_EQ(sink->finish().reason, FinishReason::kStop);
    EXPECT_EQ(sink->finish().stopReason, "DEFGHIJ");
    EXPECT_EQ(sink->finish().usage.completionTokens, 4);

    request.output.includeStopText = true;
    EXPECT_EQ(runToEnd(*engine, request)->text(), "DEFGHIJ");

    request.output.stop = {"DEFGHIJK"};
    EXPECT_EQ(runToEnd(*engine, request)->text(), "DEFGHIJxDEFGHIJx") << "held text is released";
}

TEST(EngineReply, StopTokensEndItAndAreNamed) {
    auto engine = makeEngineForTest(sayingModel({'a', 'b', 'c'}, 2));
    loadFake(*engine, "m");
    Request request = greedy("ab", 10);
    request.output.stopTokenIds = {'b'};
    auto sink = runToEnd(*engine, request);
    EXPECT_EQ(sink->text(), "a");
    EXPECT_EQ(sink->finish().stopReason, "b");
    EXPECT_EQ(sink->finish().stopToken, 'b');
    request.output.includeStopText = true;
    sink = runToEnd(*engine, request);
    EXPECT_EQ(sink->text(), "ab");
    EXPECT_EQ(sink->tokens(), (std::vector<TokenId>{'a', 'b'}));
}

// 歪 in two tokens and an emoji in four: no event ends inside a character.
TEST(EngineReply, NeverSendsHalfACharacter) {
    auto engine = makeEngineForTest(
        sayingModel({kPiece, kPiece + 1, 0xf0, 0x9f, 0x98, 0x81}, 2, {"\xe6\xad", "\xaa"}));
    loadFake(*engine, "m");
    Request request = greedy("ab", 6);
    request.output.topLogprobs = 0;
    const auto sink = runToEnd(*engine, request);
    EXPECT_EQ(sink->text(), "歪😁");
    std::string bytes;
    for (const TokenEvent& event : sink->events()) {
        EXPECT_TRUE(event.text == "" || event.text == "歪" || event.text == "😁") << event.text;
        for (const TokenLogprob& logprob : event.logprobs) {
            bytes += logprob.bytes;
        }
    }
    EXPECT_EQ(bytes, "歪😁") << "the bytes of the log-probabilities are complete";

    request.output.maxTokens = 4;
    const auto cut = runToEnd(*engine, request);
    EXPECT_EQ(cut->text(), "歪") << "half a character is withheld";
    EXPECT_EQ(cut->finish().reason, FinishReason::kLength);
}

TEST(EngineReply, FillsTheContextExactly) {
    FakeEngineModel model = sayingModel({'x'}, 8);
    model.contextTokens = 256;
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    auto sink = runToEnd(*engine, greedy("12345678", std::nullopt));
    EXPECT_EQ(sink->tokens().size(), 248U);
    EXPECT_EQ(sink->finish().reason, FinishReason::kContext);
    sink = runToEnd(*engine, greedy("12345678", 248));
    EXPECT_EQ(sink->finish().reason, FinishReason::kLength) << "that was asked for";
}

TEST(EngineReply, LogprobsBelongToTheTextAndAreInOrder) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    Request request = greedy("abc", 5);
    request.output.topLogprobs = 10;
    request.output.ignoreEos = true;
    const auto sink = runToEnd(*engine, request);
    std::size_t count = 0;
    for (const TokenEvent& event : sink->events()) {
        ASSERT_EQ(event.logprobs.size(), event.tokens.size());
        for (std::size_t i = 0; i < event.tokens.size(); ++i) {
            const TokenLogprob& logprob = event.logprobs[i];
            ++count;
            EXPECT_EQ(logprob.token, event.tokens[i]);
            ASSERT_EQ(logprob.top.size(), 10U);
            EXPECT_EQ(logprob.top[0].token, logprob.token) << "greedy takes the first";
            EXPECT_LE(logprob.logprob, 0.0F);
            for (std::size_t t = 1; t < logprob.top.size(); ++t) {
                EXPECT_LE(logprob.top[t].logprob, logprob.top[t - 1].logprob);
            }
        }
    }
    EXPECT_EQ(count, 5U);
}

TEST(EngineReply, PromptLogprobsComeOnceAndTakeNoHits) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m", {.maxRunning = 4, .stepTokens = 20});
    const std::string prompt(50, 'q');
    runToEnd(*engine, greedy(prompt, 1));  // cached now
    Request request = greedy(prompt, 3);
    request.output.promptLogprobs = true;
    request.output.promptTopLogprobs = 2;
    const auto sink = runToEnd(*engine, request);
    std::vector<TokenLogprob> logprobs;
    for (const TokenEvent& event : sink->events()) {
        EXPECT_TRUE(event.promptLogprobs.empty() || logprobs.empty()) << "once";
        logprobs.insert(logprobs.end(), event.promptLogprobs.begin(), event.promptLogprobs.end());
    }
    ASSERT_EQ(logprobs.size(), 50U);
    EXPECT_EQ(logprobs[0].token, 'q');
    EXPECT_TRUE(logprobs[0].top.empty()) << "nothing comes before the first token";
    EXPECT_EQ(logprobs[7].token, 'q');
    EXPECT_EQ(logprobs[7].top.size(), 2U);
    EXPECT_EQ(sink->finish().usage.cachedTokens, 0);
}

TEST(EngineReply, ChoicesShareThePromptAndDiffer) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    Request request = greedy(std::string(40, 'p'), 12);
    request.sampling.temperature = 1.0F;
    request.sampling.seed = 7;
    request.choices = 4;
    request.output.ignoreEos = true;
    const auto sink = runToEnd(*engine, request);
    EXPECT_EQ(sink->finishes(), 4);
    EXPECT_NE(sink->tokens(0), sink->tokens(1));
    const ModelCounters counters = engine->snapshot().models[0].counters;
    EXPECT_EQ(counters.promptTokens, 40U) << "computed once";
    // Each choice is a function of (seed, choice): the first is what it is alone.
    request.choices = 1;
    EXPECT_EQ(runToEnd(*engine, request)->tokens(0), sink->tokens(0));
    request.choices = 4;
    const auto again = runToEnd(*engine, request);
    for (std::int32_t c = 0; c < 4; ++c) {
        EXPECT_EQ(again->tokens(c), sink->tokens(c)) << c;
        EXPECT_EQ(sink->tokens(c).size(), 12U);
    }
    EXPECT_EQ(heldBlocks(*engine), 0);
}

TEST(EngineReply, PaddingRowsOfTheVocabularyAreNeverDrawn) {
    FakeEngineModel model;
    model.model.vocab = 5000;  // the tokenizer knows 259 of them
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    Request request = greedy("abc", 200);
    request.sampling.temperature = 1.0F;
    request.sampling.seed = 1;
    request.output.ignoreEos = true;
    for (const TokenId token : runToEnd(*engine, request)->tokens()) {
        ASSERT_LT(token, 259);
    }
}

TEST(EngineReply, WithoutATokenizerIdsGoInAndOut) {
    FakeEngineModel model;
    model.tokenizer = nullptr;
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "m");
    Request request = greedy("", 5);
    request.prompt = TokenPrompt{1, 2, 299};
    const auto sink = runToEnd(*engine, request);
    EXPECT_EQ(sink->tokens().size(), 5U);
    EXPECT_EQ(sink->text(), "");
    EXPECT_EQ(engine->prepare(greedy("text", 5)).error().code, ErrorCode::kUnsupported);
}

TEST(EngineReply, CachedTokensTellTheTruth) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    const std::string prompt(100, 'c');
    const auto cold = runToEnd(*engine, greedy(prompt, 20));
    const auto warm = runToEnd(*engine, greedy(prompt, 20));
    EXPECT_EQ(cold->finish().usage.cachedTokens, 0);
    EXPECT_EQ(warm->finish().usage.cachedTokens, 96);
    EXPECT_EQ(warm->events()[0].cachedTokens, 96) << "told when it is first scheduled";
    EXPECT_EQ(cold->tokens(), warm->tokens());
    std::string other = prompt;
    other[70] = 'd';
    EXPECT_EQ(runToEnd(*engine, greedy(other, 5))->finish().usage.cachedTokens, 64);
    Request salted = greedy(prompt, 5);
    salted.cacheSalt = "another user";
    EXPECT_EQ(runToEnd(*engine, salted)->finish().usage.cachedTokens, 0);

    const ModelCounters counters = engine->snapshot().models[0].counters;
    EXPECT_EQ(counters.prefixCacheQueries, 400U);
    EXPECT_EQ(counters.prefixCacheHits, 160U);
    ASSERT_TRUE(engine->resetPrefixCache("m"));
    EXPECT_EQ(runToEnd(*engine, greedy(prompt, 5))->finish().usage.cachedTokens, 0);
}

// Ten turns of a chat: each finds what the one before left, so input grows by the turn alone.
TEST(EngineReply, AConversationIsComputedOnce) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    std::string chat = "system: be brief\n";
    std::int32_t before = 0;
    for (int turn = 0; turn < 10; ++turn) {
        chat += "user: and then what happened, please?\n";
        Request request = greedy(chat, 16);
        request.output.ignoreEos = true;
        const auto sink = runToEnd(*engine, request);
        const Usage usage = sink->finish().usage;
        EXPECT_GE(usage.cachedTokens, before - 16) << "turn " << turn;
        before = usage.promptTokens;
        chat += "assistant: ok\n";
    }
}

TEST(EngineReply, UsageTimesAddUp) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    const auto sink = runToEnd(*engine, greedy("abc", 30));
    const Usage usage = sink->finish().usage;
    EXPECT_GE(usage.queueSeconds, 0.0);
    EXPECT_GT(usage.prefillSeconds, 0.0);
    EXPECT_GT(usage.decodeSeconds, 0.0);
    EXPECT_NEAR(usage.ttftSeconds, usage.queueSeconds + usage.prefillSeconds, 1e-9);
    const ModelCounters counters = engine->snapshot().models[0].counters;
    EXPECT_EQ(counters.ttft.count(), 1U);
    EXPECT_EQ(counters.interToken.count(), static_cast<std::uint64_t>(usage.completionTokens) - 1);
    EXPECT_EQ(counters.e2e.count(), 1U);
    EXPECT_EQ(counters.generationTokens, static_cast<std::uint64_t>(usage.completionTokens));
}

}  // namespace
}  // namespace quern::engine
