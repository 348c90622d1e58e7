// Small models of tests/data/reference, which tests/reference/kept_models.py wrote with the
// reference's answers: the folder, and what is written of it as GGUF, give those.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/verify_command.h"
#include "engine/model_file.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern {
namespace {

std::filesystem::path keptFolder() {
    return test::dataDir() / "reference";
}

std::vector<std::string> keptModels() {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(keptFolder())) {
        names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
}

/// What GGUF cannot say, or we cannot write into it yet, and what the refusal speaks of.
struct Refusal {
    std::string_view model;
    std::string_view why;
};
constexpr std::array<Refusal, 9> kNotAsGguf{{
    {"deepseek-v3-eps", "its attention would be another"},
    {"gemma2-exact-gelu", "its feed-forward block would be another"},
    {"gpt2-scaled-by-layer", "its attention would be another"},
    {"llama-dynamic", "scaled dynamically"},
    {"mamba2-gelu", "the state it keeps would be another"},
    {"qwen3-next-gelu", "the state it keeps would be another"},
    {"qwen3_5", "cannot be written as GGUF yet"},
    {"qwen3_5-moe", "cannot be written as GGUF yet"},
    {"smollm3-windows", "its attention would be another"},
}};

void expectExact(const std::filesystem::path& model, const std::filesystem::path& expected,
                 bool hasLogits) {
    cli::VerifyOptions options;
    options.model = model;
    options.expected = expected;
    options.batch = 3;
    options.threads = 1;
    if (hasLogits) {
        options.chunk = 7;
        options.prefix = true;
    }
    const auto report = cli::verifyModel(options, &engine::Scorer::create);
    ASSERT_TRUE(report.has_value()) << report.error().message;
    for (const cli::VerifiedRun& run : report->runs) {
        for (const cli::VerifiedCase& c : run.cases) {
            EXPECT_TRUE(c.isWithinBar)
                << run.vectors << " case " << c.name << " (" << c.ids << " ids): " << c.difference
                << "; largest error " << c.largestError << ", bar " << c.errorBar;
        }
        for (const cli::VerifiedRun::Equality& equality : run.equalities) {
            EXPECT_TRUE(equality.difference.empty())
                << equality.what << ": " << equality.difference;
        }
    }
    EXPECT_TRUE(report->isWithinBar);
}

class KeptModels : public ::testing::TestWithParam<std::string> {
protected:
    [[nodiscard]] static std::filesystem::path folder() { return keptFolder() / GetParam(); }
    [[nodiscard]] static bool hasLogits() {
        return test::readJson(folder() / "expected.json")["cases"][0].contains("last_logits");
    }
};

TEST_P(KeptModels, GiveTheReferencesAnswers) {
    expectExact(folder(), folder() / "expected.json", hasLogits());
}

TEST_P(KeptModels, GiveThemAsGgufOrAreRefused) {
    const test::TempFolder temp;
    const std::filesystem::path target = temp.path() / "model.gguf";
    const auto imported =
        engine::importModel({.source = folder(), .target = target, .quantization = "F32"});
    const auto refused = std::ranges::find(kNotAsGguf, GetParam(), &Refusal::model);
    if (refused != kNotAsGguf.end()) {
        ASSERT_FALSE(imported.has_value()) << "it can be written now: take it off the list";
        EXPECT_EQ(imported.error().code, ErrorCode::kUnsupported);
        EXPECT_NE(imported.error().message.find(refused->why), std::string::npos)
            << imported.error().message;
        return;
    }
    ASSERT_TRUE(imported.has_value()) << imported.error().message;
    expectExact(target, folder() / "expected.json", hasLogits());
}

std::string keptName(const ::testing::TestParamInfo<std::string>& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(All, KeptModels, ::testing::ValuesIn(keptModels()), keptName);

}  // namespace
}  // namespace quern
