#include "engine/exec/sampler.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "engine/exec/philox.h"
#include "tests/engine/exec/allocation_count.h"
#include "tests/engine/exec/sampler_oracle.h"

namespace quern::engine {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<float> randomLogits(std::size_t vocab, unsigned seed, float spread = 3.0F) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal(0.0F, spread);
    std::vector<float> logits(vocab);
    for (float& logit : logits) {
        logit = normal(generator);
    }
    return logits;
}

TokenId sampleOnce(std::vector<float> logits, const SamplingParams& params,
                   const SamplerContext& context = {}) {
    Sampler sampler;
    return sampler.sample(logits, params, context, -1).token;
}

TEST(Philox, GivesThePublishedVectors) {
    // kat_vectors of the Random123 distribution.
    using Words = std::array<std::uint32_t, 4>;
    EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
              (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
    EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
              (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
    EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

/// Chi-square of draws against the oracle's distribution; bins that expect under 5 are pooled.
void expectDistribution(const std::vector<float>& logits, const SamplingParams& params,
                        SamplerContext context, const std::string& what) {
    constexpr int kDraws = 20000;
    const std::vector<double> expected = test::oracle(logits, params, context);
    std::vector<int> seen(logits.size(), 0);
    Sampler sampler;
    std::vector<float> row;
    for (int i = 0; i < kDraws; ++i) {
        row = logits;
        context.position = i;
        const TokenId token = sampler.sample(row, params, context, -1).token;
        ASSERT_GE(token, 0);
        ASSERT_LT(static_cast<std::size_t>(token), logits.size());
        ASSERT_GT(expected[static_cast<std::size_t>(token)], 0) << what << ": token " << token;
        ++seen[static_cast<std::size_t>(token)];
    }
    double chiSquare = 0;
    double pooledExpected = 0;
    double pooledSeen = 0;
    int bins = 0;
    const auto addBin = [&](double count, double wanted) {
        chiSquare += (count - wanted) * (count - wanted) / wanted;
        ++bins;
    };
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const double wanted = expected[i] * kDraws;
        if (wanted >= 5) {
            addBin(seen[i], wanted);
        } else {
            pooledExpected += wanted;
            pooledSeen += seen[i];
        }
    }
    if (pooledExpected >= 1) {
        addBin(pooledSeen, pooledExpected);
    }
    // Mean k, variance 2k: five sigmas.
    const double degrees = bins - 1;
    EXPECT_LT(chiSquare, degrees + 5 * std::sqrt(2 * degrees) + 5) << what << ", bins " << bins;
}

TEST(Sampler, DrawsFromTheOraclesDistribution) {
    const std::vector<TokenId> prompt = {1, 2, 3, 3, 9};
    const std::vector<TokenId> output = {4, 4, 4, 5, 9};
    const std::vector<TokenId> banned = {0, 7};
    const SamplerContext plain{.seed = 42};
    const SamplerContext full{
        .prompt = prompt, .output = output, .seed = 7, .choice = 3, .banned = banned};
    struct Case {
        std::string what;
        SamplingParams params;
    };
    const std::vector<Case> cases = {
        {"plain", {}},
        {"hot", {.temperature = 2.5F}},
        {"cold", {.temperature = 0.3F}},
        {"top-k", {.topK = 5}},
        {"top-k beyond the vocabulary", {.topK = 1000}},
        {"top-p", {.topP = 0.8F}},
        {"tiny top-p", {.topP = 1e-6F}},
        {"min-p", {.minP = 0.1F}},
        {"typical", {.typicalP = 0.5F}},
        {"penalties",
         {.repetitionPenalty = 1.5F, .frequencyPenalty = 0.4F, .presencePenalty = 0.7F}},
        {"penalty on the last three", {.repetitionPenalty = 2.0F, .repeatLastN = 3}},
        {"penalty on none", {.repetitionPenalty = 2.0F, .repeatLastN = 0}},
        {"negative penalties", {.frequencyPenalty = -0.5F, .presencePenalty = -0.5F}},
        {"bias", {.logitBias = {{3, 4.0F}, {6, -100.0F}}}},
        {"allowed", {.allowedTokenIds = {12, 3, 7, 3}}},
        {"all",
         {.temperature = 1.7F,
          .topK = 30,
          .topP = 0.9F,
          .minP = 0.02F,
          .typicalP = 0.95F,
          .repetitionPenalty = 1.2F,
          .frequencyPenalty = 0.2F,
          .presencePenalty = 0.1F,
          .logitBias = {{20, 2.0F}}}},
    };
    for (const Case& c : cases) {
        expectDistribution(randomLogits(50, 11), c.params, plain, c.what);
        expectDistribution(randomLogits(50, 12), c.params, full, c.what + ", with history");
        expectDistribution(randomLogits(600, 13, 1.0F), c.params, plain, c.what + ", wide");
    }
}

TEST(Sampler, SupportEqualsTheOraclesOnManyRows) {
    for (unsigned seed = 0; seed < 200; ++seed) {
        const std::vector<float> logits = randomLogits(700, seed, 2.0F);
        std::mt19937 generator(seed);
        const auto share = [&] {
            return std::uniform_real_distribution<float>(0.05F, 1)(generator);
        };
        const SamplingParams params{.temperature = 0.2F + 2 * share(),
                                    .topK = static_cast<std::int32_t>(generator() % 400),
                                    .topP = share(),
                                    .minP = 0.1F * share(),
                                    .typicalP = share()};
        const std::vector<double> expected = test::oracle(logits, params, {});
        Sampler sampler;
        for (std::int32_t position = 0; position < 200; ++position) {
            std::vector<float> row = logits;
            const SamplerContext context{.seed = seed, .position = position};
            const auto token = sampler.sample(row, params, context, -1).token;
            ASSERT_GT(expected[static_cast<std::size_t>(token)], 0)
                << "seed " << seed << ", position " << position;
        }
    }
}

TEST(Sampler, TemperatureZeroAndTopKOneAreGreedy) {
    for (unsigned seed = 0; seed < 50; ++seed) {
        const std::vector<float> logits = randomLogits(300, seed);
        const auto best =
            static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
        const SamplerContext context{.seed = seed};
        EXPECT_EQ(sampleOnce(logits, {.temperature = 0}, context), best);
        EXPECT_EQ(sampleOnce(logits, {.temperature = 5, .topK = 1}, context), best);
        EXPECT_EQ(sampleOnce(logits, {.temperature = 5, .topP = 0}, context), best);
        EXPECT_EQ(sampleOnce(logits, {.temperature = 5, .minP = 1}, context), best);
        EXPECT_EQ(sampleOnce(logits, {.temperature = 1e-30F}, context), best);
    }
}

TEST(Sampler, TiesGoToTheLowestId) {
    const std::vector<float> logits = {1, 5, 5, 2, 5};
    EXPECT_EQ(sampleOnce(logits, {.temperature = 0}), 1);
    EXPECT_EQ(sampleOnce(logits, {.topK = 1}), 1);
    EXPECT_EQ(sampleOnce(logits, {.topP = 0.01F}), 1);
    EXPECT_EQ(sampleOnce(std::vector<float>(9, 0.5F), {.temperature = 0}), 0);
    for (std::int32_t position = 0; position < 50; ++position) {
        EXPECT_LT(sampleOnce(logits, {.topK = 2}, {.position = position}), 3);
    }
}

TEST(Sampler, PenaltiesActOnGreedyToo) {
    const std::vector<float> logits = {1.0F, 3.0F, 2.9F, -1.0F};
    const std::vector<TokenId> once = {1};
    EXPECT_EQ(sampleOnce(logits, {.temperature = 0, .repetitionPenalty = 1.1F}, {.prompt = once}),
              2);
    EXPECT_EQ(sampleOnce(logits, {.temperature = 0, .presencePenalty = 0.2F}, {.prompt = once}), 1);
    EXPECT_EQ(sampleOnce(logits, {.temperature = 0, .presencePenalty = 0.2F}, {.output = once}), 2);
    EXPECT_EQ(sampleOnce(logits, {.temperature = 0, .logitBias = {{3, 5.0F}}}), 3);
    // Once a token, however often it came: 2.9 / 1.02 stays above 3 / 1.1.
    const std::vector<TokenId> often = {2, 2, 2, 2, 1};
    EXPECT_EQ(sampleOnce({1.0F, 2.0F, 2.9F}, {.temperature = 0, .repetitionPenalty = 1.02F},
                         {.output = often}),
              2);
}

TEST(Sampler, BrokenLogitsGiveADefiniteToken) {
    const std::vector<TokenId> banned = {0, 1};
    for (const float temperature : {0.0F, 1.0F}) {
        const SamplingParams params{.temperature = temperature, .typicalP = 0.9F};
        EXPECT_EQ(sampleOnce({kNan, 1.0F, kNan}, params), 1);
        EXPECT_EQ(sampleOnce({kNan, kNan, kNan}, params), 0);
        EXPECT_EQ(sampleOnce({-kInfinity, -kInfinity}, params), 0);
        EXPECT_EQ(sampleOnce({kNan, kNan, kNan, kNan}, params, {.banned = banned}), 2);
        EXPECT_EQ(sampleOnce({5.0F, 4.0F}, params, {.banned = banned}), 0);
        EXPECT_EQ(sampleOnce({1.0F, kInfinity, 3.0F, kInfinity}, params), 1);
        EXPECT_EQ(sampleOnce({std::numeric_limits<float>::max(), -3e38F}, params), 0);
        EXPECT_EQ(sampleOnce({}, params), 0);
        SamplingParams allowing = params;
        allowing.allowedTokenIds = {3, 2, 99, -5};
        EXPECT_EQ(sampleOnce({9.0F, 9.0F, -kInfinity, 1.0F}, allowing), 3);
        EXPECT_EQ(sampleOnce({9.0F, 9.0F, kNan, kNan}, allowing), 2);
        EXPECT_EQ(sampleOnce({9.0F, 9.0F}, allowing), 0);
    }
    const std::vector<TokenId> strange = {-1, 1000, 2};
    const SamplingParams penal{.repetitionPenalty = 1.3F,
                               .frequencyPenalty = 1.0F,
                               .logitBias = {{-4, 1.0F}, {5000, 1.0F}}};
    EXPECT_LT(sampleOnce({1, 2, 3}, penal, {.prompt = strange, .output = strange}), 3);
}

TEST(Sampler, SameKeysGiveTheSameTokenWhateverRanBefore) {
    const std::vector<float> logits = randomLogits(1000, 5);
    const SamplingParams params{.topK = 200, .topP = 0.95F};
    Sampler used;
    std::vector<float> row;
    std::set<TokenId> differing;
    for (std::int32_t position = 0; position < 100; ++position) {
        const SamplerContext context{.seed = 99, .choice = position % 3, .position = position};
        row = logits;
        const TokenId token = used.sample(row, params, context, 3).token;
        EXPECT_EQ(token, sampleOnce(logits, params, context));
        differing.insert(token);
    }
    EXPECT_GT(differing.size(), 20U);
    // Each part of the key matters.
    int same = 0;
    for (std::int32_t i = 0; i < 100; ++i) {
        const TokenId token = sampleOnce(logits, params, {.seed = 1, .position = i});
        same +=
            token == sampleOnce(logits, params, {.seed = std::uint64_t{1} << 40, .position = i});
        same += token == sampleOnce(logits, params, {.seed = 1, .choice = 1, .position = i});
        same += token == sampleOnce(logits, params, {.seed = 1, .position = i + 1000});
    }
    EXPECT_LT(same, 60);
}

TEST(Sampler, LogprobsAreOfTheUnmodifiedDistribution) {
    const std::vector<float> logits = randomLogits(400, 8);
    double sum = 0;
    for (const float logit : logits) {
        sum += std::exp(static_cast<double>(logit));
    }
    const auto expected = [&](TokenId token) {
        return static_cast<double>(logits[static_cast<std::size_t>(token)]) - std::log(sum);
    };
    const std::vector<TokenId> history = {1, 2, 3};
    const SamplingParams params{
        .temperature = 0.5F, .topK = 10, .repetitionPenalty = 2.0F, .logitBias = {{17, 50.0F}}};
    Sampler sampler;
    std::vector<float> row = logits;
    const SampledToken sampled = sampler.sample(row, params, {.prompt = history}, 20);
    EXPECT_EQ(sampled.token, 17);
    EXPECT_EQ(sampled.logprob.token, 17);
    EXPECT_NEAR(sampled.logprob.logprob, expected(17), 1e-5);
    ASSERT_EQ(sampled.logprob.top.size(), 20U);
    std::vector<TokenId> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](TokenId a, TokenId b) {
        return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
    });
    for (std::size_t i = 0; i < 20; ++i) {
        EXPECT_EQ(sampled.logprob.top[i].token, order[i]);
        EXPECT_NEAR(sampled.logprob.top[i].logprob, expected(order[i]), 1e-5);
    }
    row = logits;
    EXPECT_TRUE(sampler.sample(row, params, {}, 0).logprob.top.empty());
    row = {kNan, -kInfinity};
    const SampledToken broken = sampler.sample(row, params, {}, 5);
    EXPECT_EQ(broken.logprob.logprob, -kInfinity);
    EXPECT_TRUE(broken.logprob.top.empty());
}

TEST(Sampler, TopTokensPrefersLowIdsAmongEquals) {
    std::vector<TokenLogit> top;
    topTokens(std::vector<float>{1, 2, 2, 2, kNan, 0}, 2, top);
    ASSERT_EQ(top.size(), 2U);
    EXPECT_EQ(top[0].token, 1);
    EXPECT_EQ(top[1].token, 2);
}

TEST(Sampler, AllocatesNothingOnceWarm) {
    const std::vector<float> logits = randomLogits(5000, 3);
    const std::vector<TokenId> history = {1, 2, 3, 3, 3, 900};
    const std::vector<SamplingParams> all = {
        {},
        {.temperature = 0},
        {.topK = 40, .topP = 0.9F, .minP = 0.05F},
        {.topK = 2000, .typicalP = 0.9F},
        {.topP = 0.99F, .repetitionPenalty = 1.1F, .frequencyPenalty = 0.5F},
        {.logitBias = {{5, 1.0F}}, .allowedTokenIds = {5, 6, 7}},
    };
    Sampler sampler;
    std::vector<float> row(logits.size());
    for (int pass = 0; pass < 2; ++pass) {
        const long before = test::allocationCount();
        for (const SamplingParams& params : all) {
            std::copy(logits.begin(), logits.end(), row.begin());
            (void)sampler.sample(row, params, {.prompt = history, .output = history}, -1);
        }
        if (pass == 1) {
            EXPECT_EQ(test::allocationCount() - before, 0);
        }
    }
}

}  // namespace
}  // namespace quern::engine
