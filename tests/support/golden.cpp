#include "tests/support/golden.h"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace quern::test {

namespace fs = std::filesystem;

std::optional<fs::path> goldenDir() {
    if (const char* fromEnvironment = std::getenv("QUERN_GOLDEN")) {
        const fs::path path = fromEnvironment;
        return fs::is_directory(path) ? std::optional(path) : std::nullopt;
    }
    const fs::path beside = fs::path(QUERN_SOURCE_DIR).parent_path() / "shared" / "golden";
    return fs::is_directory(beside) ? std::optional(beside) : std::nullopt;
}

std::optional<fs::path> goldenOrCopied(const std::string& subfolder) {
    if (const auto golden = goldenDir(); golden && fs::exists(*golden / subfolder)) {
        return *golden / subfolder;
    }
    const fs::path copied = dataDir() / "golden" / subfolder;
    return fs::exists(copied) ? std::optional(copied) : std::nullopt;
}

fs::path modelsDir() {
    if (const char* given = std::getenv("QUERN_MODELS")) {
        return given;
    }
    if (const char* data = std::getenv("XDG_DATA_HOME")) {
        return fs::path(data) / "quern" / "models";
    }
    const char* home = std::getenv("HOME");
    return fs::path(home != nullptr ? home : "/") / ".local" / "share" / "quern" / "models";
}

fs::path dataDir() {
    return fs::path(QUERN_SOURCE_DIR) / "tests" / "data";
}

bool isContinuousIntegration() {
    const char* value = std::getenv("CI");
    return value != nullptr && std::string(value) == "true";
}

std::string readFile(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    if (!in) {
        throw std::runtime_error("cannot read " + path.string());
    }
    std::ostringstream text;
    text << in.rdbuf();
    return std::move(text).str();
}

nlohmann::ordered_json readJson(const fs::path& path) {
    return nlohmann::ordered_json::parse(readFile(path));
}

}  // namespace quern::test
