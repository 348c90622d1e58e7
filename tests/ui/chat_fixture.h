#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "tests/ui/demo_window.h"
#include "tests/ui/waiting.h"
#include "ui/session.h"

namespace quern::ui {

/// A session over a demo engine, the chat service and a store.
class SessionTest : public testing::Test {
protected:
    void start(DemoEngineOptions options) {
        m_session = std::make_unique<Session>(m_window.start(std::move(options)), m_theme);
        ASSERT_TRUE(waitFor([this] { return m_session->isIdle(); }));
        QCoreApplication::processEvents();
    }
    [[nodiscard]] Chat& chat() { return *m_session->chat(); }
    [[nodiscard]] const std::vector<Turn>& path() { return chat().transcript()->path(); }
    void say(const char* text) {
        chat().setDraft(QString::fromUtf8(text));
        chat().send();
    }
    [[nodiscard]] bool waitForWriting() {
        return waitFor([this] { return chat().phase() == ReplyPhase::kWriting; });
    }
    [[nodiscard]] bool waitForRest() {
        return waitFor([this] {
            return m_session->isIdle() && !chat().isBusy() && !path().empty() &&
                   path().back().state != TurnState::kWriting;
        });
    }
    /// The conversation that is open, as it is saved.
    [[nodiscard]] ConversationContent saved() {
        return m_window.saved().open(chat().conversation()).value();
    }

    Theme m_theme{nullptr};
    DemoWindow m_window;
    std::unique_ptr<Session> m_session;
};

}  // namespace quern::ui
