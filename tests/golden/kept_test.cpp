// Small models of tests/data/reference, which tests/reference/kept_models.py wrote with the
// reference's answers: the folder, and what is written of it as GGUF, give those.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
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
    if (!imported) {
        EXPECT_EQ(imported.error().code, ErrorCode::kUnsupported) << imported.error().message;
        GTEST_SKIP() << imported.error().message;
    }
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
