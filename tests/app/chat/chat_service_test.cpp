#include "app/chat/chat_service.h"

#include <gtest/gtest.h>

#include <condition_variable>

#include "tests/support/scripted_engine.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

using engine::FinishInfo;
using engine::FinishReason;

/// Collects what a reply says and lets a test wait for it.
class Listener : public ReplyObserver {
public:
    void onStarted(MessageId id, std::int32_t) override {
        note([&] { started = id; });
    }
    void onText(MessageId, const std::string& delta) override {
        note([&] { text += delta; });
    }
    void onFinished(const Message& message, const std::optional<Error>& saveError) override {
        note([&] {
            finished = message;
            error = saveError;
        });
    }
    void onRefused(const Error& reason) override {
        note([&] { refused = reason; });
    }

    template <class Condition>
    void waitFor(Condition condition) {
        std::unique_lock lock(m_mutex);
        ASSERT_TRUE(m_changed.wait_for(lock, std::chrono::seconds(20), condition));
    }

    MessageId started = 0;
    std::string text;
    std::optional<Message> finished;
    std::optional<Error> error;
    std::optional<Error> refused;

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
          m_conversation(m_store->create("t", "").value()),
          m_question(m_store->append(m_conversation, 0, "user", "Why?").value()) {}

    std::shared_ptr<Listener> ask(ReplyOptions options = {}) {
        auto listener = std::make_shared<Listener>();
        m_service->reply(m_conversation, m_question, std::move(options), listener);
        listener->waitFor([&] { return listener->started != 0 || listener->refused; });
        return listener;
    }

    test::TempFolder m_temp;
    test::ScriptedEngine m_engine;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<ChatService> m_service;
    ConversationId m_conversation;
    MessageId m_question;
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
    listener->waitFor([&] { return listener->finished.has_value(); });
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
    m_service->stop(listener->started);
    listener->waitFor([&] { return listener->finished.has_value(); });
    EXPECT_EQ(listener->finished->text, "Half");
    EXPECT_EQ(listener->finished->stats.stopReason, "stopped");
    EXPECT_TRUE(m_engine.running().empty());
}

TEST_F(ChatServiceTest, AnAnswerToTheSameQuestionIsABranch) {
    for (int i = 0; i < 2; ++i) {
        const auto listener = ask();
        m_engine.say(m_engine.running().at(0), "x");
        m_service->stop(listener->started);
        listener->waitFor([&] { return listener->finished.has_value(); });
    }
    EXPECT_EQ(m_store->load(m_conversation).value().path.at(1).branches, 2);
    EXPECT_EQ(m_engine.submitted().at(1).promptText, "user:Why?|")
        << "the first answer is not sent";
}

TEST_F(ChatServiceTest, ContinuingGoesOnWithTheText) {
    const auto reply = m_store->append(m_conversation, m_question, "assistant", "Whill").value();
    auto listener = std::make_shared<Listener>();
    m_service->reply(m_conversation, reply, {.continueReply = true}, listener);
    listener->waitFor([&] { return listener->started != 0; });
    m_engine.say(m_engine.running().at(0), " do");
    m_service->stop(listener->started);
    listener->waitFor([&] { return listener->finished.has_value(); });
    EXPECT_EQ(listener->finished->text, "Whill do");
    EXPECT_EQ(m_store->load(m_conversation).value().path.size(), 2U) << "a branch, not a new turn";
}

TEST_F(ChatServiceTest, ARefusedRequestAddsNothing) {
    const auto unknown = ask({.model = "nobody"});
    ASSERT_TRUE(unknown->refused);
    EXPECT_EQ(unknown->refused->code, ErrorCode::kNotFound);

    const auto longText =
        m_store->append(m_conversation, 0, "user", std::string(5000, 'x')).value();
    auto listener = std::make_shared<Listener>();
    m_service->reply(m_conversation, longText, {}, listener);
    listener->waitFor([&] { return listener->refused.has_value(); });
    EXPECT_EQ(listener->refused->code, ErrorCode::kContextLength);
    EXPECT_EQ(m_store->load(m_conversation).value().path.size(), 1U);
}

TEST_F(ChatServiceTest, AFullQueueIsShownInTheConversation) {
    m_engine.refuse(Error{.code = ErrorCode::kBusy, .message = "1024 requests wait already"});
    const auto listener = ask();
    listener->waitFor([&] { return listener->finished.has_value(); });
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

TEST_F(ChatServiceTest, MeasuresADraft) {
    std::mutex mutex;
    std::condition_variable changed;
    std::optional<std::int32_t> tokens;
    m_service->measure(m_conversation, "more", {}, [&](Result<std::int32_t> count) {
        const std::lock_guard lock(mutex);
        tokens = count.value();
        changed.notify_all();
    });
    std::unique_lock lock(mutex);
    ASSERT_TRUE(
        changed.wait_for(lock, std::chrono::seconds(20), [&] { return tokens.has_value(); }));
    EXPECT_EQ(*tokens, static_cast<std::int32_t>(std::string("user:Why?|user:more|").size()));
}

}  // namespace
}  // namespace quern::app
