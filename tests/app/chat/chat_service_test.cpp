#include "app/chat/chat_service.h"

#include <gtest/gtest.h>

#include <condition_variable>
#include <limits>

#include "app/chat/schema.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

using engine::FinishInfo;
using engine::FinishReason;

/// Collects what a reply says and lets a test wait for it.
class Listener : public ReplyObserver {
public:
    void onStarted(const ReplyStart& start) override {
        note([&] { started = start; });
    }
    void onNews(const ReplyNews& news) override {
        note([&] {
            text += news.text;
            reasoning += news.reasoning;
            tokens += news.tokens;
        });
    }
    void onFinished(const Message& message, const std::optional<Error>& saveError) override {
        note([&] {
            finished = message;
            error = saveError;
        });
    }
    void onRefused(const Error& reason, Refusal at) override {
        note([&] {
            refused = reason;
            refusedAt = at;
        });
    }

    template <class Condition>
    void waitFor(Condition condition) {
        std::unique_lock lock(m_mutex);
        ASSERT_TRUE(m_changed.wait_for(lock, std::chrono::seconds(20), condition));
    }

    std::optional<ReplyStart> started;
    std::string text;
    std::string reasoning;
    std::int32_t tokens = 0;
    std::optional<Message> finished;
    std::optional<Error> error;
    std::optional<Error> refused;
    Refusal refusedAt = Refusal::kPrompt;

private:
    template <class Change>
    void note(Change change) {
        {
            const std::lock_guard lock(m_mutex);
            change();
        }
        m_changed.notify_all();
    }
    std::mutex m_mutex;
    std::condition_variable m_changed;
};

class ChatServiceTest : public ::testing::Test {
protected:
    ChatServiceTest()
        : m_store(ConversationStore::open(m_temp.path() / "quern.db").value()),
          m_service(std::make_unique<ChatService>(m_engine, *m_store)),
          m_conversation(m_store->create({.title = "t"}).value()),
          m_question(m_store->append(m_conversation, 0, "user", "Why?").value()) {}

    // An answer to the question.
    [[nodiscard]] ReplyOrder order() const {
        ReplyOrder order;
        order.conversation = m_conversation;
        order.parent = m_question;
        return order;
    }

    std::shared_ptr<Listener> ask(ReplyOrder order) {
        auto listener = std::make_shared<Listener>();
        m_ticket = m_service->reply(std::move(order), listener);
        listener->waitFor([&] { return listener->started || listener->refused; });
        return listener;
    }
    std::shared_ptr<Listener> ask() { return ask(order()); }

    // Makes writes of messages fail, as on a full disk, until heal().
    void failOn(const std::string& what) {
        change("CREATE TRIGGER fails BEFORE " + what +
               " ON messages BEGIN SELECT RAISE(ABORT, 'the disk is full'); END");
    }
    void heal() { change("DROP TRIGGER fails"); }
    void change(const std::string& sql) {
        auto other = Database::open(m_temp.path() / "quern.db", kConversationSchema).value();
        ASSERT_TRUE(other->transact([&](SQLite::Database& db) { db.exec(sql); }));
    }

    static void waitForEnd(Listener& listener) {
        listener.waitFor([&] { return listener.finished.has_value(); });
    }

    test::TempFolder m_temp;
    test::ScriptedEngine m_engine;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<ChatService> m_service;
    ConversationId m_conversation;
    MessageId m_question;
    ChatService::Ticket m_ticket = 0;
};

TEST_F(ChatServiceTest, StreamsAndSavesAReply) {
    ASSERT_TRUE(m_store->setSystemPrompt(m_conversation, "Be brief."));
    const auto listener = ask();
    EXPECT_EQ(m_engine.submitted().at(0).promptText, "system:Be brief.|user:Why?|");
    const auto id = m_engine.running().at(0);
    m_engine.say(id, "Because");
    m_engine.say(id, " so.");
    FinishInfo info;
    info.reason = FinishReason::kStop;
    info.stopToken = 2;
    info.usage.decodeSeconds = 1.0;
    m_engine.finish(id, info);
    waitForEnd(*listener);
    EXPECT_EQ(listener->text, "Because so.");
    EXPECT_FALSE(listener->error);

    const auto saved = m_store->load(m_conversation).value().path.at(1);
    EXPECT_EQ(saved.text, "Because so.");
    EXPECT_EQ(saved.state, MessageState::kDone);
    EXPECT_EQ(saved.model, "scripted");
    EXPECT_EQ(saved.stats.stopReason, "eos");
    EXPECT_EQ(saved.stats.completionTokens, 11);
    EXPECT_DOUBLE_EQ(saved.stats.tokensPerSecond, 10.0) << "the first token is the prefill's";
}

TEST_F(ChatServiceTest, StopKeepsWhatWasWritten) {
    const auto listener = ask();
    m_engine.say(m_engine.running().at(0), "Half");
    m_service->stop(m_ticket);
    waitForEnd(*listener);
    EXPECT_EQ(listener->finished->text, "Half");
    EXPECT_EQ(listener->finished->stats.stopReason, "stopped");
    EXPECT_EQ(m_store->load(m_conversation).value().path.at(1).state, MessageState::kInterrupted);
    EXPECT_TRUE(m_engine.running().empty());
}

TEST_F(ChatServiceTest, AnAnswerToTheSameQuestionIsABranch) {
    for (int i = 0; i < 2; ++i) {
        const auto listener = ask();
        m_engine.say(m_engine.running().at(0), "x");
        m_service->stop(m_ticket);
        waitForEnd(*listener);
    }
    EXPECT_EQ(m_store->load(m_conversation).value().path.at(1).branches, 2);
    EXPECT_EQ(m_engine.submitted().at(1).promptText, "user:Why?|")
        << "the first answer is not sent";
}

TEST_F(ChatServiceTest, ContinuingGoesOnWithTheText) {
    ReplyOrder order = this->order();
    order.parent = m_store->append(m_conversation, m_question, "assistant", "Whill").value();
    order.continuesParent = true;
    const auto listener = ask(order);
    EXPECT_EQ(listener->started->added.back().text, "Whill");
    m_engine.say(m_engine.running().at(0), " do");
    m_service->stop(m_ticket);
    waitForEnd(*listener);
    EXPECT_EQ(listener->finished->text, "Whill do");
    EXPECT_EQ(m_store->load(m_conversation).value().path.size(), 2U) << "a branch, not a new turn";
}

TEST_F(ChatServiceTest, AFirstMessageMakesItsConversation) {
    ReplyOrder order;
    order.message = "How do mills work?\nExactly.";
    order.systemPrompt = "Be brief.";
    const auto listener = ask(order);
    ASSERT_TRUE(listener->started);
    ASSERT_EQ(listener->started->added.size(), 2U);
    EXPECT_EQ(listener->started->added[0].text, *order.message);
    EXPECT_EQ(listener->started->promptText, "system:Be brief.|user:" + *order.message + "|");
    const auto made = m_store->load(listener->started->conversation).value();
    EXPECT_EQ(made.title, "How do mills work? Exactly.");
    EXPECT_EQ(made.systemPrompt, "Be brief.");
    ASSERT_EQ(made.path.size(), 2U);
    EXPECT_EQ(made.path[1].state, MessageState::kStreaming);
    m_service->stopAll();
    waitForEnd(*listener);
}

TEST_F(ChatServiceTest, ReasoningIsKeptApart) {
    m_engine.speakLike("{# <think> #}");
    const auto listener = ask();
    const auto id = m_engine.running().at(0);
    m_engine.say(id, "<think>Hm");
    m_engine.say(id, ".</think>\n\nBecause.");
    m_engine.finish(id, {});
    waitForEnd(*listener);
    EXPECT_EQ(listener->text, "Because.");
    EXPECT_EQ(listener->reasoning, "Hm.");
    const auto saved = m_store->load(m_conversation).value().path.at(1);
    EXPECT_EQ(saved.text, "Because.");
    EXPECT_EQ(saved.reasoning, "Hm.");

    ReplyOrder next = order();
    next.parent = saved.id;
    next.message = "Go on.";
    const auto second = ask(next);
    const auto submitted = m_engine.submitted();
    const auto& prompt = std::get<engine::ChatPrompt>(submitted.at(1).request.prompt).messages;
    ASSERT_EQ(prompt.size(), 3U);
    EXPECT_EQ(prompt[1].reasoning, "Hm.") << "the template decides whether it is said again";
    m_service->stopAll();
    waitForEnd(*second);
}

TEST_F(ChatServiceTest, CallsAreKeptApartAndSentAgain) {
    m_engine.speakLike("{# <tool_call> #}");
    const auto listener = ask();
    const auto id = m_engine.running().at(0);
    m_engine.say(id, "Let me see.<tool_c");
    m_engine.say(id, R"(all>{"name": "look", "arguments": {"at": 3}}</tool_call>)");
    m_engine.finish(id, {});
    waitForEnd(*listener);
    const std::vector<MessageCall> calls{{.name = "look", .arguments = R"({"at": 3})"}};
    EXPECT_EQ(listener->text, "Let me see.");
    EXPECT_EQ(listener->finished->calls, calls);
    const auto saved = m_store->load(m_conversation).value().path.at(1);
    EXPECT_EQ(saved.text, "Let me see.");
    EXPECT_EQ(saved.calls, calls);

    ReplyOrder next = order();
    next.parent = saved.id;
    next.message = "Go on.";
    const auto second = ask(next);
    const auto submitted = m_engine.submitted();
    const auto& prompt = std::get<engine::ChatPrompt>(submitted.at(1).request.prompt).messages;
    ASSERT_EQ(prompt.at(1).toolCalls.size(), 1U);
    EXPECT_EQ(prompt[1].toolCalls[0].name, "look");
    EXPECT_EQ(prompt[1].toolCalls[0].id.size(), 9U);
    m_service->stopAll();
    waitForEnd(*second);
}

TEST_F(ChatServiceTest, AnAnswerInBareJsonStaysAnAnswer) {
    m_engine.speakLike(R"({# {"name": function name, "parameters": dictionary #})");
    const auto listener = ask();
    const auto id = m_engine.running().at(0);
    m_engine.say(id, R"({"name": "Ada", "parameters": {}})");
    m_engine.finish(id, {});
    waitForEnd(*listener);
    EXPECT_EQ(listener->text, R"({"name": "Ada", "parameters": {}})");
    EXPECT_TRUE(listener->finished->calls.empty());
}

TEST_F(ChatServiceTest, AConversationHasOneReplyAtATime) {
    const auto first = ask();
    const auto ticket = m_ticket;
    EXPECT_EQ(ask()->refused->code, ErrorCode::kConflict);
    EXPECT_EQ(m_store->load(m_conversation).value().path.size(), 2U);
    m_service->stop(ticket);
    waitForEnd(*first);
    const auto second = ask();
    EXPECT_TRUE(second->started);
    m_service->stopAll();
    waitForEnd(*second);
}

TEST_F(ChatServiceTest, NothingGoesBelowWhatAnotherProgramStillWrites) {
    const auto other = ConversationStore::open(m_temp.path() / "quern.db").value();
    Message theirs;
    theirs.id = other->beginReply(m_conversation, m_question, "m").value();
    theirs.text = "Half";
    ASSERT_TRUE(other->updateReply(theirs));
    ReplyOrder below = order();
    below.parent = theirs.id;
    below.message = "Go on.";
    const auto refused = ask(below);
    ASSERT_TRUE(refused->refused);
    EXPECT_EQ(refused->refused->code, ErrorCode::kConflict);
    EXPECT_EQ(m_store->load(m_conversation).value().path.back().id, theirs.id);
    ASSERT_TRUE(other->finishReply(theirs));
    const auto sent = ask(below);
    EXPECT_TRUE(sent->started);
    m_service->stopAll();
    waitForEnd(*sent);
}

TEST_F(ChatServiceTest, ARefusedRequestAddsNothing) {
    ReplyOrder unknown = order();
    unknown.model = "nobody";
    EXPECT_EQ(ask(unknown)->refused->code, ErrorCode::kNotFound);

    ReplyOrder tooLong;
    tooLong.message = std::string(5000, 'x');
    EXPECT_EQ(ask(tooLong)->refused->code, ErrorCode::kContextLength);
    EXPECT_EQ(m_store->list("", 10).value().size(), 1U) << "no conversation was made for it";
}

TEST_F(ChatServiceTest, WhatCannotBeSavedIsNotSent) {
    failOn("INSERT");
    const auto listener = ask();
    ASSERT_TRUE(listener->refused);
    EXPECT_EQ(listener->refusedAt, Refusal::kStore);
    EXPECT_TRUE(m_engine.submitted().empty());
}

TEST_F(ChatServiceTest, AReplyThatCouldNotBeSavedCanBeSavedAgain) {
    const auto listener = ask();
    failOn("UPDATE");
    m_engine.say(m_engine.running().at(0), "Half");
    m_service->stop(m_ticket);
    waitForEnd(*listener);
    EXPECT_TRUE(listener->error);
    EXPECT_FALSE(m_service->saveAgain());
    heal();
    EXPECT_TRUE(m_service->saveAgain());
    EXPECT_EQ(m_store->load(m_conversation).value().path.at(1).text, "Half");
}

TEST_F(ChatServiceTest, AnUnsavedReplyIsSavedBeforeTheNextOne) {
    const auto listener = ask();
    failOn("UPDATE");
    m_engine.say(m_engine.running().at(0), "Half");
    m_service->stop(m_ticket);
    waitForEnd(*listener);
    heal();
    ReplyOrder next = order();
    next.parent = listener->finished->id;
    next.message = "Go on.";
    const auto second = ask(next);
    EXPECT_EQ(m_engine.submitted().at(1).promptText, "user:Why?|assistant:Half|user:Go on.|");
    m_service->stopAll();
    waitForEnd(*second);
}

TEST_F(ChatServiceTest, AStoppedOrderThatHasNotBegunIsTakenBack) {
    auto first = std::make_shared<Listener>();
    auto second = std::make_shared<Listener>();
    // The thread is in the first one's prepare() while the second waits and is stopped.
    m_engine.holdPrepare();
    m_service->reply(order(), first);
    const auto ticket = m_service->reply(order(), second);
    m_service->stop(ticket);
    m_engine.releasePrepare();
    second->waitFor([&] { return second->refused.has_value(); });
    EXPECT_EQ(second->refused->code, ErrorCode::kCancelled);
    EXPECT_EQ(m_engine.submitted().size(), 1U);
    m_service->stopAll();
    waitForEnd(*first);
}

TEST_F(ChatServiceTest, AFullQueueIsShownInTheConversation) {
    m_engine.refuse(Error{.code = ErrorCode::kBusy, .message = "1024 requests wait already"});
    const auto listener = ask();
    waitForEnd(*listener);
    EXPECT_EQ(listener->finished->state, MessageState::kFailed);
    EXPECT_EQ(listener->finished->error, "1024 requests wait already");
}

TEST_F(ChatServiceTest, DestructionEndsWhatRuns) {
    const auto listener = ask();
    m_engine.say(m_engine.running().at(0), "Half");
    m_service.reset();
    ASSERT_TRUE(listener->finished);
    EXPECT_EQ(listener->finished->text, "Half");
}

}  // namespace
}  // namespace quern::app
