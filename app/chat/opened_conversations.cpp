#include "app/chat/opened_conversations.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <utility>

#include "app/chat/schema.h"
#include "app/storage/database.h"

namespace quern::app {

namespace fs = std::filesystem;

namespace {

/// Held by one program at a time over a folder: two that find a damaged file at once would each set
/// aside what the other has begun. Where it cannot be had, there is none.
class FolderLock {
public:
    explicit FolderLock(const fs::path& folder)
        : m_descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
        if (m_descriptor >= 0) {
            (void)::flock(m_descriptor, LOCK_EX);
        }
    }
    ~FolderLock() {
        if (m_descriptor >= 0) {
            ::close(m_descriptor);
        }
    }
    FolderLock(const FolderLock&) = delete;
    FolderLock& operator=(const FolderLock&) = delete;

private:
    int m_descriptor;
};

// What was said last may still be in the log beside the file: it keeps the file's name.
Result<fs::path> setDatabaseAside(const fs::path& file) {
    Result<fs::path> kept = setAside(file, kDamagedSuffix);
    std::error_code none;
    for (const char* beside : {"-wal", "-shm"}) {
        if (kept) {
            fs::rename(file.string() + beside, kept->string() + beside, none);
        }
    }
    return kept;
}

// The file, where there is one, and its folder, in which logs are made beside it.
Status checkBothWritable(const fs::path& file) {
    Status folder = checkWritable(file.parent_path());
    std::error_code none;
    return folder && fs::exists(file, none) ? checkWritable(file) : folder;
}

Result<OpenedConversations> openUnsaved(const fs::path& file, Error why,
                                        const ConversationStore::Clock& clock) {
    FileTrouble trouble{
        .outcome = FileTrouble::Outcome::kReadOnly, .file = file, .error = std::move(why)};
    auto store = ConversationStore::openCopy(file, clock);
    std::error_code none;
    if (!store) {
        if (fs::exists(file, none)) {
            trouble.outcome = FileTrouble::Outcome::kUnread;
        }
        store = ConversationStore::openInMemory(clock);
    }
    if (!store) {
        return forward(store);
    }
    return OpenedConversations{.store = std::move(*store), .trouble = std::move(trouble)};
}

}  // namespace

Result<OpenedConversations> openConversations(const fs::path& file,
                                              ConversationStore::Clock clock) {
    auto store = ConversationStore::open(file, clock);
    if (!store && store.error().code == ErrorCode::kCorrupt) {
        const FolderLock lock(file.parent_path());
        store = ConversationStore::open(file, clock);
        if (!store && store.error().code == ErrorCode::kCorrupt) {
            Error why = std::move(store.error());
            Result<fs::path> kept = setDatabaseAside(file);
            if (!kept) {
                return openUnsaved(file, std::move(why), clock);
            }
            store = ConversationStore::open(file, clock);
            if (store) {
                return OpenedConversations{
                    .store = std::move(*store),
                    .trouble = FileTrouble{.outcome = FileTrouble::Outcome::kSetAside,
                                           .file = file,
                                           .kept = std::move(*kept),
                                           .error = std::move(why)}};
            }
        }
    }
    if (!store) {
        Error why = std::move(store.error());
        if (Status writable = checkBothWritable(file); why.code == ErrorCode::kIo && !writable) {
            why = std::move(writable.error());  // says more than SQLite's
        }
        return openUnsaved(file, std::move(why), clock);
    }
    return OpenedConversations{.store = std::move(*store), .trouble = std::nullopt};
}

Result<std::int64_t> examineConversations(const fs::path& file) {
    auto database = Database::openReadOnly(file);
    if (!database) {
        return database.error().code == ErrorCode::kNotFound
                   ? Result<std::int64_t>(0)
                   : Result<std::int64_t>(forward(database));
    }
    if (Status sound = (*database)->check(); !sound) {
        return forward(sound);
    }
    std::int64_t count = 0;
    Status counted = (*database)->read([&count](SQLite::Database& db) {
        if (db.tableExists("conversations")) {
            count = db.execAndGet("SELECT count(*) FROM conversations WHERE deleted_ms IS NULL")
                        .getInt64();
        }
    });
    if (!counted) {
        return forward(counted);
    }
    if (Status writable = checkBothWritable(file); !writable) {
        return forward(writable);
    }
    return count;
}

}  // namespace quern::app
