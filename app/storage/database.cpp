#include "app/storage/database.h"

#include <SQLiteCpp/Backup.h>
#include <sqlite3.h>

#include <string>
#include <system_error>

#include "app/storage/file_trouble.h"

namespace quern::app {

namespace {

constexpr int kBusyTimeoutMs = 5000;

tl::unexpected<Error> asError(const SQLite::Exception& exception, const std::string& file) {
    const int code = exception.getErrorCode();
    switch (code) {
        case SQLITE_FULL:
            return fail(
                ErrorCode::kIo,
                "the disk is full, so nothing was saved in " + file + ": make room and try again",
                exception.what());
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
            return fail(ErrorCode::kBusy, file + " is locked by another program", exception.what());
        case SQLITE_CORRUPT:
        case SQLITE_NOTADB:
            return fail(ErrorCode::kCorrupt, file + " is damaged", exception.what());
        case SQLITE_READONLY:
        case SQLITE_CANTOPEN:
        case SQLITE_IOERR:
        case SQLITE_PERM:
            return fail(ErrorCode::kIo, file + " cannot be read or written", exception.what());
        case SQLITE_CONSTRAINT:
            return fail(ErrorCode::kNotFound, "the conversation is no longer there",
                        exception.what());
        default:
            return fail(ErrorCode::kInternal, "the database refused a statement", exception.what());
    }
}

Status refuseNewer(SQLite::Database& database, std::span<const Migration> schema,
                   const std::string& file) {
    const int newest = schema.empty() ? 0 : schema.back().version;
    const int found = database.execAndGet("PRAGMA user_version").getInt();
    if (found > newest) {
        return fail(ErrorCode::kUnsupported,
                    file + " was written by a newer Quern (schema " + std::to_string(found) +
                        ", this one knows " + std::to_string(newest) + "); it was left as it is");
    }
    return {};
}

void migrate(SQLite::Database& database, std::span<const Migration> schema) {
    database.exec("PRAGMA foreign_keys = ON");
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

// Whether the log stays beside the file at the end; else it is written into the file.
void keepLogAtClose(SQLite::Database& database, bool isKept) {
    sqlite3_db_config(database.getHandle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, isKept ? 1 : 0,
                      nullptr);
}

// SQLite's form of a file's address, in which ?, # and % mean something.
std::string addressOf(const std::string& file) {
    std::string address = "file:";
    for (const char c : file) {
        switch (c) {
            case '?':
                address += "%3f";
                break;
            case '#':
                address += "%23";
                break;
            case '%':
                address += "%25";
                break;
            default:
                address += c;
        }
    }
    return address;
}

}  // namespace

Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& file,
                                                 std::span<const Migration> schema) {
    if (Status isFile = checkIsFile(file); !isFile) {
        return forward(isFile);
    }
    std::error_code none;
    if (std::filesystem::exists(file, none)) {
        // SQLite would open it all the same, and leave files beside it that nobody can write.
        if (Status writable = checkWritable(file); !writable) {
            return forward(writable);
        }
    }
    try {
        auto handle = std::make_unique<SQLite::Database>(
            file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, kBusyTimeoutMs);
        // One that fails here leaves the file and the log beside it as they are.
        keepLogAtClose(*handle, true);
        if (Status known = refuseNewer(*handle, schema, file.string()); !known) {
            return forward(known);
        }
        handle->exec("PRAGMA journal_mode = WAL");
        // NORMAL survives a killed process; only a power cut may lose the last transaction.
        handle->exec("PRAGMA synchronous = NORMAL");
        migrate(*handle, schema);
        keepLogAtClose(*handle, false);
        return std::unique_ptr<Database>(new Database(std::move(handle), file.string()));
    } catch (const SQLite::Exception& exception) {
        return asError(exception, file.string());
    }
}

Result<std::unique_ptr<Database>> Database::openReadOnly(const std::filesystem::path& file) {
    std::error_code error;
    if (!std::filesystem::exists(file, error) && !error) {
        return fail(ErrorCode::kNotFound, "there is no " + file.string());
    }
    if (Status isFile = checkIsFile(file); !isFile) {
        return forward(isFile);
    }
    const auto tryOpen = [&](const char* options) -> Result<std::unique_ptr<Database>> {
        try {
            auto handle = std::make_unique<SQLite::Database>(
                addressOf(file.string()) + options, SQLite::OPEN_READONLY | SQLite::OPEN_URI,
                kBusyTimeoutMs);
            (void)handle->execAndGet("PRAGMA schema_version").getInt();
            return std::unique_ptr<Database>(new Database(std::move(handle), file.string()));
        } catch (const SQLite::Exception& exception) {
            return asError(exception, file.string());
        }
    };
    // Reading a file in WAL mode wants an index beside it. Where there is no log nobody has it
    // open, and where the index cannot be made nobody can write: it is read as it lies there, and
    // a log that has something in it is not.
    constexpr const char* kAtRest = "?immutable=1";
    const std::string log = file.string() + "-wal";
    const bool hasLog = std::filesystem::exists(log, error);
    auto opened = tryOpen(hasLog ? "" : kAtRest);
    if (!opened && opened.error().code == ErrorCode::kIo) {
        opened = tryOpen(kAtRest);
        if (opened) {
            (*opened)->m_missesLog = hasLog && std::filesystem::file_size(log, error) > 0;
        }
    }
    return opened;
}

Result<std::unique_ptr<Database>> Database::openInMemory(std::span<const Migration> schema,
                                                         Database* copied) {
    const std::string name = copied != nullptr ? copied->m_name : "memory";
    try {
        auto handle = std::make_unique<SQLite::Database>(
            ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
        if (copied != nullptr) {
            // A lock is no exception here.
            if (SQLite::Backup(*handle, *copied->m_handle).executeStep() != SQLITE_DONE) {
                return fail(ErrorCode::kBusy, name + " is locked by another program");
            }
        }
        if (Status known = refuseNewer(*handle, schema, name); !known) {
            return forward(known);
        }
        migrate(*handle, schema);
        return std::unique_ptr<Database>(new Database(std::move(handle), name));
    } catch (const SQLite::Exception& exception) {
        return asError(exception, name);
    }
}

Status Database::check() {
    std::string found;
    Status looked = read([&found](SQLite::Database& db) {
        found = db.execAndGet("PRAGMA quick_check(1)").getString();
    });
    // A heading, and the fault on a line below it.
    found.erase(0, found.rfind('\n') + 1);
    if (looked && found != "ok") {
        return fail(ErrorCode::kCorrupt, m_name + " is damaged", found);
    }
    return looked;
}

Result<std::int64_t> Database::foreignVersion() {
    std::int64_t version = 0;
    Status looked = read([&version](SQLite::Database& db) {
        version = db.execAndGet("PRAGMA data_version").getInt64();
    });
    if (!looked) {
        return forward(looked);
    }
    return version;
}

Status Database::transact(const std::function<void(SQLite::Database&)>& work) {
    try {
        SQLite::Transaction transaction(*m_handle, SQLite::TransactionBehavior::IMMEDIATE);
        work(*m_handle);
        transaction.commit();
        return {};
    } catch (const SQLite::Exception& exception) {
        return asError(exception, m_name);
    }
}

Status Database::read(const std::function<void(SQLite::Database&)>& work) {
    try {
        work(*m_handle);
        return {};
    } catch (const SQLite::Exception& exception) {
        return asError(exception, m_name);
    }
}

}  // namespace quern::app
