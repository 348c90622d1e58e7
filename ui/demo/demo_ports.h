#pragma once

#include <map>
#include <mutex>
#include <vector>

#include "ui/ports/desktop_ports.h"

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

/// Settings in memory. Internally locked.
class MemorySettings : public SettingsStore {
public:
    std::optional<std::string> get(const std::string& key) const override;
    Status set(const std::string& key, const std::string& value) override;

private:
    mutable std::mutex m_mutex;
    std::map<std::string, std::string> m_values;
};

/// A shelf of made-up models with made-up estimates: for stills and tests.
class DemoLibrary : public ModelLibrary {
public:
    explicit DemoLibrary(bool isEmpty) : m_isEmpty(isEmpty) {}
    Result<std::vector<LibraryModel>> list() override;
    Status add(const std::filesystem::path& model) override;
    Status forget(const std::filesystem::path& model) override;
    Result<engine::FitEstimate> estimate(const engine::LoadOptions& options) override;
    std::filesystem::path folder() const override;

private:
    bool m_isEmpty = false;
};

/// A server that only says that it runs: for stills and tests.
class DemoServer : public ServerControl {
public:
    Status start(const ServerSettings& settings) override;
    void stop() override;
    ServerStatus status() const override;
    /// The next start fails as a taken port does.
    void takePort() { m_isPortTaken = true; }

private:
    mutable std::mutex m_mutex;
    ServerStatus m_status;
    bool m_isPortTaken = false;
};

}  // namespace quern::ui
