#include "app/storage/data_folders.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

namespace fs = std::filesystem;

TEST(DataFolders, AllUnderTheGivenFolder) {
    const test::TempFolder temp;
    const auto folders = openDataFolders(temp.path() / "deep" / "er");
    ASSERT_TRUE(folders) << folders.error().message;
    EXPECT_EQ(folders->settingsFile, temp.path() / "deep" / "er" / "settings.json");
    EXPECT_TRUE(fs::is_directory(folders->models()));
    EXPECT_FALSE(folders->trouble);
}

TEST(DataFolders, AreClosedToOthers) {
    const test::TempFolder temp;
    ASSERT_TRUE(openDataFolders(temp.path() / "new"));
    EXPECT_EQ(fs::status(temp.path() / "new").permissions(), fs::perms::owner_all);
    // One that was there is the user's own business.
    fs::create_directory(temp.path() / "old");
    fs::permissions(temp.path() / "old", fs::perms::owner_all | fs::perms::others_read);
    ASSERT_TRUE(openDataFolders(temp.path() / "old"));
    EXPECT_NE(fs::status(temp.path() / "old").permissions(), fs::perms::owner_all);
}

TEST(DataFolders, AnEmptyNameIsNone) {
    const auto folders = openDataFolders(fs::path());
    ASSERT_FALSE(folders);
    EXPECT_EQ(folders.error().code, ErrorCode::kInvalidArgument);
}

TEST(DataFolders, FollowXdg) {
    const test::TempFolder temp;
    ::setenv("XDG_DATA_HOME", (temp.path() / "d").c_str(), 1);
    ::setenv("XDG_CONFIG_HOME", (temp.path() / "c").c_str(), 1);
    const auto folders = openDataFolders(std::nullopt);
    ASSERT_TRUE(folders) << folders.error().message;
    EXPECT_EQ(folders->data, temp.path() / "d" / "quern");
    EXPECT_EQ(folders->settingsFile, temp.path() / "c" / "quern" / "settings.json");
}

TEST(DataFolders, AFileInTheWayIsNamed) {
    const test::TempFolder temp;
    std::ofstream(temp.path() / "taken") << "x";
    const auto folders = openDataFolders(temp.path() / "taken");
    ASSERT_TRUE(folders) << "who keeps nothing needs no folder";
    ASSERT_TRUE(folders->trouble);
    EXPECT_EQ(folders->trouble->code, ErrorCode::kIo);
    EXPECT_NE(folders->trouble->message.find("taken"), std::string::npos);
}

}  // namespace
}  // namespace quern::app
