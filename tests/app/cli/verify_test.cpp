#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "app/cli/golden_cases.h"
#include "app/cli/verify_command.h"
#include "app/cli/verify_report.h"
#include "tests/support/temp_folder.h"

namespace quern::cli {
namespace {

using Json = nlohmann::ordered_json;
using kernels::ActivationType;
using kernels::DType;

constexpr std::int64_t kVocab = 6;

/// Logits that depend on position and token; `noise` is added to the token `id` at every position.
float truth(std::size_t position, std::size_t token) {
    return static_cast<float>((position * 3 + token * 5) % 7);
}

struct FakeModel {
    bool isQuantized = false;
    float noise = 0;           // with float32 activations
    float quantizedNoise = 0;  // with quantized ones
    float chunkNoise = 0;      // whenever a chunk is asked for
    std::vector<engine::ScoreOptions> made;
};

class FakeScorer final : public engine::Scorer {
public:
    FakeScorer(const FakeModel& model, engine::ScoreOptions options)
        : m_model(model), m_options(options) {}
    std::int64_t vocabSize() const override { return kVocab; }
    bool isQuantized() const override { return m_model.isQuantized; }
    Result<std::vector<float>> logits(std::span<const engine::TokenId> ids) override {
        std::vector<float> all;
        for (std::size_t position = 0; position < ids.size(); ++position) {
            for (std::size_t token = 0; token < kVocab; ++token) {
                all.push_back(truth(position, token));
            }
            float& noisy = all[all.size() - kVocab];
            noisy += m_options.activations == ActivationType::kQ8 ? m_model.quantizedNoise
                                                                  : m_model.noise;
            noisy += m_options.chunk > 0 ? m_model.chunkNoise : 0.0F;
        }
        return all;
    }

private:
    const FakeModel& m_model;
    engine::ScoreOptions m_options;
};

ScorerFactory factoryOf(FakeModel& model) {
    return
        [&model](const std::filesystem::path&,
                 const engine::ScoreOptions& options) -> Result<std::unique_ptr<engine::Scorer>> {
            model.made.push_back(options);
            return std::make_unique<FakeScorer>(model, options);
        };
}

std::size_t bestAt(std::size_t position) {
    std::size_t best = 0;
    for (std::size_t token = 1; token < kVocab; ++token) {
        best = truth(position, token) > truth(position, best) ? token : best;
    }
    return best;
}

Json logitsFile() {
    Json lastLogits = Json::array();
    for (std::size_t token = 0; token < kVocab; ++token) {
        lastLogits.push_back(truth(2, token));
    }
    return {{"cases",
             {{{"ids", {1, 2, 3}},
               {"last_logits", lastLogits},
               {"greedy", {bestAt(2), bestAt(3)}},
               {"gap", {1.0, 1.0}}}}}};
}

Json logprobsFile() {
    const std::vector<int> ids = {0, 0, 0, 4};
    Json next = Json::array();
    Json top = Json::array();
    for (std::size_t position = 0; position < ids.size(); ++position) {
        double sum = 0;
        for (std::size_t token = 0; token < kVocab; ++token) {
            sum += std::exp(static_cast<double>(truth(position, token)));
        }
        if (position + 1 < ids.size()) {
            const auto id = static_cast<std::size_t>(ids[position + 1]);
            next.push_back(static_cast<double>(truth(position, id)) - std::log(sum));
        }
        top.push_back({bestAt(position), 5});
    }
    return {{"cases", {{"prose", {{"ids", ids}, {"next_logprob", next}, {"top_ids", top}}}}},
            {"rival", {{"mean_abs", 0.05}, {"top1", 0.97}}}};
}

class Verify : public ::testing::Test {
protected:
    Result<VerifyReport> verify(const Json& file, VerifyOptions options = {}) {
        options.expected = m_folder.path() / "expected.json";
        std::ofstream(options.expected) << file.dump();
        return verifyModel(options, factoryOf(model));
    }
    std::string errorOf(const Json& file) {
        const auto report = verify(file);
        return report ? "no error" : report.error().message;
    }

    FakeModel model;
    test::TempFolder m_folder;
};

TEST_F(Verify, EqualLogitsPass) {
    const auto report = verify(logitsFile());
    ASSERT_TRUE(report.has_value()) << report.error().message;
    EXPECT_TRUE(report->isWithinBar);
    ASSERT_EQ(report->runs.size(), 1U);
    EXPECT_EQ(report->runs[0].activations, ActivationType::kF32);
    EXPECT_EQ(report->runs[0].kvType, DType::kF32);
    ASSERT_EQ(report->runs[0].cases.size(), 1U);
    EXPECT_EQ(report->runs[0].cases[0].largestError, 0);
    EXPECT_EQ(report->runs[0].cases[0].greedyAgreed, 2U);
    std::ostringstream text;
    printText(*report, text);
    EXPECT_NE(text.str().find("\npass: 1 of 1 cases within the bar\n"), std::string::npos)
        << text.str();
}

TEST_F(Verify, AnErrorBeyondTheBarFails) {
    // The largest logit of the case is 6: the bar is 3e-4.
    model.noise = 2e-4F;
    EXPECT_TRUE(verify(logitsFile())->isWithinBar);
    model.noise = 4e-4F;
    const auto report = verify(logitsFile());
    EXPECT_FALSE(report->isWithinBar);
    EXPECT_NE(report->runs[0].cases[0].difference.find("logit 0 is"), std::string::npos);
    model.noise = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(verify(logitsFile())->isWithinBar);
}

TEST_F(Verify, GreedyCountsOnlyWhereTheGapIsWide) {
    Json file = logitsFile();
    file["cases"][0]["greedy"][1] = (bestAt(3) + 1) % kVocab;
    const auto wrong = verify(file);
    EXPECT_FALSE(wrong->isWithinBar);
    EXPECT_NE(wrong->runs[0].cases[0].difference.find("greedy token 1"), std::string::npos);
    file["cases"][0]["gap"][1] = 1e-3;
    const auto near = verify(file);
    EXPECT_TRUE(near->isWithinBar);
    EXPECT_EQ(near->runs[0].cases[0].greedyTotal, 1U);
}

TEST_F(Verify, QuantizedModelsRunTwiceUnlessTypesAreGiven) {
    model.isQuantized = true;
    const auto both = verify(logprobsFile());
    ASSERT_TRUE(both.has_value()) << both.error().message;
    ASSERT_EQ(both->runs.size(), 2U);
    EXPECT_EQ(both->runs[0].activations, ActivationType::kF32);
    EXPECT_EQ(both->runs[0].kvType, DType::kF32);
    EXPECT_EQ(both->runs[1].activations, ActivationType::kQ8);
    EXPECT_EQ(both->runs[1].kvType, DType::kF16);
    EXPECT_TRUE(both->isWithinBar);

    model.quantizedNoise = 2.0F;
    EXPECT_FALSE(verify(logprobsFile())->isWithinBar);
    const auto f32 = verify(logprobsFile(), {.activations = ActivationType::kF32});
    ASSERT_EQ(f32->runs.size(), 1U);
    EXPECT_EQ(f32->runs[0].kvType, DType::kF16);
    EXPECT_TRUE(f32->isWithinBar);
    const auto kv = verify(logprobsFile(), {.kvType = DType::kF32});
    ASSERT_EQ(kv->runs.size(), 1U);
    EXPECT_EQ(kv->runs[0].activations, ActivationType::kQ8);
    EXPECT_FALSE(kv->isWithinBar);
}

TEST_F(Verify, MeanErrorHasADifferentBarByActivations) {
    model.isQuantized = true;
    // Noise of 0.02 on a token moves log-probabilities by at most that: within 1.2 · 0.05, not
    // 1e-3.
    model.quantizedNoise = 0.02F;
    EXPECT_TRUE(verify(logprobsFile())->isWithinBar);
    model.noise = 0.02F;
    const auto report = verify(logprobsFile());
    EXPECT_FALSE(report->isWithinBar);
    EXPECT_FALSE(report->runs[0].isWithinBar);
    EXPECT_TRUE(report->runs[1].isWithinBar);
    std::ostringstream text;
    printText(*report, text);
    EXPECT_NE(text.str().find("BEYOND THE BAR"), std::string::npos);
    EXPECT_NE(text.str().find("\nFAIL: "), std::string::npos);
}

TEST_F(Verify, EachSwitchDemandsTheSameBits) {
    model.chunkNoise = 1e-6F;
    const auto report =
        verify(logitsFile(), {.chunk = 7, .batch = 3, .threads = 1, .prefix = true});
    ASSERT_TRUE(report.has_value());
    const auto& equalities = report->runs[0].equalities;
    ASSERT_EQ(equalities.size(), 5U);
    EXPECT_EQ(equalities[0].what, "--chunk 7");
    EXPECT_NE(equalities[0].difference.find("case 0, position 0, token 0"), std::string::npos)
        << equalities[0].difference;
    EXPECT_EQ(equalities[1].what, "--batch 3");
    EXPECT_TRUE(equalities[1].difference.empty());
    EXPECT_EQ(equalities[2].what, "--threads 1");
    EXPECT_EQ(equalities[3].what, "--prefix");
    EXPECT_FALSE(equalities[4].difference.empty());
    EXPECT_FALSE(report->isWithinBar);
    ASSERT_EQ(model.made.size(), 6U);
    EXPECT_EQ(model.made[0].chunk, 0);
    EXPECT_EQ(model.made[1].chunk, 7);
    EXPECT_EQ(model.made[2].batch, 3);
    EXPECT_EQ(model.made[3].threads, 1);
    EXPECT_TRUE(model.made[4].prefix);
    EXPECT_EQ(model.made[5].chunk, 7);
    EXPECT_TRUE(model.made[5].prefix);
}

TEST_F(Verify, JsonHoldsTheSameVerdict) {
    model.noise = std::numeric_limits<float>::quiet_NaN();
    std::ostringstream text;
    printJson(*verify(logitsFile(), {.chunk = 2}), text);
    const Json json = Json::parse(text.str());
    EXPECT_EQ(json["within_bar"], false);
    EXPECT_EQ(json["runs"][0]["activations"], "f32");
    EXPECT_EQ(json["runs"][0]["cases"][0]["largest_error"], Json());
    EXPECT_EQ(json["runs"][0]["variants"][0]["equal"], true);
}

TEST_F(Verify, BadFilesAreErrorsThatNameTheField) {
    const auto with = [](const char* key, const Json& value) {
        Json file = logitsFile();
        file["cases"][0][key] = value;
        return file;
    };
    const std::string file = (m_folder.path() / "expected.json").string() + ": ";
    EXPECT_EQ(errorOf(Json::array()), file + "no 'cases' in it");
    EXPECT_EQ(errorOf({{"cases", 3}}), file + "no 'cases' in it");
    EXPECT_EQ(errorOf({{"cases", Json::array({1})}}), file + "case 0: not an object");
    EXPECT_EQ(errorOf(with("ids", Json::array())), file + "case 0: no 'ids'");
    EXPECT_EQ(errorOf(with("ids", {1, 2.5})),
              file + "case 0: 'ids' holds something else than numbers");
    EXPECT_EQ(errorOf(with("gap", {1})), file + "case 0: 'gap' has 1 entries where 2 belong");
    EXPECT_EQ(errorOf(with("ids", {1, 2, 99})),
              "case 0: id 99 is not in the model's vocabulary of 6");
    EXPECT_EQ(errorOf(with("ids", {-1})), "case 0: id -1 is not in the model's vocabulary of 6");
    EXPECT_EQ(errorOf(with("last_logits", {1.0, 2.0})),
              "case 0: 2 logits expected of a vocabulary of 6");
    EXPECT_EQ(errorOf({{"cases", {{{"ids", {1}}, {"vector", {0.5}}}}}}),
              file +
                  "case 0: expects none of 'last_logits', 'next_logprob', 'greedy', 'mean_pooled', "
                  "'first_token' and 'embedding'");
    Json noRival = logprobsFile();
    noRival.erase("rival");
    EXPECT_EQ(errorOf(noRival), file + "no 'rival' with 'mean_abs' and 'top1' in it");
    EXPECT_EQ(verifyModel({.expected = "/nowhere/x.json"}, factoryOf(model)).error().code,
              ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace quern::cli
