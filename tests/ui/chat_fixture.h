#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/ui/waiting.h"
#include "ui/core/session.h"
#include "ui/demo/demo_engine.h"
#include "ui/demo/demo_ports.h"
#include "ui/demo/memory_conversations.h"

namespace quern::ui {

/// A session over a demo engine and ports in memory.
class SessionTest : public testing::Test {
protected:
    void start(DemoEngineOptions options) {
        m_engine = std::make_unique<DemoEngine>(std::move(options));
        m_session = std::make_unique<Session>(DesktopPorts{.engine = *m_engine,
                                                           .conversations = m_store,
                                                           .library = m_library,
                                                           .server = m_server,
                                                           .settings = m_settings},
                                              m_theme);
        ASSERT_TRUE(waitFor([this] { return m_session->isIdle(); }));
        QCoreApplication::processEvents();
    }
    [[nodiscard]] Chat& chat() { return *m_session->chat(); }
    [[nodiscard]] const std::vector<Turn>& path() { return chat().transcript()->path(); }
    void say(const char* text) {
        chat().setDraft(QString::fromUtf8(text));
        chat().send();
    }
    [[nodiscard]] bool waitForRest() {
        return waitFor([this] {
            return m_session->isIdle() && !chat().isBusy() && !path().empty() &&
                   path().back().state != TurnState::kWriting;
        });
    }

    Theme m_theme{nullptr};
    MemoryConversations m_store;
    MemorySettings m_settings;
    DemoLibrary m_library{false};
    DemoServer m_server;
    std::unique_ptr<DemoEngine> m_engine;
    std::unique_ptr<Session> m_session;
};

}  // namespace quern::ui
