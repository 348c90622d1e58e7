#include "app/storage/file_trouble.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 1> kLog{"-log"};

class SetAsideTest : public testing::Test {
protected:
    void write(const std::string& name, const char* text) {
        std::ofstream(m_temp.path() / name) << text;
    }
    [[nodiscard]] std::string read(const std::string& name) const {
        return test::readFile(m_temp.path() / name);
    }

    test::TempFolder m_temp;
    fs::path m_file = m_temp.path() / "f";
};

TEST_F(SetAsideTest, ALogGoesWithItsFileAndTakesNoOthersPlace) {
    write("f", "one");
    write("f-log", "log of one");
    EXPECT_EQ(setAside(m_file, ".old", kLog), m_temp.path() / "f.old");
    EXPECT_EQ(read("f.old"), "one");
    EXPECT_EQ(read("f.old-log"), "log of one");
    write("f", "two");
    write("f-log", "log of two");
    fs::remove(m_temp.path() / "f.old");
    EXPECT_EQ(setAside(m_file, ".old", kLog), m_temp.path() / "f.old2");
    EXPECT_EQ(read("f.old-log"), "log of one");
    EXPECT_EQ(read("f.old2-log"), "log of two");
}

TEST_F(SetAsideTest, WhatAKilledProgramBeganIsBroughtToItsEnd) {
    write("f", "one");
    write("f.old-log", "log of one");
    EXPECT_EQ(setAside(m_file, ".old", kLog), m_temp.path() / "f.old");
    EXPECT_EQ(read("f.old-log"), "log of one");
}

TEST_F(SetAsideTest, ALogStaysWhereItsFileCannotBeRenamed) {
    write("f-log", "log");  // and no file at all
    const auto kept = setAside(m_file, ".old", kLog);
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().code, ErrorCode::kIo);
    EXPECT_EQ(read("f-log"), "log");
}

}  // namespace
}  // namespace quern::app
