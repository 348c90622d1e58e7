// Golden models: one test a folder and format, which fails on the first difference and prints it.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/verify_command.h"
#include "app/cli/verify_report.h"
#include "tests/support/golden.h"
#include "tests/support/plain_scorer.h"

namespace quern {
namespace {

struct GoldenModel {
    std::string folder;
    std::string file;  // below the folder; empty: the folder itself is the model
};

std::string testName(const ::testing::TestParamInfo<GoldenModel>& info) {
    std::string name = info.param.folder + (info.param.file.empty() ? "_folder" : "_gguf");
    for (char& c : name) {
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    return name;
}

void expectWithinBars(const cli::VerifiedRun& run) {
    for (const cli::VerifiedCase& c : run.cases) {
        EXPECT_TRUE(c.isWithinBar)
            << run.vectors << " case " << c.name << " (" << c.ids << " ids): " << c.difference
            << "; largest error " << c.largestError << ", bar " << c.errorBar;
    }
    for (const cli::VerifiedRun::Equality& equality : run.equalities) {
        EXPECT_TRUE(equality.difference.empty()) << equality.what << ": " << equality.difference;
    }
}

class GoldenModels : public ::testing::TestWithParam<GoldenModel> {};

TEST_P(GoldenModels, AreExactInEveryTiling) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/" + GetParam().folder);
    cli::VerifyOptions options;
    options.model = GetParam().file.empty() ? folder : folder / GetParam().file;
    if (!std::filesystem::exists(options.model)) {
        GTEST_SKIP() << options.model << " is not among the copied golden data";
    }
    options.expected = folder / "expected.json";
    options.chunk = 7;
    options.batch = 3;
    options.threads = 1;
    options.prefix = true;
    const auto report = cli::verifyModel(options, &engine::Scorer::create);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const cli::VerifiedRun& run : report->runs) {
        expectWithinBars(run);
    }
    EXPECT_TRUE(report->isWithinBar);
}

/// Scheduler, block tables and prefix index change no bit: a runner alone gives the same.
TEST_P(GoldenModels, EngineEqualsABareRunner) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/" + GetParam().folder);
    const auto model = GetParam().file.empty() ? folder : folder / GetParam().file;
    if (!std::filesystem::exists(model)) {
        GTEST_SKIP() << model << " is not among the copied golden data";
    }
    const auto bare = test::makePlainScorer(model, {});
    const auto engine = engine::Scorer::create(model, {.chunk = 16});
    ASSERT_TRUE(bare.has_value()) << bare.error().message;
    ASSERT_TRUE(engine.has_value()) << engine.error().message;
    std::vector<engine::TokenId> ids;
    for (engine::TokenId i = 0; i < 60; ++i) {
        ids.push_back((i * 37 + 5) % 300);
    }
    const auto a = (*bare)->logits(ids);
    const auto b = (*engine)->logits(ids);
    ASSERT_TRUE(a.has_value()) << a.error().message;
    ASSERT_TRUE(b.has_value()) << b.error().message;
    ASSERT_EQ(a->size(), b->size());
    EXPECT_EQ(std::memcmp(a->data(), b->data(), a->size() * sizeof(float)), 0);
}

std::vector<GoldenModel> goldenModels() {
    std::vector<GoldenModel> models;
    for (const char* folder :
         {"lfm2",        "mamba2",     "llama",     "llama3-rope", "llama-yarn",  "mistral-swa",
          "qwen2",       "qwen3",      "gemma",     "gemma2",      "gemma3",      "phi",
          "phi3",        "granite",    "cohere",    "cohere2",     "olmo2",       "smollm3",
          "stablelm",    "starcoder2", "glm4",      "nemotron",    "exaone4",     "ernie4_5",
          "falcon",      "gpt2",       "gpt-neox",  "gpt-oss",     "deepseek-v2", "qwen3-next",
          "deepseek-v3", "mixtral",    "qwen2-moe", "qwen3-moe"}) {
        models.push_back({folder, ""});
    }
    for (const char* folder :
         {"lfm2",    "mamba2",   "llama",      "llama3-rope", "llama-yarn", "qwen2",    "qwen3",
          "gemma",   "gemma2",   "phi3",       "granite",     "cohere",     "cohere2",  "olmo2",
          "smollm3", "stablelm", "starcoder2", "glm4",        "nemotron",   "ernie4_5", "falcon",
          "gpt2",    "mixtral",  "qwen2-moe",  "qwen3-moe",   "deepseek-v2"}) {
        models.push_back({folder, "model.gguf"});
    }
    return models;
}

/// Encoders: the same, of their vectors.
class GoldenEncoders : public ::testing::TestWithParam<GoldenModel> {};

TEST_P(GoldenEncoders, AreExactInEveryTiling) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/" + GetParam().folder);
    cli::VerifyOptions options;
    options.model = GetParam().file.empty() ? folder : folder / GetParam().file;
    if (!std::filesystem::exists(options.model)) {
        GTEST_SKIP() << options.model << " is not among the copied golden data";
    }
    options.expected = folder / "expected.json";
    options.batch = 3;
    options.threads = 1;
    const auto report = cli::verifyModel(options, &engine::Scorer::create);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    ASSERT_EQ(report->runs.size(), 2U);  // mean pooling, first token
    for (const cli::VerifiedRun& run : report->runs) {
        EXPECT_EQ(run.cases.size(), 5U);
        EXPECT_EQ(run.equalities.size(), 3U);
        expectWithinBars(run);
    }
    EXPECT_TRUE(report->isWithinBar);
}

INSTANTIATE_TEST_SUITE_P(All, GoldenEncoders,
                         ::testing::Values(GoldenModel{"bert", ""},
                                           GoldenModel{"bert", "model.gguf"},
                                           GoldenModel{"xlm-roberta", ""},
                                           GoldenModel{"xlm-roberta", "model.gguf"},
                                           GoldenModel{"modernbert", ""}),
                         testName);

INSTANTIATE_TEST_SUITE_P(All, GoldenModels, ::testing::ValuesIn(goldenModels()), testName);

}  // namespace
}  // namespace quern
