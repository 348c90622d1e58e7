#pragma once

#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

#include "app/chat/schema.h"
#include "app/wiring/desktop/stored_conversations.h"
#include "app/wiring/desktop/written_replies.h"
#include "tests/support/temp_folder.h"
#include "ui/demo/demo_engine.h"
#include "ui/demo/demo_ports.h"
#include "ui/ports/desktop_ports.h"

namespace quern::ui {

/// What a window stands on: a demo engine and made-up models, server and settings, but the real
/// chat service over a real store. Several engines may follow one another over the same store.
class DemoWindow {
public:
    DemoWindow() : m_store(app::ConversationStore::open(file()).value()), m_saved(*m_store) {}
    ~DemoWindow() { endReplies(); }
    DemoWindow(const DemoWindow&) = delete;
    DemoWindow& operator=(const DemoWindow&) = delete;

    [[nodiscard]] DesktopPorts start(DemoEngineOptions options) {
        endReplies();
        m_engine = std::make_unique<DemoEngine>(std::move(options));
        m_chat = std::make_unique<app::ChatService>(*m_engine, *m_store);
        m_replies.emplace(*m_chat);
        return {.engine = *m_engine,
                .conversations = m_saved,
                .replies = *m_replies,
                .library = library,
                .server = server,
                .settings = settings};
    }
    /// As the program does once its window is closed.
    void endReplies() {
        m_replies.reset();
        m_chat.reset();
    }

    /// Makes writes of messages fail, as on a full disk. "INSERT": nothing new can be sent;
    /// "UPDATE": what is being written cannot be saved.
    void failOn(const std::string& what) {
        change("CREATE TRIGGER fails_" + what + " BEFORE " + what +
               " ON messages BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
    }
    void healOn(const std::string& what) { change("DROP TRIGGER fails_" + what); }

    /// Another program's view of the same file.
    [[nodiscard]] std::unique_ptr<app::ConversationStore> otherProgram() const {
        return app::ConversationStore::open(file()).value();
    }
    /// What is saved.
    [[nodiscard]] app::StoredConversations& saved() { return m_saved; }

    MemorySettings settings;
    DemoLibrary library{false};
    DemoServer server;

private:
    [[nodiscard]] std::filesystem::path file() const { return m_folder.path() / "quern.db"; }
    void change(const std::string& sql) {
        const auto other = app::Database::open(file(), app::kConversationSchema).value();
        const Status done = other->transact([&](SQLite::Database& db) { db.exec(sql); });
        if (!done) {
            throw std::runtime_error(done.error().message);
        }
    }

    test::TempFolder m_folder;
    std::unique_ptr<app::ConversationStore> m_store;
    app::StoredConversations m_saved;
    std::unique_ptr<DemoEngine> m_engine;
    std::unique_ptr<app::ChatService> m_chat;
    std::optional<app::WrittenReplies> m_replies;
};

}  // namespace quern::ui
