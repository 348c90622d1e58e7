// The engine with real weights: a request gives the same tokens and the same log-probabilities, bit
// for bit, whatever runs beside it and whatever happened to it.
#include <gtest/gtest.h>

#include <cstring>
#include <random>

#include "tests/engine/core/core_helpers.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

using namespace test;

struct Told {
    std::vector<TokenId> tokens;
    std::vector<float> logprobs;
    bool operator==(const Told& other) const {
        return tokens == other.tokens && logprobs.size() == other.logprobs.size() &&
               std::memcmp(logprobs.data(), other.logprobs.data(),
                           logprobs.size() * sizeof(float)) == 0;
    }
};

Told toldBy(const EventCollector& sink, std::int32_t choice = 0) {
    Told told;
    for (const TokenEvent& event : sink.events()) {
        if (event.choice != choice) {
            continue;
        }
        told.tokens.insert(told.tokens.end(), event.tokens.begin(), event.tokens.end());
        for (const TokenLogprob& logprob : event.logprobs) {
            told.logprobs.push_back(logprob.logprob);
            for (const TokenLogprob& other : logprob.top) {
                told.logprobs.push_back(other.logprob);
            }
        }
    }
    return told;
}

Request requestOf(std::size_t promptTokens, unsigned seed, std::int64_t vocabulary) {
    std::mt19937 random(seed);
    TokenPrompt prompt(promptTokens);
    for (TokenId& token : prompt) {
        token = static_cast<TokenId>(random() % static_cast<unsigned>(vocabulary));
    }
    Request request;
    request.prompt = std::move(prompt);
    request.sampling.temperature = 0.8F;
    request.sampling.seed = seed;
    request.output.maxTokens = 40;
    request.output.topLogprobs = 5;
    return request;
}

std::unique_ptr<Engine> engineWith(const std::filesystem::path& model, LoadOptions options,
                                   std::int32_t threads) {
    auto engine = makeEngine({.threads = threads});
    if (!engine) {
        ADD_FAILURE() << engine.error().message;
        return nullptr;
    }
    options.path = model;
    options.name = "m";
    if (auto loaded = (*engine)->load(options, {}); !loaded) {
        ADD_FAILURE() << loaded.error().message;
        return nullptr;
    }
    return std::move(*engine);
}

class RealModel : public ::testing::TestWithParam<const char*> {
protected:
    static constexpr std::size_t kPrompts[] = {5, 100, 33, 64, 17, 90};
};

TEST_P(RealModel, GivesEachRequestTheSameAnswerWhateverHappens) {
    QUERN_GOLDEN_OR_SKIP(folder, std::string("models/") + GetParam());
    std::vector<Told> alone;
    std::int64_t vocabulary = 0;
    {
        const auto engine = engineWith(folder, {.prefixCaching = false}, 1);
        ASSERT_TRUE(engine);
        vocabulary = (*engine->find("m"))->info.vocabSize;
        for (unsigned i = 0; i < std::size(kPrompts); ++i) {
            const auto sink = runToEnd(*engine, requestOf(kPrompts[i], i, vocabulary));
            alone.push_back(toldBy(*sink));
            EXPECT_EQ(alone.back().tokens.size(), 40U);
        }
    }
    const std::int64_t oneContext = kvBytesOfContext(
        *inspectModel(folder), {.kvType = kernels::DType::kF16, .stepTokens = 24}, 256);
    const struct {
        const char* name;
        LoadOptions options;
        std::int32_t threads;
        bool mustHit;
        bool mustPreempt;
    } kSettings[] = {
        {"together", {}, 2, true, false},
        {"in small steps", {.maxRunning = 6, .stepTokens = 13}, 2, false, false},
        {"in a cache for one context",
         {.contextTokens = 256, .kvBytes = oneContext, .maxRunning = 6, .stepTokens = 24},
         3,
         false,
         true},
    };
    for (const auto& setting : kSettings) {
        const auto engine = engineWith(folder, setting.options, setting.threads);
        ASSERT_TRUE(engine) << setting.name;
        for (int round = 0; round < 2; ++round) {  // the second finds prefixes
            std::vector<std::shared_ptr<EventCollector>> sinks;
            for (unsigned i = 0; i < std::size(kPrompts); ++i) {
                sinks.push_back(std::make_shared<EventCollector>());
                send(*engine, requestOf(kPrompts[i], i, vocabulary), sinks.back());
            }
            for (std::size_t i = 0; i < sinks.size(); ++i) {
                ASSERT_TRUE(sinks[i]->waitFinished());
                EXPECT_TRUE(toldBy(*sinks[i]) == alone[i])
                    << setting.name << ", round " << round << ", request " << i;
            }
        }
        EXPECT_EQ(heldBlocks(*engine), 0);
        const ModelSnapshot snapshot = engine->snapshot().models[0];
        EXPECT_TRUE(!setting.mustHit || snapshot.counters.prefixCacheHits > 0) << setting.name;
        // With a window the smallest cache has room for one sequence's window: others wait.
        EXPECT_TRUE(!setting.mustPreempt || snapshot.groups.size() > 1 ||
                    snapshot.counters.preemptions > 0)
            << setting.name;
    }
}

TEST_P(RealModel, ChoicesShareAPromptAndEqualThemselves) {
    QUERN_GOLDEN_OR_SKIP(folder, std::string("models/") + GetParam());
    const auto engine = engineWith(folder, {.prefixCaching = false}, 2);
    ASSERT_TRUE(engine);
    Request request = requestOf(45, 9, (*engine->find("m"))->info.vocabSize);
    request.choices = 3;
    const auto sink = runToEnd(*engine, request);
    // The second choice's own tokens as a prompt give the rest of them again.
    const Told second = toldBy(*sink, 1);
    EXPECT_NE(second.tokens, toldBy(*sink, 0).tokens);
    request.choices = 1;
    request.sampling.temperature = 0.0F;
    auto& prompt = std::get<TokenPrompt>(request.prompt);
    prompt.insert(prompt.end(), second.tokens.begin(), second.tokens.end());
    request.output.maxTokens = 1;
    request.output.promptLogprobs = true;
    request.output.promptTopLogprobs = 5;
    const auto scored = runToEnd(*engine, request);
    std::vector<float> logprobs;
    for (const TokenEvent& event : scored->events()) {
        for (std::size_t i = 45; i < event.promptLogprobs.size(); ++i) {
            logprobs.push_back(event.promptLogprobs[i].logprob);
            for (const TokenLogprob& other : event.promptLogprobs[i].top) {
                logprobs.push_back(other.logprob);
            }
        }
    }
    EXPECT_EQ(logprobs, second.logprobs) << "a copied block holds what was copied";
}

INSTANTIATE_TEST_SUITE_P(Models, RealModel, ::testing::Values("llama", "gemma3"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace quern::engine
