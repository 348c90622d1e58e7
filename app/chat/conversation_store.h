#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/result.h"

namespace quern::app {

class Database;

using ConversationId = std::int64_t;
using MessageId = std::int64_t;

enum class MessageState : std::uint8_t {
    kDone,
    kStreaming,    // being written by a living process
    kInterrupted,  // its writer died or was stopped; the text is what was shown
    kFailed,       // an error; `error` says which
};

/// The figures under a reply. Zero where they are not known.
struct ReplyStats {
    std::int64_t promptTokens = 0;
    std::int64_t cachedTokens = 0;
    std::int64_t completionTokens = 0;
    double ttftMs = 0;
    double tokensPerSecond = 0;
    std::string stopReason;  // as describeStop() says it
};

/// A call of a tool that a model asked for.
struct MessageCall {
    std::string name;
    std::string arguments;  // JSON text, once it is whole
    bool operator==(const MessageCall&) const = default;
};

struct Message {
    MessageId id = 0;
    MessageId parent = 0;  // 0: the first of its conversation
    std::string role;      // "user", "assistant"
    std::string text;
    std::string reasoning;           // what a reply's model thought before it answered
    std::vector<MessageCall> calls;  // that a reply ends with
    MessageState state = MessageState::kDone;
    std::string error;
    std::string model;  // that wrote it
    std::int64_t createdMs = 0;
    ReplyStats stats;
    std::int32_t branch = 1;    // ‹2/3›: which of its siblings it is …
    std::int32_t branches = 1;  // … of how many
};

struct ConversationSummary {
    ConversationId id = 0;
    std::string title;
    std::int64_t updatedMs = 0;
    std::string excerpt;  // where a search hit; plain text
};

/// A conversation to be made.
struct NewConversation {
    std::string title;
    std::string model;
    std::string systemPrompt;
    std::string samplingJson;
};

struct Conversation {
    ConversationId id = 0;
    std::string title;
    std::string model;
    std::string systemPrompt;
    std::string samplingJson;   // the conversation's own sampling; empty: the defaults
    std::vector<Message> path;  // from the first message to the leaf
};

/// Conversations as trees of messages, in SQLite, shared by window and terminal. A reply is saved
/// while it is written, so a killed process loses nothing that was saved. Internally locked; any
/// thread but the GUI's (it waits for the disk). Errors: see Database::transact; kNotFound names
/// the id.
class ConversationStore {
public:
    /// Milliseconds since 1970.
    using Clock = std::function<std::int64_t()>;
    [[nodiscard]] static std::int64_t systemMs();

    /// Forgets conversations that were removed over a day ago.
    [[nodiscard]] static Result<std::unique_ptr<ConversationStore>> open(
        const std::filesystem::path& file, Clock clock = systemMs);
    /// One that lasts as long as it, with what `file` holds where that can be read; never writes.
    [[nodiscard]] static Result<std::unique_ptr<ConversationStore>> openCopy(
        const std::filesystem::path& file, Clock clock = systemMs);
    /// The same without a file.
    [[nodiscard]] static Result<std::unique_ptr<ConversationStore>> openInMemory(
        Clock clock = systemMs);
    ~ConversationStore();
    /// Of a copy: there is a log beside the file that could not be read, so what was said last may
    /// be missing.
    [[nodiscard]] bool missesLog() const { return m_missesLog; }

    [[nodiscard]] Result<ConversationId> create(const NewConversation& conversation);
    /// Newest first; `query` searches titles and texts (empty: all).
    [[nodiscard]] Result<std::vector<ConversationSummary>> list(std::string_view query, int limit);
    /// With the path that ends at `leaf` (0: an empty one), or at the selected leaf.
    [[nodiscard]] Result<Conversation> load(ConversationId id,
                                            std::optional<MessageId> leaf = std::nullopt);
    /// The same along the newest branches below a message; kNotFound where that one is not there.
    [[nodiscard]] Result<Conversation> loadBelow(ConversationId id, MessageId message);
    /// A number that changes when another program has changed something; cheap.
    [[nodiscard]] Result<std::int64_t> foreignVersion();
    [[nodiscard]] Status rename(ConversationId id, std::string_view title);
    [[nodiscard]] Status setSystemPrompt(ConversationId id, std::string_view text);
    [[nodiscard]] Status setSampling(ConversationId id, std::string_view json);
    /// Hides it; restore() brings it back until purge() forgets what was removed before `beforeMs`.
    [[nodiscard]] Status remove(ConversationId id);
    [[nodiscard]] Status restore(ConversationId id);
    [[nodiscard]] Status purge(std::int64_t beforeMs);

    /// Adds a finished message below `parent` (0: at the root) and selects it.
    [[nodiscard]] Result<MessageId> append(ConversationId id, MessageId parent,
                                           std::string_view role, std::string_view text);
    /// Adds an empty reply below `parent`, owned by this process, and selects it.
    [[nodiscard]] Result<MessageId> beginReply(ConversationId id, MessageId parent,
                                               std::string_view model);
    /// Saves text, reasoning and calls so far. Call it a few times a second, not at each token.
    [[nodiscard]] Status updateReply(const Message& reply);
    /// Saves all that a reply's end brings.
    [[nodiscard]] Status finishReply(const Message& reply);
    /// Selects the sibling `offset` places away (−1, +1) and the newest leaf below it.
    [[nodiscard]] Status selectSibling(MessageId id, int offset);

private:
    ConversationStore(std::unique_ptr<Database> database, std::string owner, Clock clock);
    [[nodiscard]] static Result<std::unique_ptr<ConversationStore>> over(
        std::unique_ptr<Database> database, Clock clock);
    [[nodiscard]] Status markInterrupted();
    /// Adds a message, written by `owner` (empty: nobody any more), and selects it.
    [[nodiscard]] Result<MessageId> insert(ConversationId id, const Message& message,
                                           const std::string& owner);

    std::mutex m_mutex;
    std::unique_ptr<Database> m_database;
    std::string m_owner;  // this process: pid and start time
    Clock m_clock;
    bool m_missesLog = false;
};

}  // namespace quern::app
