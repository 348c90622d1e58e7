#include "app/storage/database.h"

#include <gtest/gtest.h>

#include <array>
#include <fstream>

#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

constexpr std::array<Migration, 2> kSchema{{
    {1, "CREATE TABLE a (x TEXT);"},
    {2, "CREATE TABLE b (y TEXT);"},
}};

int userVersion(Database& database) {
    int version = -1;
    EXPECT_TRUE(database.read(
        [&](SQLite::Database& db) { version = db.execAndGet("PRAGMA user_version").getInt(); }));
    return version;
}

TEST(Database, MigratesStepByStep) {
    const test::TempFolder temp;
    const auto file = temp.path() / "q.db";
    {
        auto old = Database::open(file, std::span(kSchema).first(1));
        ASSERT_TRUE(old) << old.error().message;
        ASSERT_TRUE((*old)->transact(
            [](SQLite::Database& db) { db.exec("INSERT INTO a VALUES ('kept')"); }));
        EXPECT_EQ(userVersion(**old), 1);
    }
    auto now = Database::open(file, kSchema);
    ASSERT_TRUE(now) << now.error().message;
    EXPECT_EQ(userVersion(**now), 2);
    std::string value;
    ASSERT_TRUE((*now)->read(
        [&](SQLite::Database& db) { value = db.execAndGet("SELECT x FROM a").getString(); }));
    EXPECT_EQ(value, "kept");
}

TEST(Database, LeavesANewerFileAlone) {
    const test::TempFolder temp;
    const auto file = temp.path() / "q.db";
    ASSERT_TRUE(Database::open(file, kSchema));
    const auto older = Database::open(file, std::span(kSchema).first(1));
    ASSERT_FALSE(older);
    EXPECT_EQ(older.error().code, ErrorCode::kUnsupported);
}

TEST(Database, SaysThatAFileIsDamaged) {
    const test::TempFolder temp;
    const auto file = temp.path() / "q.db";
    std::ofstream(file) << "this is no database, whatever its name says, and long enough to tell";
    const auto opened = Database::open(file, kSchema);
    ASSERT_FALSE(opened);
    EXPECT_EQ(opened.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(opened.error().message.find("q.db"), std::string::npos);
}

TEST(Database, AFullDiskLosesNothingThatWasSaved) {
    const test::TempFolder temp;
    auto database = Database::open(temp.path() / "q.db", kSchema);
    ASSERT_TRUE(database);
    ASSERT_TRUE((*database)->transact(
        [](SQLite::Database& db) { db.exec("INSERT INTO a VALUES ('kept')"); }));
    // SQLite's own limit gives the very error that a full disk gives.
    ASSERT_TRUE(
        (*database)->read([](SQLite::Database& db) { db.exec("PRAGMA max_page_count = 8"); }));
    const auto full = (*database)->transact([](SQLite::Database& db) {
        SQLite::Statement insert(db, "INSERT INTO a VALUES (?)");
        insert.bind(1, std::string(1 << 20, 'x'));
        insert.exec();
    });
    ASSERT_FALSE(full);
    EXPECT_EQ(full.error().code, ErrorCode::kIo);
    EXPECT_NE(full.error().message.find("full"), std::string::npos);
    int rows = 0;
    ASSERT_TRUE((*database)->read(
        [&](SQLite::Database& db) { rows = db.execAndGet("SELECT count(*) FROM a").getInt(); }));
    EXPECT_EQ(rows, 1);
}

}  // namespace
}  // namespace quern::app
