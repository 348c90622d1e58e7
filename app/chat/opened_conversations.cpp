#include "app/chat/opened_conversations.h"

#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "app/chat/schema.h"
#include "app/storage/database.h"
#include "app/storage/file_lock.h"

namespace quern::app {

namespace fs = std::filesystem;

namespace {

// What was said last may still be in the log.
constexpr std::array<std::string_view, 2> kBesideDatabase{"-wal", "-shm"};
constexpr const char* kLogMissing =
    "; the log beside it cannot be read, so what was said last may be missing";

// The file, where there is one, and its folder, in which logs are made beside it.
Status checkBothWritable(const fs::path& file) {
    Status folder = checkWritable(file.parent_path());
    std::error_code none;
    return folder && fs::exists(file, none) ? checkWritable(file) : folder;
}

Result<OpenedConversations> openUnsaved(FileTrouble trouble,
                                        const ConversationStore::Clock& clock) {
    trouble.outcome = FileTrouble::Outcome::kReadOnly;
    auto store = ConversationStore::openCopy(trouble.file, clock);
    std::error_code none;
    if (!store || !trouble.kept.empty()) {
        if (!trouble.kept.empty() || fs::exists(trouble.file, none)) {
            trouble.outcome = FileTrouble::Outcome::kUnread;
        }
        store = ConversationStore::openInMemory(clock);
    } else if ((*store)->missesLog()) {
        trouble.error.message += kLogMissing;
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
    FileTrouble trouble{.file = file, .error = {}};
    if (!store && store.error().code == ErrorCode::kCorrupt) {
        // Two that find it at once would each set aside what the other has begun. Where the lock
        // cannot be made nothing can be renamed either.
        const auto lock = FileLock::take(file.string() + ".lock");
        store = ConversationStore::open(file, clock);
        if (!store && store.error().code == ErrorCode::kCorrupt) {
            Result<fs::path> kept = setAside(file, kDamagedSuffix, kBesideDatabase);
            trouble.error = std::move(store.error());
            if (!kept) {
                return openUnsaved(std::move(trouble), clock);
            }
            trouble.outcome = FileTrouble::Outcome::kSetAside;
            trouble.kept = std::move(*kept);
            store = ConversationStore::open(file, clock);
        }
    }
    if (!store) {
        Error why = std::move(store.error());
        if (Status writable = checkBothWritable(file); why.code == ErrorCode::kIo && !writable) {
            why = std::move(writable.error());  // says more than SQLite's
        }
        if (!trouble.kept.empty()) {
            why.message = trouble.error.message + " and is called " + trouble.kept.string() +
                          " now; a new one could not be begun: " + why.message;
        }
        trouble.error = std::move(why);
        return openUnsaved(std::move(trouble), clock);
    }
    OpenedConversations opened{.store = std::move(*store), .trouble = std::nullopt};
    if (!trouble.kept.empty()) {
        opened.trouble = std::move(trouble);
    }
    return opened;
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
    if ((*database)->missesLog()) {
        return fail(ErrorCode::kIo, file.string() + " can be read" + kLogMissing);
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
