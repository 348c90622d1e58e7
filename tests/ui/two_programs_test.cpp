// The window beside another program over the same conversations.
#include "tests/ui/chat_fixture.h"

namespace quern::ui {
namespace {

class TwoProgramsTest : public SessionTest {
protected:
    void startAndSay(const char* text) {
        start({.text = "Answer."});
        say(text);
        ASSERT_TRUE(waitForRest());
        m_other = m_window.otherProgram();
    }
    [[nodiscard]] std::int64_t open() { return chat().conversation(); }

    std::unique_ptr<app::ConversationStore> m_other;
};

TEST_F(TwoProgramsTest, AConversationThatIsMadeThereIsListedHere) {
    start({.text = "Answer."});
    m_other = m_window.otherProgram();
    const auto made = m_other->create({.title = "From there"});
    ASSERT_TRUE(made);
    ASSERT_TRUE(waitFor([&] { return chat().conversations()->rowOf(*made) == 0; }));
    ASSERT_TRUE(m_other->rename(*made, "Renamed there"));
    ASSERT_TRUE(waitFor(
        [&] { return chat().conversations()->titleOf(*made) == QStringLiteral("Renamed there"); }));
}

TEST_F(TwoProgramsTest, WhatIsAddedThereIsShownBelow) {
    startAndSay("Q");
    const auto question = m_other->append(open(), path().back().id, "user", "More?");
    ASSERT_TRUE(question);
    app::Message reply;
    reply.id = m_other->beginReply(open(), *question, "m").value();
    reply.text = "Wri";
    ASSERT_TRUE(m_other->updateReply(reply));
    ASSERT_TRUE(waitFor([&] { return path().size() == 4 && path().back().text == "Wri"; }));
    EXPECT_EQ(path().back().state, TurnState::kWriting);
    reply.text = "Written there";
    ASSERT_TRUE(m_other->finishReply(reply));
    ASSERT_TRUE(waitFor([&] { return path().back().state == TurnState::kComplete; }));
    EXPECT_EQ(path().back().text, "Written there");
}

TEST_F(TwoProgramsTest, EachKeepsItsBranch) {
    startAndSay("Q");
    const std::int64_t ours = path().back().id;
    // There, somebody had the first message answered again, and goes on from that.
    const auto theirs = m_other->beginReply(open(), path().front().id, "m");
    ASSERT_TRUE(theirs);
    ASSERT_TRUE(m_other->append(open(), *theirs, "user", "There"));
    ASSERT_TRUE(waitFor([&] { return path().back().branches == 2; }));
    EXPECT_EQ(path().back().id, ours);
    say("Here");
    ASSERT_TRUE(waitFor([&] { return path().size() == 4; }));
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(path()[1].id, ours);
    EXPECT_EQ(path()[2].text, "Here");
    EXPECT_EQ(m_other->loadBelow(open(), *theirs)->path.back().text, "There");
    chat().selectBranch(ours, 1);
    ASSERT_TRUE(waitFor([&] { return path().back().text == "There"; }));
}

TEST_F(TwoProgramsTest, OursIsShownToItsEndAlsoWithAMessageBelow) {
    start({.reply = DemoReply::kKeepWriting, .text = "Ours goes on"});
    say("Q");
    ASSERT_TRUE(waitForWriting());
    m_other = m_window.otherProgram();
    const std::int64_t ours = path().back().id;
    ASSERT_TRUE(m_other->append(open(), ours, "user", "Below"));
    ASSERT_TRUE(waitFor([&] { return path().size() == 3; }));
    EXPECT_EQ(path()[1].state, TurnState::kWriting);
    chat().stop();
    ASSERT_TRUE(waitFor([&] { return path()[1].state == TurnState::kInterrupted; }));
    EXPECT_EQ(path()[1].text, "Ours goes on");
    EXPECT_EQ(path()[2].text, "Below");
}

TEST_F(TwoProgramsTest, NothingIsSentBelowWhatIsStillWrittenThere) {
    startAndSay("Q");
    const auto question = m_other->append(open(), path().back().id, "user", "More?");
    app::Message reply;
    reply.id = m_other->beginReply(open(), question.value(), "m").value();
    ASSERT_TRUE(waitFor([&] { return path().size() == 4; }));
    say("Too early");
    ASSERT_TRUE(waitFor([&] { return !chat().property("refusal").toString().isEmpty(); }));
    EXPECT_EQ(chat().draft(), QStringLiteral("Too early"));
    EXPECT_EQ(path().size(), 4U);
    ASSERT_TRUE(m_other->finishReply(reply));
}

TEST_F(TwoProgramsTest, BothWriteAtOnceAndNothingIsLost) {
    start({.reply = DemoReply::kKeepWriting, .text = "Ours goes on"});
    say("Q");
    ASSERT_TRUE(waitForWriting());
    m_other = m_window.otherProgram();
    app::Message reply;
    reply.id = m_other->beginReply(open(), path().front().id, "m").value();
    reply.text = "Theirs";
    ASSERT_TRUE(m_other->finishReply(reply));
    ASSERT_TRUE(waitFor([&] { return path().back().branches == 2; }));
    EXPECT_EQ(path().back().state, TurnState::kWriting) << "ours, which goes on";
    chat().stop();
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(path().back().text, "Ours goes on");
    EXPECT_EQ(m_other->loadBelow(open(), path().back().id)->path.back().text, "Ours goes on");
    EXPECT_EQ(m_other->loadBelow(open(), reply.id)->path.back().text, "Theirs");
}

}  // namespace
}  // namespace quern::ui
