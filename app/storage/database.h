#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "kernels/result.h"

namespace quern::app {

/// One step of a schema: the statements that lead from version − 1 to `version` (user_version).
struct Migration {
    int version = 0;
    std::string_view sql;
};

/// An SQLite file in WAL mode, opened by window and terminal at the same time. Not thread-safe: its
/// owner locks.
class Database {
public:
    /// Opens or makes the file and runs what migrations it lacks, each in a transaction. A file of
    /// a newer version is kUnsupported and left alone; a damaged one is kCorrupt.
    [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file,
                                                                std::span<const Migration> schema);

    /// Runs `work` in a transaction, and turns SQLite's exceptions into errors: a full disk is kIo,
    /// a lock held for over five seconds kBusy. Nothing of a failed transaction stays.
    [[nodiscard]] Status transact(const std::function<void(SQLite::Database&)>& work);
    /// The same for reading, without a transaction.
    [[nodiscard]] Status read(const std::function<void(SQLite::Database&)>& work);

private:
    explicit Database(std::unique_ptr<SQLite::Database> handle) : m_handle(std::move(handle)) {}
    std::unique_ptr<SQLite::Database> m_handle;
};

}  // namespace quern::app
