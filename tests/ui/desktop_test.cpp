#include "ui/desktop.h"

#include <gtest/gtest.h>

#include <QAccessible>
#include <QGuiApplication>
#include <QImage>
#include <QQuickItem>
#include <QQuickWindow>
#include <QSignalSpy>
#include <QTest>
#include <set>

#include "tests/ui/demo_window.h"
#include "tests/ui/waiting.h"
#include "ui/session.h"

namespace quern::ui {
namespace {

/// The whole window over demo engine and ports, worked by its keys.
class DesktopTest : public testing::Test {
protected:
    void start(DemoEngineOptions options) {
        m_desktop = std::make_unique<Desktop>(m_ports.start(std::move(options)), DesktopOptions{});
        session().setStill(true);
        m_window = nullptr;
        ASSERT_TRUE(m_desktop->show());
        for (QWindow* window : QGuiApplication::topLevelWindows()) {
            if (auto* quick = qobject_cast<QQuickWindow*>(window); quick && quick->isVisible()) {
                m_window = quick;
            }
        }
        ASSERT_NE(m_window, nullptr);
        ASSERT_TRUE(QTest::qWaitForWindowExposed(m_window));
        m_window->requestActivate();
        ASSERT_TRUE(waitFor([this] { return m_window->isActive() && session().isIdle(); }));
    }
    [[nodiscard]] Session& session() { return m_desktop->session(); }
    [[nodiscard]] Chat& chat() { return *session().chat(); }
    [[nodiscard]] const std::vector<Turn>& path() { return chat().transcript()->path(); }

    void press(int key, Qt::KeyboardModifiers modifiers = Qt::NoModifier) {
        QTest::keyClick(m_window, static_cast<Qt::Key>(key), modifiers);
        QCoreApplication::processEvents();
    }
    void type(const char* text) {
        for (const char* letter = text; *letter != '\0'; ++letter) {
            QTest::keyClick(m_window, *letter);
        }
    }
    [[nodiscard]] QString nameOfFocus() const {
        QAccessibleInterface* told =
            QAccessible::queryAccessibleInterface(m_window->activeFocusItem());
        return told != nullptr ? told->text(QAccessible::Name) : QString();
    }
    [[nodiscard]] bool isFocusInSight() const {
        const QQuickItem* item = m_window->activeFocusItem();
        const QRectF place = item->mapRectToScene(QRectF(0, 0, item->width(), item->height()));
        const QRectF window(0, 0, m_window->width(), m_window->height());
        return item->isVisible() && window.intersects(place) && window.contains(place.center());
    }
    [[nodiscard]] QImage picture() {
        QCoreApplication::processEvents();
        return m_window->grabWindow();
    }

    DemoWindow m_ports;
    std::unique_ptr<Desktop> m_desktop;
    QQuickWindow* m_window = nullptr;
};

TEST_F(DesktopTest, EscapeFromTheComposerStopsTheReply) {
    start({.reply = DemoReply::kKeepWriting, .text = "half an ans"});
    type("Hello");
    EXPECT_EQ(chat().draft(), QStringLiteral("Hello"));
    press(Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return chat().phase() == ReplyPhase::kWriting; }));
    press(Qt::Key_Escape);
    ASSERT_TRUE(waitFor([&] { return !chat().isBusy(); }));
    EXPECT_EQ(path().back().state, TurnState::kInterrupted);
    EXPECT_EQ(path().back().text, "half an ans");
}

TEST_F(DesktopTest, EscapeEndsAnEditAndBringsTheDraftBack) {
    start({.text = "Answer."});
    type("Q");
    press(Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2 && !chat().isBusy(); }));
    type("next");
    press(Qt::Key_E, Qt::ControlModifier);
    EXPECT_EQ(chat().draft(), QStringLiteral("Q"));
    press(Qt::Key_Escape);
    EXPECT_EQ(chat().draft(), QStringLiteral("next"));
}

TEST_F(DesktopTest, TabGoesThroughEveryScreenAndIsSeen) {
    start({.text = "<think>Hm.</think>Answer."});
    type("Q");
    press(Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2 && !chat().isBusy(); }));
    session().setInspectorOpen(true);
    constexpr int kMost = 200;
    for (const char* screen : {"chat", "models", "monitor", "server", "settings"}) {
        SCOPED_TRACE(screen);
        session().setScreen(QString::fromLatin1(screen));
        ASSERT_TRUE(waitFor([&] { return session().isIdle(); }));
        session().monitor()->setPaused(true);  // nothing else may move in the picture
        press(Qt::Key_Tab);
        const QQuickItem* first = m_window->activeFocusItem();
        ASSERT_NE(first, nullptr);
        std::set<const QQuickItem*> seen;
        QImage before = picture();
        do {
            const QQuickItem* item = m_window->activeFocusItem();
            seen.insert(item);
            EXPECT_FALSE(nameOfFocus().isEmpty()) << item->metaObject()->className();
            EXPECT_TRUE(isFocusInSight()) << nameOfFocus().toStdString();
            press(Qt::Key_Tab);
            const QImage after = picture();
            EXPECT_NE(before, after) << "no ring at " << nameOfFocus().toStdString();
            before = after;
        } while (m_window->activeFocusItem() != first && seen.size() < kMost);
        EXPECT_EQ(m_window->activeFocusItem(), first) << "Tab does not come around";
        EXPECT_GT(seen.size(), 8U);
    }
}

TEST_F(DesktopTest, WhatWasThoughtIsUnfoldedByKeys) {
    start({.text = "<think>Hm.</think>Answer."});
    type("Q");
    press(Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2 && !chat().isBusy(); }));
    const int folded = chat().transcript()->count();
    constexpr int kMost = 60;
    for (int i = 0; i < kMost && nameOfFocus() != QStringLiteral("Thinking"); ++i) {
        press(Qt::Key_Tab);
    }
    ASSERT_EQ(nameOfFocus(), QStringLiteral("Thinking"));
    press(Qt::Key_Return);
    EXPECT_EQ(chat().transcript()->count(), folded + 1);
    EXPECT_EQ(nameOfFocus(), QStringLiteral("Thinking")) << "the keys stay where they were";
    press(Qt::Key_Space);
    EXPECT_EQ(chat().transcript()->count(), folded);
}

TEST_F(DesktopTest, TabGoesOnInTheScreenThatWasOpened) {
    start({.text = {}});
    const std::pair<int, const char*> screens[] = {{Qt::Key_4, "Server"},
                                                   {Qt::Key_2, "Look again"},
                                                   {Qt::Key_3, "Pause"},
                                                   {Qt::Key_5, "System"}};
    for (const auto& [key, first] : screens) {
        press(key, Qt::ControlModifier);
        press(Qt::Key_Tab);
        EXPECT_EQ(nameOfFocus().toStdString(), first);
    }
    press(Qt::Key_1, Qt::ControlModifier);
    EXPECT_EQ(nameOfFocus(), QStringLiteral("Message"));
    press(Qt::Key_4, Qt::ControlModifier);
    EXPECT_EQ(nameOfFocus(), QStringLiteral("Server")) << "where the keys were";
}

TEST_F(DesktopTest, APortIsNotUndoneWhileItIsTyped) {
    start({.text = {}});
    session().setScreen(QStringLiteral("server"));
    for (int i = 0; i < 40 && nameOfFocus() != QStringLiteral("Port"); ++i) {
        press(Qt::Key_Tab);
    }
    ASSERT_EQ(nameOfFocus(), QStringLiteral("Port"));
    press(Qt::Key_A, Qt::ControlModifier);
    type("80");
    QSignalSpy polls(session().server(), &ServerPanel::changed);
    ASSERT_TRUE(waitFor([&] { return polls.count() >= 2; }));
    type("81");
    press(Qt::Key_Return);
    EXPECT_EQ(session().server()->port(), 8081);
}

TEST_F(DesktopTest, ScreenAndConversationAreThereAgain) {
    start({.text = "Answer."});
    type("Q");
    press(Qt::Key_Return);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2 && !chat().isBusy(); }));
    const qint64 conversation = chat().conversation();
    press(Qt::Key_3, Qt::ControlModifier);
    EXPECT_EQ(session().property("screen").toString(), QStringLiteral("monitor"));
    m_desktop.reset();
    start({.text = {}});
    EXPECT_EQ(session().property("screen").toString(), QStringLiteral("monitor"));
    EXPECT_EQ(chat().conversation(), conversation);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2; }));
}

}  // namespace
}  // namespace quern::ui
