#include "ui/chat/chat.h"

#include "tests/ui/chat_fixture.h"
#include "ui/demo/demo_world.h"

namespace quern::ui {
namespace {

class ChatTest : public SessionTest {};

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
    const auto saved = m_store.open(chat().conversation());
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->path[1].text, "Hello **you**.");
    EXPECT_EQ(saved->path[1].state, TurnState::kComplete);
    EXPECT_EQ(saved->summary.title, "Hi there, this is a rather long first message…");
}

TEST_F(ChatTest, WithoutAModelNothingIsSentAndTheDraftStays) {
    start({.hasModel = false, .text = {}});
    say("Hi");
    EXPECT_FALSE(chat().isBusy());
    EXPECT_EQ(chat().draft(), QStringLiteral("Hi"));
    EXPECT_TRUE(m_store.list("")->empty());
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
    m_store.failWrites(true);
    say("Better Q");
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    EXPECT_EQ(chat().draft(), QStringLiteral("Better Q"));
    EXPECT_EQ(chat().property("editing").toLongLong(), chat().lastUserTurn());
    m_store.failWrites(false);
    chat().send();
    ASSERT_TRUE(waitFor([&] { return path().front().text == "Better Q"; }));
    EXPECT_EQ(chat().property("editing").toLongLong(), 0);
}

TEST_F(ChatTest, StoppingKeepsWhatWasShownAndMarksIt) {
    start({.reply = DemoReply::kKeepWriting, .text = "half an ans"});
    say("Q");
    ASSERT_TRUE(waitFor([&] { return chat().phase() == QStringLiteral("writing"); }));
    chat().stop();
    ASSERT_TRUE(waitForRest());
    EXPECT_EQ(path().back().text, "half an ans");
    EXPECT_EQ(path().back().state, TurnState::kInterrupted);
    EXPECT_EQ(m_store.open(chat().conversation())->path.back().state, TurnState::kInterrupted);
}

TEST_F(ChatTest, ClosingTheWindowKeepsWhatWasShown) {
    start({.reply = DemoReply::kKeepWriting, .text = "half an ans"});
    say("Q");
    ASSERT_TRUE(waitFor([&] { return chat().phase() == QStringLiteral("writing"); }));
    const qint64 conversation = chat().conversation();
    m_session.reset();
    const auto saved = m_store.open(conversation);
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->path.back().text, "half an ans");
    EXPECT_EQ(saved->path.back().state, TurnState::kInterrupted);
}

TEST_F(ChatTest, AReplyIsSavedWhileItGrows) {
    start({.reply = DemoReply::kKeepWriting, .text = "half an ans"});
    say("Q");
    ASSERT_TRUE(waitFor([&] { return chat().phase() == QStringLiteral("writing"); }));
    // Nothing but the first piece ever comes: what is saved of it is what a kill would leave.
    ASSERT_TRUE(waitFor([&] {
        const auto saved = m_store.open(chat().conversation());
        return saved && saved->path.back().state == TurnState::kWriting;
    }));
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
    EXPECT_TRUE(m_store.list("")->empty());
    chat().setDraft(QStringLiteral("shorter"));
    EXPECT_TRUE(chat().property("refusal").toString().isEmpty());
}

TEST_F(ChatTest, AFullDiskSendsNothingAndSaysSo) {
    start({.text = "Answer."});
    m_store.failWrites(true);
    say("Q");
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    EXPECT_FALSE(chat().isBusy());
    EXPECT_EQ(chat().draft(), QStringLiteral("Q"));
    EXPECT_TRUE(m_session->notices()->cause().contains(QStringLiteral("disk is full")));
}

TEST_F(ChatTest, AReplyThatCouldNotBeSavedCanBeSavedAgain) {
    start({.reply = DemoReply::kKeepWriting, .text = "half"});
    say("Q");
    ASSERT_TRUE(waitFor([&] { return chat().phase() == QStringLiteral("writing"); }));
    m_store.failWrites(true);
    chat().stop();
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    m_store.failWrites(false);
    m_session->notices()->act();
    ASSERT_TRUE(waitFor([&] {
        return m_store.open(chat().conversation())->path.back().state == TurnState::kInterrupted;
    }));
    EXPECT_EQ(m_store.open(chat().conversation())->path.back().text, "half");
}

TEST_F(ChatTest, AnUnsavedReplyStaysInSightAndIsSavedWithTheNextMessage) {
    start({.reply = DemoReply::kKeepWriting, .text = "half"});
    say("Q");
    ASSERT_TRUE(waitFor([&] { return chat().phase() == QStringLiteral("writing"); }));
    const qint64 conversation = chat().conversation();
    m_store.failWrites(true);
    chat().stop();
    ASSERT_TRUE(waitFor([&] { return !m_session->notices()->text().isEmpty(); }));
    chat().newConversation();
    chat().open(conversation);
    ASSERT_TRUE(waitFor([&] { return path().size() == 2; }));
    EXPECT_EQ(path()[1].text, "half");
    EXPECT_EQ(path()[1].state, TurnState::kInterrupted);
    m_store.failWrites(false);
    say("next");
    ASSERT_TRUE(waitFor([&] { return path().size() == 4; }));
    const auto saved = m_store.open(conversation);
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->path[1].text, "half");
    EXPECT_EQ(saved->path[1].state, TurnState::kInterrupted);
}

TEST_F(ChatTest, AReplyGoesOnWhileAnotherConversationIsOpen) {
    start({.reply = DemoReply::kKeepWriting, .text = "one"});
    say("Q");
    ASSERT_TRUE(waitFor([&] { return chat().phase() == QStringLiteral("writing"); }));
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
    const auto saved = m_store.open(chat().conversation());
    ASSERT_TRUE(saved);
    EXPECT_EQ(saved->settings.systemPrompt, "Be brief.");
    EXPECT_FLOAT_EQ(saved->settings.sampling.temperature, 0.25F);
    EXPECT_EQ(saved->settings.sampling.topK, 20) << "taken over from the model's own values";
    EXPECT_FALSE(saved->settings.usesModelDefaults);
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

TEST(PromptTest, TheOldestTurnsAreLeftOutUntilTheRestFits) {
    engine::LoadedModel model;
    model.tokenizer = makeDemoTokenizer();
    std::vector<Turn> path;
    for (std::int64_t id = 1; id <= 6; ++id) {
        Turn turn;
        turn.id = id;
        turn.parent = id - 1;
        turn.role = id % 2 == 1 ? "user" : "assistant";
        turn.text = std::string(399, 'x');
        path.push_back(turn);
    }
    EXPECT_EQ(firstTurnThatFits(model, {}, path, 600).value(), 0);
    EXPECT_EQ(firstTurnThatFits(model, {}, path, 599).value(), 3);
    EXPECT_EQ(firstTurnThatFits(model, {}, path, 200).value(), 5);
    EXPECT_EQ(firstTurnThatFits(model, {}, path, 199).value(), -1);
    Turn draft;
    draft.role = "user";
    draft.text = "abc";
    draft.parent = 6;
    path.push_back(draft);
    EXPECT_EQ(firstTurnThatFits(model, {}, path, 1).value(), 7);
}

TEST(PromptTest, FailedAndEmptyRepliesAreNotPartOfThePrompt) {
    Turn question;
    question.id = 1;
    question.role = "user";
    question.text = "q";
    Turn failed;
    failed.id = 2;
    failed.role = "assistant";
    failed.text = "half";
    failed.state = TurnState::kFailed;
    Turn empty = failed;
    empty.state = TurnState::kInterrupted;
    empty.text.clear();
    ConversationSettings settings;
    settings.systemPrompt = "s";
    const auto messages = promptMessages(settings, {question, failed, empty});
    ASSERT_EQ(messages.size(), 2U);
    EXPECT_EQ(messages[0].role, "system");
    EXPECT_EQ(messages[1].textParts, std::vector<std::string>{"q"});
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
