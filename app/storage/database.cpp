#include "app/storage/database.h"

#include <sqlite3.h>

#include <string>

namespace quern::app {

namespace {

constexpr int kBusyTimeoutMs = 5000;

tl::unexpected<Error> asError(const SQLite::Exception& exception) {
    const int code = exception.getErrorCode();
    switch (code) {
        case SQLITE_FULL:
            return fail(ErrorCode::kIo, "the disk is full: nothing was saved", exception.what());
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return fail(ErrorCode::kBusy, "the conversations are locked by another program",
                        exception.what());
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return fail(ErrorCode::kCorrupt, "the conversations file is damaged", exception.what());
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_IOERR:
        case SQLITE_PERM:
            return fail(ErrorCode::kIo, "the conversations file cannot be read or written",
                        exception.what());
        case SQLITE_CONSTRAINT:
            return fail(ErrorCode::kNotFound, "the conversation is no longer there",
                        exception.what());
        default:
            return fail(ErrorCode::kInternal, "the database refused a statement", exception.what());
    }
}

void migrate(SQLite::Database& database, std::span<const Migration> schema) {
    for (const Migration& step : schema) {
        // Two programs may start at once: the version is read inside the write lock.
        SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
        if (database.execAndGet("PRAGMA user_version").getInt() < step.version) {
            database.exec(std::string(step.sql));
            database.exec("PRAGMA user_version = " + std::to_string(step.version));
        }
        transaction.commit();
    }
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file,
                                                 std::span<const Migration> schema) {
    try {
        auto handle = std::make_unique<SQLite::Database>(
            file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeoutMs);
        const int newest = schema.empty() ? 0 : schema.back().version;
        const int found = handle->execAndGet("PRAGMA user_version").getInt();
        if (found > newest) {
            return fail(ErrorCode::kUnsupported,
                        file.string() + " was written by a newer Quern (schema " +
                            std::to_string(found) + ", this one knows " + std::to_string(newest) +
                            "); it was left as it is");
        }
        handle->exec("PRAGMA journal_mode = WAL");
        // NORMAL survives a killed process; only a power cut may lose the last transaction.
        handle->exec("PRAGMA synchronous = NORMAL");
        handle->exec("PRAGMA foreign_keys = ON");
        migrate(*handle, schema);
        return std::unique_ptr<Database>(new Database(std::move(handle)));
    } catch (const SQLite::Exception& exception) {
        auto error = asError(exception);
        error.value().message += ": " + file.string();
        return error;
    }
}

Status Database::transact(const std::function<void(SQLite::Database&)>& work) {
    try {
        SQLite::Transaction transaction(*m_handle, SQLite::TransactionBehavior::IMMEDIATE);
        work(*m_handle);
        transaction.commit();
        return {};
    } catch (const SQLite::Exception& exception) {
        return asError(exception);
    }
}

Status Database::read(const std::function<void(SQLite::Database&)>& work) {
    try {
        work(*m_handle);
        return {};
    } catch (const SQLite::Exception& exception) {
        return asError(exception);
    }
}

}  // namespace quern::app
