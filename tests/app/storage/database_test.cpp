#include "app/storage/database.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "tests/support/golden.h"
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

TEST(Database, APipeIsNotWaitedOn) {
    const test::TempFolder temp;
    const auto file = temp.path() / "q.db";
    ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
    EXPECT_EQ(Database::open(file, kSchema).error().code, ErrorCode::kIo);
    const auto opened = Database::openReadOnly(file);
    ASSERT_FALSE(opened);
    EXPECT_NE(opened.error().message.find("pipe"), std::string::npos);
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

std::string onlyText(Database& database) {
    std::string text;
    EXPECT_TRUE(database.read(
        [&](SQLite::Database& db) { text = db.execAndGet("SELECT x FROM a").getString(); }));
    return text;
}

TEST(Database, ACopyInMemoryChangesNoFile) {
    const test::TempFolder temp;
    const auto file = temp.path() / "q 100%? #1.db";
    {
        auto database = Database::open(file, std::span(kSchema).first(1));
        ASSERT_TRUE(database) << database.error().message;
        ASSERT_TRUE((*database)->transact(
            [](SQLite::Database& db) { db.exec("INSERT INTO a VALUES ('kept')"); }));
    }
    const std::string before = test::readFile(file);
    auto original = Database::openReadOnly(file);
    ASSERT_TRUE(original) << original.error().message;
    auto copy = Database::openInMemory(kSchema, original->get());
    ASSERT_TRUE(copy) << copy.error().message;
    original->reset();
    EXPECT_EQ(userVersion(**copy), 2) << "migrated";
    EXPECT_EQ(onlyText(**copy), "kept");
    ASSERT_TRUE((*copy)->transact([](SQLite::Database& db) { db.exec("UPDATE a SET x = 'new'"); }));
    EXPECT_EQ(onlyText(**copy), "new");
    EXPECT_EQ(test::readFile(file), before);
}

TEST(Database, WhatIsBeingWrittenIsNotCopiedHalf) {
    const test::TempFolder temp;
    auto original = Database::open(temp.path() / "q.db", kSchema);
    ASSERT_TRUE(original);
    ASSERT_TRUE((*original)->transact([&](SQLite::Database& db) {
        db.exec("INSERT INTO a VALUES ('half')");
        const auto copy = Database::openInMemory(kSchema, original->get());
        ASSERT_FALSE(copy);
        EXPECT_EQ(copy.error().code, ErrorCode::kBusy);
    }));
}

TEST(Database, TellsWhatOthersChanged) {
    const test::TempFolder temp;
    auto one = Database::open(temp.path() / "q.db", kSchema).value();
    auto other = Database::open(temp.path() / "q.db", kSchema).value();
    const auto insert = [](SQLite::Database& db) { db.exec("INSERT INTO a VALUES ('x')"); };
    const auto before = one->foreignVersion().value();
    ASSERT_TRUE(one->transact(insert));
    EXPECT_EQ(one->foreignVersion().value(), before) << "its own";
    ASSERT_TRUE(other->transact(insert));
    EXPECT_NE(one->foreignVersion().value(), before);
}

TEST(Database, AFaultInsideIsFound) {
    const test::TempFolder temp;
    const auto file = temp.path() / "q.db";
    {
        auto database = Database::open(file, kSchema).value();
        ASSERT_TRUE(database->check());
        ASSERT_TRUE(database->transact([](SQLite::Database& db) {
            for (int i = 0; i < 2000; ++i) {
                db.exec("INSERT INTO a VALUES ('some text to fill a page with')");
            }
        }));
    }
    std::string bytes = test::readFile(file);
    std::fill(bytes.begin() + 4096 * 5, bytes.begin() + 4096 * 6, '\x7f');
    std::ofstream(file, std::ios::binary) << bytes;
    const Status checked = Database::openReadOnly(file).value()->check();
    ASSERT_FALSE(checked);
    EXPECT_EQ(checked.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(checked.error().message.find("q.db"), std::string::npos);
    EXPECT_EQ(checked.error().cause.find('\n'), std::string::npos) << checked.error().cause;
    EXPECT_NE(checked.error().cause.find("age 6"), std::string::npos) << checked.error().cause;
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
