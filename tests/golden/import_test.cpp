// Golden folders, written as GGUF and read again: the answers must be the reference's.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "app/cli/verify_command.h"
#include "app/cli/verify_report.h"
#include "engine/model_file.h"
#include "engine/model_info.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern {
namespace {

class ImportedGoldenModels : public ::testing::TestWithParam<std::string> {};

TEST_P(ImportedGoldenModels, GiveTheReferencesAnswers) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/" + GetParam());
    const auto info = engine::inspectModel(folder);
    ASSERT_TRUE(info.has_value()) << info.error().message;
    if (!info->isSupported) {
        GTEST_SKIP() << info->whyNot;
    }
    const test::TempFolder temp;
    const std::filesystem::path target = temp.path() / "model.gguf";
    const auto imported =
        engine::importModel({.source = folder, .target = target, .quantization = "F32"});
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    cli::VerifyOptions options;
    options.model = target;
    options.expected = folder / "expected.json";
    const auto report = cli::verifyModel(options, &engine::Scorer::create);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const cli::VerifiedRun& run : report->runs) {
        for (const cli::VerifiedCase& c : run.cases) {
            EXPECT_TRUE(c.isWithinBar)
                << "case " << c.name << ": " << c.difference << "; largest error " << c.largestError
                << ", bar " << c.errorBar;
        }
    }
    EXPECT_TRUE(report->isWithinBar);
}

std::string importName(const ::testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    for (char& c : name) {
        c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    }
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, ImportedGoldenModels,
                         ::testing::Values("bert", "cohere", "cohere2", "deepseek-v2",
                                           "deepseek-v3", "ernie4_5", "exaone4", "falcon", "gemma",
                                           "gemma2", "gemma3", "glm4", "gpt-neox", "gpt-oss",
                                           "gpt2", "granite", "lfm2", "llama", "llama-yarn",
                                           "llama3-rope", "mamba2", "mistral-swa", "mixtral",
                                           "modernbert", "nemotron", "olmo2", "phi", "phi3",
                                           "qwen2", "qwen2-moe", "qwen3", "qwen3-moe", "qwen3-next",
                                           "smollm3", "stablelm", "starcoder2", "xlm-roberta"),
                         importName);

}  // namespace
}  // namespace quern
