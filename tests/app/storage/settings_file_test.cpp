#include "app/storage/settings_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

TEST(SettingsFile, KeepsValuesAcrossOpens) {
    const test::TempFolder temp;
    const auto file = temp.path() / "settings.json";
    {
        auto settings = SettingsFile::open(file);
        ASSERT_FALSE(settings->trouble());
        ASSERT_TRUE(settings->set("appearance.theme", std::string("dark")));
        ASSERT_TRUE(settings->set("server.port", std::int64_t{11535}));
        ASSERT_TRUE(settings->set("chat.temperature", 0.7));
        ASSERT_TRUE(settings->set("server.on", true));
        ASSERT_TRUE(settings->remove("server.on"));
    }
    auto settings = SettingsFile::open(file);
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->get<std::string>("appearance.theme", "light"), "dark");
    EXPECT_EQ(settings->get<std::int64_t>("server.port", 0), 11535);
    EXPECT_EQ(settings->get<double>("chat.temperature", 0.0), 0.7);
    EXPECT_FALSE(settings->get<bool>("server.on", false));
    // A value of another type is not this setting.
    EXPECT_EQ(settings->get<bool>("server.port", true), true);
}

TEST(SettingsFile, ReadsNestedObjects) {
    const test::TempFolder temp;
    const auto file = temp.path() / "settings.json";
    std::ofstream(file) << R"({"server": {"port": 1, "list": [1, 2]}})";
    auto settings = SettingsFile::open(file);
    ASSERT_TRUE(settings);
    EXPECT_EQ(settings->get<std::int64_t>("server.port", 0), 1);
}

TEST(SettingsFile, KeepsABrokenFileBeside) {
    const test::TempFolder temp;
    const auto file = temp.path() / "settings.json";
    std::ofstream(file) << "{\"half\": ";
    EXPECT_EQ(SettingsFile::examine(file).error().code, ErrorCode::kCorrupt);
    EXPECT_TRUE(std::filesystem::exists(file)) << "who only looks changes nothing";
    auto settings = SettingsFile::open(file);
    ASSERT_TRUE(settings->trouble());
    EXPECT_EQ(settings->trouble()->outcome, FileTrouble::Outcome::kSetAside);
    EXPECT_EQ(settings->trouble()->kept, temp.path() / "settings.json.broken");
    EXPECT_EQ(test::readFile(temp.path() / "settings.json.broken"), "{\"half\": ");
    ASSERT_TRUE(settings->set("a", true));
    EXPECT_FALSE(SettingsFile::open(file)->trouble()) << "said once";
    // Another one does not take the place of the first.
    std::ofstream(file, std::ios::binary) << "[]";
    EXPECT_EQ(SettingsFile::open(file)->trouble()->kept, temp.path() / "settings.json.broken2");
    EXPECT_EQ(test::readFile(temp.path() / "settings.json.broken"), "{\"half\": ");
}

TEST(SettingsFile, WhatCannotBeReadIsNotWrittenOver) {
    const test::TempFolder temp;
    const auto file = temp.path() / "settings.json";
    std::filesystem::create_directory(file);  // nobody can read it, not even root
    auto settings = SettingsFile::open(file);
    ASSERT_TRUE(settings->trouble());
    EXPECT_EQ(settings->trouble()->outcome, FileTrouble::Outcome::kUnread);
    EXPECT_FALSE(settings->set("a", true));
    EXPECT_TRUE(settings->get<bool>("a", false)) << "the value holds in memory";
    EXPECT_TRUE(std::filesystem::is_directory(file));
}

TEST(SettingsFile, APipeIsNotWaitedOn) {
    const test::TempFolder temp;
    const auto file = temp.path() / "settings.json";
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    auto settings = SettingsFile::open(file);
    ASSERT_TRUE(settings->trouble());
    EXPECT_EQ(settings->trouble()->outcome, FileTrouble::Outcome::kUnread);
}

TEST(SettingsFile, AReadThatFailsIsNoDamage) {
    const test::TempFolder temp;
    const auto file = temp.path() / "settings.json";
    std::filesystem::create_symlink("/proc/self/mem", file);  // opens, and its start reads as EIO
    auto settings = SettingsFile::open(file);
    ASSERT_TRUE(settings->trouble());
    EXPECT_EQ(settings->trouble()->outcome, FileTrouble::Outcome::kUnread);
    EXPECT_EQ(settings->trouble()->error.code, ErrorCode::kIo);
    EXPECT_TRUE(std::filesystem::is_symlink(file));
}

TEST(SettingsFile, LeavesOutWhatIsNestedBeyondReason) {
    const test::TempFolder temp;
    const auto file = temp.path() / "settings.json";
    std::string text = R"({"server": {"port": 1}, "deep": )";
    for (int i = 0; i < 200'000; ++i) {
        text += R"({"a": )";
    }
    std::ofstream(file) << text << "1" << std::string(200'001, '}');
    auto settings = SettingsFile::open(file);
    ASSERT_FALSE(settings->trouble());
    EXPECT_EQ(settings->get<std::int64_t>("server.port", 0), 1);
}

TEST(SettingsFile, AnUnwritableFolderIsAnErrorAndTheOldFileStays) {
    const test::TempFolder temp;
    auto settings = SettingsFile::open(temp.path() / "gone" / "settings.json");
    ASSERT_TRUE(settings->trouble());
    EXPECT_EQ(settings->trouble()->outcome, FileTrouble::Outcome::kReadOnly);
    const auto saved = settings->set("a", true);
    ASSERT_FALSE(saved);
    EXPECT_EQ(saved.error().code, ErrorCode::kIo);
    EXPECT_TRUE(settings->get<bool>("a", false)) << "the value holds in memory";
}

}  // namespace
}  // namespace quern::app
