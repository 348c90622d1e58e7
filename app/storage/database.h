#pragma once

#include <SQLiteCpp/SQLiteCpp.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
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
    /// a newer version is kUnsupported and left alone; a damaged one is kCorrupt, and one that
    /// cannot be written kIo.
    [[nodiscard]] static Result<std::unique_ptr<Database>> open(const std::filesystem::path& file,
                                                                std::span<const Migration> schema);

    /// The file as it is, for reading alone, also where its folder cannot be written. kNotFound
    /// without one, kCorrupt as open() has it. missesLog() where only the file can be read.
    [[nodiscard]] static Result<std::unique_ptr<Database>> openReadOnly(
        const std::filesystem::path& file);
    /// A database in memory, with what `copied` holds (null: with nothing). kBusy where that is
    /// being written.
    [[nodiscard]] static Result<std::unique_ptr<Database>> openInMemory(
        std::span<const Migration> schema, Database* copied);

    /// There is a log beside the file that could not be read: what was saved last may be missing.
    [[nodiscard]] bool missesLog() const { return m_missesLog; }
    /// Reads all of it and holds it against its own structure: kCorrupt names the first fault.
    [[nodiscard]] Status check();
    /// A number that changes when another connection, of this process or another, has changed
    /// something. Costs a look at the shared index.
    [[nodiscard]] Result<std::int64_t> foreignVersion();

    /// Runs `work` in a transaction, and turns SQLite's exceptions into errors: a full disk is kIo,
    /// a lock held for over five seconds kBusy. Nothing of a failed transaction stays.
    [[nodiscard]] Status transact(const std::function<void(SQLite::Database&)>& work);
    /// The same for reading, without a transaction.
    [[nodiscard]] Status read(const std::function<void(SQLite::Database&)>& work);

private:
    Database(std::unique_ptr<SQLite::Database> handle, std::string name)
        : m_handle(std::move(handle)), m_name(std::move(name)) {}
    std::unique_ptr<SQLite::Database> m_handle;
    std::string m_name;  // of the file, for errors
    bool m_missesLog = false;
};

}  // namespace quern::app
