#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// Conversations in memory, with every rule of the port but one: they end with the process.
/// Internally locked. `failWrites` makes writes fail as a full disk does (tests).
class MemoryConversations : public ConversationStore {
public:
    Result<std::vector<ConversationSummary>> list(const std::string& search) override;
    Result<std::int64_t> create(const std::string& title,
                                const ConversationSettings& settings) override;
    Status rename(std::int64_t conversation, const std::string& title) override;
    Status remove(std::int64_t conversation) override;
    Status restore(std::int64_t conversation) override;
    Result<ConversationContent> open(std::int64_t conversation) override;
    Status saveSettings(std::int64_t conversation, const ConversationSettings& settings) override;
    Result<std::int64_t> addTurn(std::int64_t conversation, const Turn& turn) override;
    Status updateTurn(std::int64_t conversation, const Turn& turn) override;
    Status selectSibling(std::int64_t conversation, std::int64_t turn, int offset) override;

    void failWrites(bool fails);
    /// The clock of new and changed conversations, in seconds since 1970.
    void setTime(std::int64_t seconds);

private:
    struct Stored {
        ConversationSummary summary;
        ConversationSettings settings;
        std::vector<Turn> turns;  // all of the tree, in order of creation
        std::int64_t leaf = 0;
        bool isRemoved = false;
    };
    [[nodiscard]] Result<Stored*> find(std::int64_t conversation);
    [[nodiscard]] Status mayWrite() const;

    std::mutex m_mutex;
    std::map<std::int64_t, Stored> m_stored;
    std::int64_t m_nextConversation = 1;
    std::int64_t m_nextTurn = 1;
    std::int64_t m_time = 0;
    bool m_fails = false;
};

}  // namespace quern::ui
