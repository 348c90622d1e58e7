// Golden adapters, in each form on each form of their model: exact, and bitwise the same in chunks,
// among sequences with other adapters and with none, with one thread and after a prefix hit.
#include <gtest/gtest.h>

#include <sstream>

#include "app/cli/verify_command.h"
#include "tests/support/golden.h"

namespace quern::cli {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> formsOf(const fs::path& adapter) {
    std::vector<fs::path> forms{adapter};
    if (fs::exists(adapter / "adapter.gguf")) {
        forms.push_back(adapter / "adapter.gguf");
    }
    return forms;
}

TEST(VerifyLora, GoldenAdaptersAreExactInAnyCompany) {
    QUERN_GOLDEN_OR_SKIP(golden, "lora");
    QUERN_GOLDEN_OR_SKIP(models, "models");
    int compared = 0;
    for (const auto& entry : fs::directory_iterator(golden)) {
        const fs::path expected = entry.path() / "expected.json";
        const std::string baseName = test::readJson(expected)["base"].get<std::string>();
        for (const fs::path& base : {models / baseName, models / baseName / "model.gguf"}) {
            if (!fs::exists(base)) {
                continue;
            }
            for (const fs::path& adapter : formsOf(entry.path())) {
                SCOPED_TRACE(adapter.string() + " on " + base.string());
                VerifyOptions options{.model = base, .expected = expected, .adapters = {adapter}};
                for (const auto& other : fs::directory_iterator(golden)) {
                    const bool hasThisBase =
                        test::readJson(other.path() / "expected.json")["base"] == baseName;
                    if (hasThisBase && other.path() != entry.path()) {
                        options.adapters.push_back(other.path());
                    }
                }
                options.chunk = 7;
                options.batch = 5;
                options.threads = 1;
                options.prefix = true;
                std::ostringstream out;
                std::ostringstream err;
                EXPECT_EQ(runVerify(options, engine::Scorer::create, out, err), 0)
                    << out.str() << err.str();
                ++compared;
            }
        }
    }
    EXPECT_GE(compared, 8);
}

/// The model without the adapter is another model: that the values are right is the adapter's work.
TEST(VerifyLora, WithoutTheAdapterItFails) {
    QUERN_GOLDEN_OR_SKIP(golden, "lora/llama-r4");
    QUERN_GOLDEN_OR_SKIP(models, "models");
    const VerifyOptions options{.model = models / "llama", .expected = golden / "expected.json"};
    const auto report = verifyModel(options, engine::Scorer::create);
    ASSERT_TRUE(report) << report.error().message;
    EXPECT_FALSE(report->isWithinBar);
}

TEST(VerifyLora, AnAdapterOfAnotherModelIsTold) {
    QUERN_GOLDEN_OR_SKIP(golden, "lora");
    QUERN_GOLDEN_OR_SKIP(models, "models");
    const VerifyOptions options{.model = models / "llama",
                                .expected = golden / "qwen3-r8-rslora" / "expected.json",
                                .adapters = {golden / "qwen3-r8-rslora"}};
    const auto report = verifyModel(options, engine::Scorer::create);
    ASSERT_FALSE(report);
    EXPECT_EQ(report.error().message,
              "the adapter adds to 'model.layers.0.self_attn.k_proj' with A of shape [8, 64] and B "
              "of shape [64, 8]; the model's matrix of [32, 64] takes [8, 64] and [32, 8]; it was "
              "made for 'qwen3'");
}

}  // namespace
}  // namespace quern::cli
