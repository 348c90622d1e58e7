// Golden models: one test a folder and format, which fails on the first difference and prints it.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

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
    const auto report = cli::verifyModel(options, &test::makePlainScorer);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const cli::VerifiedRun& run : report->runs) {
        for (const cli::VerifiedCase& c : run.cases) {
            EXPECT_TRUE(c.isWithinBar)
                << "case " << c.name << " (" << c.ids << " ids): " << c.difference
                << "; largest error " << c.largestError << ", bar " << c.errorBar;
        }
        for (const cli::VerifiedRun::Equality& equality : run.equalities) {
            EXPECT_TRUE(equality.difference.empty())
                << equality.what << ": " << equality.difference;
        }
    }
    EXPECT_TRUE(report->isWithinBar);
}

std::vector<GoldenModel> goldenModels() {
    std::vector<GoldenModel> models;
    for (const char* folder :
         {"llama",  "llama3-rope", "llama-yarn", "mistral-swa", "qwen2",    "qwen3",
          "gemma",  "gemma2",      "gemma3",     "phi",         "phi3",     "granite",
          "cohere", "cohere2",     "olmo2",      "smollm3",     "stablelm", "starcoder2",
          "glm4",   "nemotron",    "exaone4",    "ernie4_5",    "falcon",   "gpt2"}) {
        models.push_back({folder, ""});
    }
    for (const char* folder :
         {"llama",      "llama3-rope", "llama-yarn", "qwen2",    "qwen3",  "gemma",   "gemma2",
          "phi3",       "granite",     "cohere",     "cohere2",  "olmo2",  "smollm3", "stablelm",
          "starcoder2", "glm4",        "nemotron",   "ernie4_5", "falcon", "gpt2"}) {
        models.push_back({folder, "model.gguf"});
    }
    return models;
}

INSTANTIATE_TEST_SUITE_P(All, GoldenModels, ::testing::ValuesIn(goldenModels()), testName);

}  // namespace
}  // namespace quern
