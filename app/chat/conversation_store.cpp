#include "app/chat/conversation_store.h"

#include <unistd.h>

#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

#include "app/chat/message_calls.h"
#include "app/chat/schema.h"
#include "app/storage/database.h"

namespace quern::app {

namespace {

// Long enough that no window is still open which offers to bring it back.
constexpr std::int64_t kKeepRemovedMs = 24LL * 60 * 60 * 1000;

// A process id is used again; with its start time (field 22 of /proc/PID/stat) it names one
// process. Empty when there is no such process, or only what is left of one that has ended.
std::string processIdentity(long pid) {
    std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
    std::string line;
    if (!std::getline(in, line)) {
        return {};
    }
    // The second field is the program's name in parentheses and may hold blanks.
    const auto afterName = line.rfind(')');
    if (afterName == std::string::npos) {
        return {};
    }
    std::istringstream fields(line.substr(afterName + 1));
    std::string field;
    fields >> field;
    if (field == "Z" || field == "X") {
        return {};
    }
    constexpr int kStartTimeAfterName = 20;
    for (int i = 1; i < kStartTimeAfterName; ++i) {
        fields >> field;
    }
    return std::to_string(pid) + ":" + field;
}

bool isAlive(const std::string& owner) {
    const long pid = std::strtol(owner.c_str(), nullptr, 10);
    return pid > 0 && processIdentity(pid) == owner;
}

// Words of a search, each quoted so that FTS5 reads no operators in them; the last one as a prefix.
std::string ftsQuery(std::string_view text) {
    std::istringstream words{std::string(text)};
    std::string word;
    std::string query;
    while (words >> word) {
        query += query.empty() ? "\"" : " \"";
        for (const char c : word) {
            query += c == '"' ? std::string("\"\"") : std::string(1, c);
        }
        query += '"';
    }
    return query.empty() ? query : query + "*";
}

std::string likePattern(std::string_view text) {
    std::string pattern = "%";
    for (const char c : text) {
        if (c == '%' || c == '_' || c == '\\') {
            pattern += '\\';
        }
        pattern += c;
    }
    return pattern + "%";
}

constexpr const char* kMessageColumns =
    "id, parent, role, text, state, error, model, created_ms, prompt_tokens, cached_tokens, "
    "completion_tokens, ttft_ms, tokens_per_second, stop_reason, reasoning, calls, owner";

Message readMessage(SQLite::Statement& row) {
    Message message;
    message.id = row.getColumn(0).getInt64();
    message.parent = row.getColumn(1).getInt64();
    message.role = row.getColumn(2).getString();
    message.text = row.getColumn(3).getString();
    message.state = static_cast<MessageState>(row.getColumn(4).getInt());
    message.error = row.getColumn(5).getString();
    message.model = row.getColumn(6).getString();
    message.createdMs = row.getColumn(7).getInt64();
    message.stats = ReplyStats{.promptTokens = row.getColumn(8).getInt64(),
                               .cachedTokens = row.getColumn(9).getInt64(),
                               .completionTokens = row.getColumn(10).getInt64(),
                               .ttftMs = row.getColumn(11).getDouble(),
                               .tokensPerSecond = row.getColumn(12).getDouble(),
                               .stopReason = row.getColumn(13).getString()};
    message.reasoning = row.getColumn(14).getString();
    message.calls = callsFromJson(row.getColumn(15).getString());
    // The next start says so in the file.
    if (message.state == MessageState::kStreaming && !isAlive(row.getColumn(16).getString())) {
        message.state = MessageState::kInterrupted;
    }
    return message;
}

std::vector<MessageId> siblingsOf(SQLite::Database& db, ConversationId conversation,
                                  MessageId parent) {
    SQLite::Statement rows(
        db, "SELECT id FROM messages WHERE conversation = ? AND parent = ? ORDER BY id");
    rows.bind(1, conversation);
    rows.bind(2, parent);
    std::vector<MessageId> ids;
    while (rows.executeStep()) {
        ids.push_back(rows.getColumn(0).getInt64());
    }
    return ids;
}

MessageId newestLeafBelow(SQLite::Database& db, ConversationId conversation, MessageId id) {
    for (auto children = siblingsOf(db, conversation, id); !children.empty();
         children = siblingsOf(db, conversation, id)) {
        id = children.back();
    }
    return id;
}

void select(SQLite::Database& db, ConversationId conversation, MessageId leaf, std::int64_t now) {
    SQLite::Statement update(db, "UPDATE conversations SET leaf = ?, updated_ms = ? WHERE id = ?");
    update.bind(1, leaf);
    update.bind(2, now);
    update.bind(3, conversation);
    update.exec();
}

// 0 means not deleted, which the column has as null.
constexpr const char* kSetDeleted =
    "UPDATE conversations SET deleted_ms = nullif(?1, 0) WHERE id = ?2";

tl::unexpected<Error> noConversation(ConversationId id) {
    return fail(ErrorCode::kNotFound, "there is no conversation " + std::to_string(id));
}

// Runs one UPDATE that binds a value and an id; an id that hits nothing is kNotFound.
template <class Value>
Status updateOne(Database& database, const char* sql, const Value& value, std::int64_t id) {
    int changed = 0;
    auto done = database.transact([&](SQLite::Database& db) {
        SQLite::Statement update(db, sql);
        update.bind(1, value);
        update.bind(2, id);
        changed = update.exec();
    });
    if (done && changed == 0) {
        return noConversation(id);
    }
    return done;
}

}  // namespace

std::int64_t ConversationStore::systemMs() {
    return std::chrono::duration_cast<std::chrono::milliseconds>(
               std::chrono::system_clock::now().time_since_epoch())
        .count();
}

ConversationStore::ConversationStore(std::unique_ptr<Database> database, std::string owner,
                                     Clock clock)
    : m_database(std::move(database)), m_owner(std::move(owner)), m_clock(std::move(clock)) {}

ConversationStore::~ConversationStore() = default;

Result<std::unique_ptr<ConversationStore>> ConversationStore::open(
    const std::filesystem::path& file, Clock clock) {
    auto database = Database::open(file, kConversationSchema);
    if (!database) {
        return forward(database);
    }
    return over(std::move(*database), std::move(clock));
}

Result<std::unique_ptr<ConversationStore>> ConversationStore::openCopy(
    const std::filesystem::path& file, Clock clock) {
    auto original = Database::openReadOnly(file);
    if (!original) {
        return forward(original);
    }
    auto database = Database::openInMemory(kConversationSchema, original->get());
    if (!database) {
        return forward(database);
    }
    auto copy = over(std::move(*database), std::move(clock));
    if (copy) {
        (*copy)->m_missesLog = (*original)->missesLog();
    }
    return copy;
}

Result<std::unique_ptr<ConversationStore>> ConversationStore::openInMemory(Clock clock) {
    auto database = Database::openInMemory(kConversationSchema, nullptr);
    if (!database) {
        return forward(database);
    }
    return over(std::move(*database), std::move(clock));
}

Result<std::unique_ptr<ConversationStore>> ConversationStore::over(
    std::unique_ptr<Database> database, Clock clock) {
    std::unique_ptr<ConversationStore> store(
        new ConversationStore(std::move(database), processIdentity(::getpid()), std::move(clock)));
    if (auto marked = store->markInterrupted(); !marked) {
        return forward(marked);
    }
    // What stays for now is hidden, and goes with a later start.
    (void)store->purge(store->m_clock() - kKeepRemovedMs);
    return store;
}

// Replies whose writer is gone were cut off by a crash: their text stays, and says so.
Status ConversationStore::markInterrupted() {
    return m_database->transact([](SQLite::Database& db) {
        SQLite::Statement rows(db, "SELECT DISTINCT owner FROM messages WHERE state = 1");
        std::set<std::string> dead;
        while (rows.executeStep()) {
            if (const auto owner = rows.getColumn(0).getString(); !isAlive(owner)) {
                dead.insert(owner);
            }
        }
        for (const std::string& owner : dead) {
            SQLite::Statement update(db,
                                     "UPDATE messages SET state = 2 WHERE state = 1 AND owner = ?");
            update.bind(1, owner);
            update.exec();
        }
    });
}

Result<ConversationId> ConversationStore::create(const NewConversation& conversation) {
    const std::lock_guard lock(m_mutex);
    ConversationId id = 0;
    auto done = m_database->transact([&](SQLite::Database& db) {
        SQLite::Statement insert(db,
                                 "INSERT INTO conversations(title, model, system_prompt, sampling, "
                                 "created_ms, updated_ms) VALUES (?, ?, ?, ?, ?5, ?5)");
        insert.bind(1, conversation.title);
        insert.bind(2, conversation.model);
        insert.bind(3, conversation.systemPrompt);
        insert.bind(4, conversation.samplingJson);
        insert.bind(5, m_clock());
        insert.exec();
        id = db.getLastInsertRowid();
    });
    if (!done) {
        return forward(done);
    }
    return id;
}

Result<std::vector<ConversationSummary>> ConversationStore::list(std::string_view query,
                                                                 int limit) {
    const std::lock_guard lock(m_mutex);
    std::vector<ConversationSummary> found;
    const std::string words = ftsQuery(query);
    auto done = m_database->read([&](SQLite::Database& db) {
        SQLite::Statement rows(
            db, words.empty() ? "SELECT id, title, updated_ms, '' FROM conversations "
                                "WHERE deleted_ms IS NULL ORDER BY updated_ms DESC LIMIT ?1"
                              : "WITH hits AS ("
                                "  SELECT m.conversation AS conversation, min(m.id) AS message "
                                "  FROM messages_text t JOIN messages m ON m.id = t.rowid "
                                "  WHERE messages_text MATCH ?2 GROUP BY m.conversation) "
                                "SELECT c.id, c.title, c.updated_ms, "
                                "  coalesce((SELECT substr(text, 1, 200) FROM messages WHERE id = "
                                "hits.message), '') "
                                "FROM conversations c LEFT JOIN hits ON hits.conversation = c.id "
                                "WHERE c.deleted_ms IS NULL AND "
                                "  (hits.conversation IS NOT NULL OR c.title LIKE ?3 ESCAPE '\\') "
                                "ORDER BY c.updated_ms DESC LIMIT ?1");
        rows.bind(1, limit);
        if (!words.empty()) {
            rows.bind(2, words);
            rows.bind(3, likePattern(query));
        }
        while (rows.executeStep()) {
            found.push_back({.id = rows.getColumn(0).getInt64(),
                             .title = rows.getColumn(1).getString(),
                             .updatedMs = rows.getColumn(2).getInt64(),
                             .excerpt = rows.getColumn(3).getString()});
        }
    });
    if (!done) {
        return forward(done);
    }
    return found;
}

Result<Conversation> ConversationStore::load(ConversationId id, std::optional<MessageId> leaf) {
    const std::lock_guard lock(m_mutex);
    Conversation conversation;
    bool isThere = false;
    auto done = m_database->read([&](SQLite::Database& db) {
        SQLite::Statement head(db,
                               "SELECT title, model, system_prompt, sampling, leaf FROM "
                               "conversations WHERE id = ? AND deleted_ms IS NULL");
        head.bind(1, id);
        if (!head.executeStep()) {
            return;
        }
        isThere = true;
        conversation = {.id = id,
                        .title = head.getColumn(0).getString(),
                        .model = head.getColumn(1).getString(),
                        .systemPrompt = head.getColumn(2).getString(),
                        .samplingJson = head.getColumn(3).getString(),
                        .path = {}};
        MessageId next = leaf.value_or(head.getColumn(4).getInt64());
        while (next != 0) {
            SQLite::Statement row(db, std::string("SELECT ") + kMessageColumns +
                                          " FROM messages WHERE id = ? AND conversation = ?");
            row.bind(1, next);
            row.bind(2, id);
            if (!row.executeStep()) {
                break;
            }
            Message message = readMessage(row);
            const auto siblings = siblingsOf(db, id, message.parent);
            message.branches = static_cast<std::int32_t>(siblings.size());
            for (std::size_t i = 0; i < siblings.size(); ++i) {
                if (siblings[i] == message.id) {
                    message.branch = static_cast<std::int32_t>(i) + 1;
                }
            }
            next = message.parent;
            conversation.path.insert(conversation.path.begin(), std::move(message));
        }
    });
    if (!done) {
        return forward(done);
    }
    if (!isThere) {
        return noConversation(id);
    }
    return conversation;
}

Result<Conversation> ConversationStore::loadBelow(ConversationId id, MessageId message) {
    MessageId leaf = message;
    {
        const std::lock_guard lock(m_mutex);
        auto done = m_database->read(
            [&](SQLite::Database& db) { leaf = newestLeafBelow(db, id, message); });
        if (!done) {
            return forward(done);
        }
    }
    auto conversation = load(id, leaf);
    if (conversation && conversation->path.empty()) {
        return fail(ErrorCode::kNotFound, "there is no message " + std::to_string(message));
    }
    return conversation;
}

Result<std::int64_t> ConversationStore::foreignVersion() {
    const std::lock_guard lock(m_mutex);
    return m_database->foreignVersion();
}

Status ConversationStore::rename(ConversationId id, std::string_view title) {
    const std::lock_guard lock(m_mutex);
    return updateOne(*m_database, "UPDATE conversations SET title = ? WHERE id = ?",
                     std::string(title), id);
}

Status ConversationStore::setSystemPrompt(ConversationId id, std::string_view text) {
    const std::lock_guard lock(m_mutex);
    return updateOne(*m_database, "UPDATE conversations SET system_prompt = ? WHERE id = ?",
                     std::string(text), id);
}

Status ConversationStore::setSampling(ConversationId id, std::string_view json) {
    const std::lock_guard lock(m_mutex);
    return updateOne(*m_database, "UPDATE conversations SET sampling = ? WHERE id = ?",
                     std::string(json), id);
}

Status ConversationStore::remove(ConversationId id) {
    const std::lock_guard lock(m_mutex);
    return updateOne(*m_database, kSetDeleted, m_clock(), id);
}

Status ConversationStore::restore(ConversationId id) {
    const std::lock_guard lock(m_mutex);
    return updateOne(*m_database, kSetDeleted, std::int64_t{0}, id);
}

Status ConversationStore::purge(std::int64_t beforeMs) {
    const std::lock_guard lock(m_mutex);
    return m_database->transact([&](SQLite::Database& db) {
        SQLite::Statement erase(
            db, "DELETE FROM conversations WHERE deleted_ms IS NOT NULL AND deleted_ms < ?");
        erase.bind(1, beforeMs);
        erase.exec();
    });
}

Result<MessageId> ConversationStore::append(ConversationId id, MessageId parent,
                                            std::string_view role, std::string_view text) {
    Message message;
    message.parent = parent;
    message.role = role;
    message.text = text;
    return insert(id, message, {});
}

Result<MessageId> ConversationStore::beginReply(ConversationId id, MessageId parent,
                                                std::string_view model) {
    Message reply;
    reply.parent = parent;
    reply.role = "assistant";
    reply.state = MessageState::kStreaming;
    reply.model = model;
    return insert(id, reply, m_owner);
}

Result<MessageId> ConversationStore::insert(ConversationId id, const Message& message,
                                            const std::string& owner) {
    const std::lock_guard lock(m_mutex);
    MessageId inserted = 0;
    auto done = m_database->transact([&](SQLite::Database& db) {
        SQLite::Statement insert(db,
                                 "INSERT INTO messages(conversation, parent, role, text, state, "
                                 "model, owner, created_ms) VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        insert.bind(1, id);
        insert.bind(2, message.parent);
        insert.bind(3, message.role);
        insert.bind(4, message.text);
        insert.bind(5, static_cast<int>(message.state));
        insert.bind(6, message.model);
        insert.bind(7, owner);
        insert.bind(8, m_clock());
        insert.exec();
        inserted = db.getLastInsertRowid();
        select(db, id, inserted, m_clock());
    });
    if (!done) {
        return forward(done);
    }
    return inserted;
}

Status ConversationStore::updateReply(const Message& reply) {
    const std::lock_guard lock(m_mutex);
    return m_database->transact([&](SQLite::Database& db) {
        SQLite::Statement update(
            db, "UPDATE messages SET text = ?, reasoning = ?, calls = ? WHERE id = ?");
        update.bind(1, reply.text);
        update.bind(2, reply.reasoning);
        update.bind(3, callsToJson(reply.calls));
        update.bind(4, reply.id);
        update.exec();
    });
}

Status ConversationStore::finishReply(const Message& reply) {
    const std::lock_guard lock(m_mutex);
    return m_database->transact([&](SQLite::Database& db) {
        SQLite::Statement update(
            db,
            "UPDATE messages SET text = ?, state = ?, error = ?, owner = '', prompt_tokens = ?, "
            "cached_tokens = ?, completion_tokens = ?, ttft_ms = ?, tokens_per_second = ?, "
            "stop_reason = ?, reasoning = ?, calls = ? WHERE id = ?");
        update.bind(1, reply.text);
        update.bind(2, static_cast<int>(reply.state));
        update.bind(3, reply.error);
        update.bind(4, reply.stats.promptTokens);
        update.bind(5, reply.stats.cachedTokens);
        update.bind(6, reply.stats.completionTokens);
        update.bind(7, reply.stats.ttftMs);
        update.bind(8, reply.stats.tokensPerSecond);
        update.bind(9, reply.stats.stopReason);
        update.bind(10, reply.reasoning);
        update.bind(11, callsToJson(reply.calls));
        update.bind(12, reply.id);
        update.exec();
    });
}

Status ConversationStore::selectSibling(MessageId id, int offset) {
    const std::lock_guard lock(m_mutex);
    return m_database->transact([&](SQLite::Database& db) {
        SQLite::Statement row(db, "SELECT conversation, parent FROM messages WHERE id = ?");
        row.bind(1, id);
        if (!row.executeStep()) {
            return;
        }
        const ConversationId conversation = row.getColumn(0).getInt64();
        const auto siblings = siblingsOf(db, conversation, row.getColumn(1).getInt64());
        for (std::size_t i = 0; i < siblings.size(); ++i) {
            const std::int64_t wanted = static_cast<std::int64_t>(i) + offset;
            if (siblings[i] == id && wanted >= 0 &&
                wanted < static_cast<std::int64_t>(siblings.size())) {
                select(
                    db, conversation,
                    newestLeafBelow(db, conversation, siblings[static_cast<std::size_t>(wanted)]),
                    m_clock());
            }
        }
    });
}

}  // namespace quern::app
