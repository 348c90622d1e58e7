#pragma once

#include <string>

#include "app/chat/conversation_store.h"
#include "ui/ports/conversation_store.h"

namespace quern::app {

/// The window's conversations, kept by the chat service's store. As thread-safe as the store.
class StoredConversations : public ui::ConversationStore {
public:
    /// `store` must outlive it.
    explicit StoredConversations(app::ConversationStore& store) : m_store(store) {}

    [[nodiscard]] Result<std::vector<ui::ConversationSummary>> list(
        const std::string& search) override;
    [[nodiscard]] Status rename(std::int64_t conversation, const std::string& title) override;
    [[nodiscard]] Status remove(std::int64_t conversation) override;
    [[nodiscard]] Status restore(std::int64_t conversation) override;
    [[nodiscard]] Result<ui::ConversationContent> open(std::int64_t conversation) override;
    [[nodiscard]] Result<ui::ConversationContent> openThrough(std::int64_t conversation,
                                                              std::int64_t turn) override;
    [[nodiscard]] Result<std::int64_t> foreignVersion() override {
        return m_store.foreignVersion();
    }
    [[nodiscard]] Status saveSettings(std::int64_t conversation,
                                      const ui::ConversationSettings& settings) override;
    [[nodiscard]] Status selectSibling(std::int64_t conversation, std::int64_t turn,
                                       int offset) override;

private:
    app::ConversationStore& m_store;
};

/// A message as the window shows it.
[[nodiscard]] ui::Turn turnOf(const Message& message);

/// A conversation's settings without its system prompt, as the store keeps them, and back. Text
/// that does not parse, and values of a wrong type, give the defaults.
[[nodiscard]] std::string settingsToJson(const ui::ConversationSettings& settings);
[[nodiscard]] ui::ConversationSettings settingsFromJson(const std::string& json);

}  // namespace quern::app
