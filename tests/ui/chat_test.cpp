#include "ui/chat/chat.h"

#include "tests/ui/chat_fixture.h"

namespace quern::ui {
namespace {

class ChatTest : public SessionTest {
protected:
    /// "half" of a reply to "Q" that could not be saved when it was stopped, and now could be.
    void stopWhileNothingIsSaved() {
        start({.reply = DemoReply::kKeepWriting, .text = "half"});
        say("Q");
        ASSERT_TRUE(waitForWriting());
        m_window.failOn("UPDATE");
        chat().stop();
        ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
        m_window.healOn("UPDATE");
    }
};

TEST_F(ChatTest, AMessageIsAnsweredAndSaved) {
    start({.text = "Hello **you**."});
    say("Hi there, this is a rather long first message that gives the name");
    ASSERT_TRUE(waitForRest());
    ASSERT_EQ(path().size(), 2U);
    EXPECT_EQ(path()[1].text, "Hello **you**.");
    EXPECT_EQ(path()[1].state, TurnState::kComplete);
    ASSERT_TRUE(path()[1].figures);
    EXPECT_EQ(path()[1].figures->stop, "eos");
    EXPECT_EQ(chat().draft(), QString());
    EXPECT_EQ(saved().path[1].text, "Hello **you**.");
    EXPECT_EQ(saved().path[1].state, TurnState::kComplete);
    EXPECT_EQ(saved().summary.title, "Hi there, this is a rather long first message…");
}

TEST_F(ChatTest, WithoutAModelNothingIsSentAndTheDraftStays) {
    start({.hasModel = false, .text = {}});
    say("Hi");
    EXPECT_FALSE(chat().isBusy());
    EXPECT_EQ(chat().draft(), QStringLiteral("Hi"));
    EXPECT_TRUE(m_window.saved().list("")->empty());
}

TEST_F(ChatTest, RegeneratingMakesABranchAndBothCanBeSeen) {
    start({.text = "Answer."});
    say("Q");
    ASSERT_TRUE(waitForRest());
    const std::int64_t first = path()[1].id;
    chat().regenerate(0);
    ASSERT_TRUE(waitFor([&] { return path().back().id != first; }));
    ASSERT_TRUE(waitForRest());
    ASSERT_TRUE(waitFor([&] { return path().back().branches == 2; }));
    EXPECT_EQ(path().back().branch, 2);
    chat().selectBranch(path().back().id, -1);
    ASSERT_TRUE(waitFor([&] { return path().back().id == first; }));
    chat().selectBranch(first, -1);  // there is none before the first
    ASSERT_TRUE(waitFor([&] { return m_session->isIdle(); }));
    EXPECT_EQ(path().back().id, first);
}

TEST_F(ChatTest, EditingSendsANewBranchOfTheUsersTurn) {
    start({.text = "Answer."});
    say("Q");
    ASSERT_TRUE(waitForRest());
    chat().setDraft(QStringLiteral("next"));
    chat().beginEdit(chat().lastUserTurn());
    EXPECT_EQ(chat().draft(), QStringLiteral("Q"));
    say("Better Q");
    ASSERT_TRUE(waitFor([&] { return path().front().text == "Better Q"; }));
    EXPECT_EQ(chat().draft(), QStringLiteral("next"));
    ASSERT_TRUE(waitForRest());
    ASSERT_TRUE(waitFor([&] { return path().front().branches == 2; }));
    EXPECT_EQ(path().size(), 2U);
}

TEST_F(ChatTest, AnEditThatCannotBeSentIsNotLost) {
    start({.text = "Answer."});
    say("Q");
    ASSERT_TRUE(waitForRest());
    chat().beginEdit(chat().lastUserTurn());
    m_window.failOn("INSERT");
    say("Better Q");
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    EXPECT_EQ(chat().draft(), QStringLiteral("Better Q"));
    EXPECT_EQ(chat().property("editing").toLongLong(), chat().lastUserTurn());
    m_window.healOn("INSERT");
    ASSERT_TRUE(waitFor([&] { return !chat().isBusy(); }));
    chat().send();
    ASSERT_TRUE(waitFor([&] { return path().front().text == "Better Q"; }));
    EXPECT_EQ(chat().property("editing").toLongLong(), 0);
}

TEST_F(ChatTest, StoppingKeepsWhatWasShownAndMarksIt) {
    start({.reply = DemoReply::kKeepWriting, .text = "half an ans"});
    say("Q");
    ASSERT_TRUE(waitForWriting());
    chat().stop();
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(path().back().text, "half an ans");
    EXPECT_EQ(path().back().state, TurnState::kInterrupted);
    EXPECT_EQ(saved().path.back().state, TurnState::kInterrupted);
}

TEST_F(ChatTest, ClosingTheWindowKeepsWhatWasShown) {
    start({.reply = DemoReply::kKeepWriting, .text = "half an ans"});
    say("Q");
    ASSERT_TRUE(waitForWriting());
    const qint64 conversation = chat().conversation();
    m_session.reset();
    m_window.endReplies();
    const auto saved = m_window.saved().open(conversation);
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->path.back().text, "half an ans");
    EXPECT_EQ(saved->path.back().state, TurnState::kInterrupted);
}

TEST_F(ChatTest, AReplyIsSavedWhileItGrows) {
    start({.reply = DemoReply::kKeepWriting, .text = "half an ans"});
    say("Q");
    ASSERT_TRUE(waitForWriting());
    // Nothing but the first piece ever comes: what is saved of it is what a kill would leave.
    ASSERT_TRUE(waitFor([&] { return saved().path.back().text == "half an ans"; }));
    EXPECT_EQ(saved().path.back().state, TurnState::kWriting);
}

TEST_F(ChatTest, AnErrorIsShownAndCanBeTriedAgain) {
    start({.reply = DemoReply::kFail, .text = "some"});
    say("Q");
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(path().back().state, TurnState::kFailed);
    EXPECT_EQ(path().back().failure, "the step needs 412 MiB of scratch, 96 MiB are free");
    EXPECT_EQ(path().back().text, "some");
}

TEST_F(ChatTest, WhatDoesNotFitIsRefusedWithTheDraftKept) {
    start({.reply = DemoReply::kRefuse, .text = {}});
    const std::string longText(40000, 'x');
    say(longText.c_str());
    ASSERT_TRUE(waitFor([&] { return !chat().property("refusal").toString().isEmpty(); }));
    EXPECT_TRUE(chat().property("isTooLong").toBool());
    EXPECT_EQ(chat().draft().size(), 40000);
    EXPECT_TRUE(m_window.saved().list("")->empty());
    chat().setDraft(QStringLiteral("shorter"));
    EXPECT_TRUE(chat().property("refusal").toString().isEmpty());
}

TEST_F(ChatTest, AFullDiskSendsNothingAndSaysSo) {
    start({.text = "Answer."});
    m_window.failOn("INSERT");
    say("Q");
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    ASSERT_TRUE(waitFor([&] { return !chat().isBusy(); }));
    EXPECT_EQ(chat().draft(), QStringLiteral("Q"));
    EXPECT_TRUE(m_session->notices()->cause().contains(QStringLiteral("disk is full")));
}

TEST_F(ChatTest, WhatTheNextMessageSavesIsNotSaidToBeUnsaved) {
    ASSERT_NO_FATAL_FAILURE(stopWhileNothingIsSaved());
    const std::int64_t reply = path().back().id;
    say("More");
    ASSERT_TRUE(waitFor([&] { return m_session->notices()->text().isEmpty(); }));
    EXPECT_EQ(m_window.saved().openThrough(chat().conversation(), reply)->path[1].text, "half");
}

TEST_F(ChatTest, AReplyThatCouldNotBeSavedCanBeSavedAgain) {
    ASSERT_NO_FATAL_FAILURE(stopWhileNothingIsSaved());
    m_session->notices()->act();
    ASSERT_TRUE(waitFor([&] { return saved().path.back().state == TurnState::kInterrupted; }));
    EXPECT_EQ(saved().path.back().text, "half");
}

TEST_F(ChatTest, AnUnsavedReplyStaysInSightAndIsSavedWithTheNextMessage) {
    start({.reply = DemoReply::kKeepWriting, .text = "half"});
    say("Q");
    ASSERT_TRUE(waitForWriting());
    const qint64 conversation = chat().conversation();
    m_window.failOn("UPDATE");
    chat().stop();
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    chat().newConversation();
    chat().open(conversation);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2; }));
    EXPECT_EQ(path()[1].text, "half");
    EXPECT_EQ(path()[1].state, TurnState::kInterrupted);
    m_window.healOn("UPDATE");
    say("next");
    ASSERT_TRUE(waitFor([&] { return path().size() == 4; }));
    EXPECT_EQ(saved().path[1].text, "half");
    EXPECT_EQ(saved().path[1].state, TurnState::kInterrupted);
}

TEST_F(ChatTest, WhatWasThoughtIsKeptApart) {
    start({.text = "<think>\nHm.\n</think>\n\nBecause."});
    say("Why?");
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(path()[1].reasoning, "Hm.\n");
    EXPECT_EQ(path()[1].text, "Because.");
    EXPECT_EQ(chat().textOf(path()[1].id), QStringLiteral("Because.")) << "what is copied";
    EXPECT_EQ(saved().path[1].reasoning, "Hm.\n");
    say("Go on");
    ASSERT_TRUE(waitFor([&] { return path().size() == 4; }));
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(saved().path[1].reasoning, "Hm.\n") << "not wiped by a later message";
}

TEST_F(ChatTest, ACallOfAToolIsNoText) {
    start({.text = "Let me see.\n<tool_call>\n{\"name\": \"look\", \"arguments\": {\"at\": 3}}\n"
                   "</tool_call>"});
    say("Look.");
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(path()[1].text, "Let me see.\n");
    ASSERT_EQ(path()[1].calls.size(), 1U);
    EXPECT_EQ(path()[1].calls[0].name, "look");
    EXPECT_EQ(path()[1].calls[0].arguments, "{\"at\": 3}");
    EXPECT_EQ(saved().path[1].calls, path()[1].calls);
    say("And now?");
    ASSERT_TRUE(waitFor([&] { return path().size() == 4; }));
    ASSERT_TRUE(waitForRest());
}

TEST_F(ChatTest, AReplyGoesOnWhileAnotherConversationIsOpen) {
    start({.reply = DemoReply::kKeepWriting, .text = "one"});
    say("Q");
    ASSERT_TRUE(waitForWriting());
    const qint64 first = chat().conversation();
    chat().newConversation();
    EXPECT_FALSE(chat().isBusy());
    EXPECT_TRUE(path().empty());
    chat().open(first);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2; }));
    EXPECT_TRUE(chat().isBusy());
    EXPECT_EQ(path().back().text, "one");
    EXPECT_EQ(path().back().state, TurnState::kWriting);
}

TEST_F(ChatTest, ADeletedConversationComesBack) {
    start({.text = "Answer."});
    say("Q");
    ASSERT_TRUE(waitForRest());
    const qint64 conversation = chat().conversation();
    chat().conversations()->remove(conversation);
    ASSERT_TRUE(waitFor([&] { return chat().conversation() == 0; }));
    ASSERT_TRUE(waitFor([&] { return chat().conversations()->count() == 0; }));
    chat().conversations()->undoRemove();
    ASSERT_TRUE(waitFor([&] { return chat().conversations()->count() == 1; }));
}

TEST_F(ChatTest, SearchFindsTextsAndTitles) {
    start({.text = "Basalt keeps its edge."});
    say("About stones");
    ASSERT_TRUE(waitForRest());
    chat().conversations()->setSearch(QStringLiteral("BASALT"));
    ASSERT_TRUE(waitFor([&] {
        return chat().conversations()->count() == 1 &&
               chat().conversations()->data(chat().conversations()->index(0),
                                            ConversationList::kSnippet) != QString();
    }));
    chat().conversations()->setSearch(QStringLiteral("granite"));
    ASSERT_TRUE(waitFor([&] { return chat().conversations()->count() == 0; }));
}

TEST_F(ChatTest, SettingsOfAConversationAreKept) {
    start({.text = "Answer."});
    chat().settings()->setSystemPrompt(QStringLiteral("Be brief."));
    chat().settings()->setSampling(QStringLiteral("temperature"), QStringLiteral("0.25"));
    chat().settings()->setSampling(QStringLiteral("topK"), QStringLiteral("not a number"));
    say("Q");
    ASSERT_TRUE(waitForRest());
    const ConversationSettings settings = saved().settings;
    EXPECT_EQ(settings.systemPrompt, "Be brief.");
    EXPECT_FLOAT_EQ(settings.sampling.temperature, 0.25F);
    EXPECT_EQ(settings.sampling.topK, 20) << "taken over from the model's own values";
    EXPECT_FALSE(settings.usesModelDefaults);
}

TEST_F(ChatTest, TheMeterCountsConversationAndDraft) {
    start({.text = "Answer."});
    chat().setDraft(QString(4000, u'x'));
    ASSERT_TRUE(waitFor([&] { return chat().meter()->used() > 900; }));
    EXPECT_FALSE(chat().meter()->isTight());
    EXPECT_EQ(chat().meter()->text(), QStringLiteral("0 + 1\u202F001 / 8\u202F192"));
    chat().setDraft(QString(30000, u'x'));
    ASSERT_TRUE(waitFor([&] { return chat().meter()->isTight(); }));
    EXPECT_FALSE(chat().meter()->isOver());
    chat().setDraft(QString(40000, u'x'));
    ASSERT_TRUE(waitFor([&] { return chat().meter()->isOver(); }));
}

TEST(ConversationListTest, DaysAreCalledAsPeopleCallThem) {
    const qint64 noon = 1768478400;
    EXPECT_EQ(ConversationList::dayName(noon - 3600, noon), QStringLiteral("Today"));
    EXPECT_EQ(ConversationList::dayName(noon - 86400, noon), QStringLiteral("Yesterday"));
    EXPECT_EQ(ConversationList::dayName(noon - 3 * 86400, noon), QStringLiteral("This week"));
    EXPECT_EQ(ConversationList::dayName(noon - 40 * 86400, noon), QStringLiteral("December 2025"));
}

}  // namespace
}  // namespace quern::ui
