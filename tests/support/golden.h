#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace quern::test {

/// Where golden data lies: $QUERN_GOLDEN, or shared/golden beside the checkout. Absent when neither
/// exists.
[[nodiscard]] std::optional<std::filesystem::path> goldenDir();

/// A subfolder of the golden data that may be copied into the repository: golden data, else
/// tests/data/golden/NAME. Absent when neither has it.
[[nodiscard]] std::optional<std::filesystem::path> goldenOrCopied(const std::string& subfolder);

/// Where real models lie: $QUERN_MODELS, or the models folder that `quern models pull` fills.
[[nodiscard]] std::filesystem::path modelsDir();

/// tests/data of this checkout.
[[nodiscard]] std::filesystem::path dataDir();

/// True under CI, where missing golden data is a failure and not a skip.
[[nodiscard]] bool isContinuousIntegration();

[[nodiscard]] std::string readFile(const std::filesystem::path& path);
[[nodiscard]] nlohmann::ordered_json readJson(const std::filesystem::path& path);

}  // namespace quern::test

/// Sets `variable` to the golden subfolder, or skips the test with a reason (fails under CI=true).
#define QUERN_GOLDEN_OR_SKIP(variable, subfolder)                                    \
    const auto variable##Found = quern::test::goldenOrCopied(subfolder);             \
    if (!variable##Found) {                                                          \
        if (quern::test::isContinuousIntegration()) {                                \
            FAIL() << "golden data '" << (subfolder) << "' is missing under CI";     \
        }                                                                            \
        GTEST_SKIP() << "no golden data '" << (subfolder) << "' (set QUERN_GOLDEN)"; \
    }                                                                                \
    const std::filesystem::path variable = *variable##Found
