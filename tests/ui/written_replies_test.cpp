#include "app/wiring/desktop/written_replies.h"

#include <gtest/gtest.h>

#include <thread>

#include "app/chat/schema.h"
#include "app/wiring/desktop/stored_conversations.h"
#include "tests/support/scripted_engine.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

class WrittenRepliesTest : public testing::Test {
protected:
    WrittenRepliesTest()
        : m_store(ConversationStore::open(m_folder.path() / "quern.db").value()),
          m_service(std::make_unique<ChatService>(m_engine, *m_store)),
          m_replies(*m_service) {}

    static ui::ReplyView lookUntil(const ui::OrderedReply& reply, ui::ReplyPhase phase) {
        ui::ReplyView last;
        while (last.phase < phase) {
            if (auto view = reply.newerThan(last.version)) {
                last = std::move(*view);
            }
            std::this_thread::yield();
        }
        return last;
    }

    test::TempFolder m_folder;
    test::ScriptedEngine m_engine;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<ChatService> m_service;
    WrittenReplies m_replies;
};

TEST_F(WrittenRepliesTest, AnOrderIsWhatTheWindowAskedFor) {
    ui::ReplyOrder order;
    order.message = "How do mills work?";
    order.settings.systemPrompt = "Be brief.";
    order.settings.usesModelDefaults = false;
    order.settings.sampling.temperature = 0.25F;
    order.settings.maxTokens = 7;
    const auto reply = m_replies.order(order);
    const ui::ReplyView view = lookUntil(*reply, ui::ReplyPhase::kPrefill);
    ASSERT_TRUE(view.place);
    ASSERT_EQ(view.place->added.size(), 2U);
    EXPECT_EQ(view.place->added[0].text, "How do mills work?");
    EXPECT_EQ(view.place->promptText, "system:Be brief.|user:How do mills work?|");
    EXPECT_EQ(view.reply.id, view.place->added[1].id);
    EXPECT_EQ(view.reply.state, ui::TurnState::kWriting);
    const auto request = m_engine.submitted().at(0).request;
    EXPECT_FLOAT_EQ(request.sampling.temperature, 0.25F);
    EXPECT_EQ(request.output.maxTokens, 7);
    EXPECT_EQ(view.place->request, m_engine.running().at(0));
    const Conversation made = m_store->load(view.place->conversation).value();
    EXPECT_EQ(made.title, "How do mills work?");
    EXPECT_EQ(made.systemPrompt, "Be brief.");
    EXPECT_FLOAT_EQ(settingsFromJson(made.samplingJson).sampling.temperature, 0.25F);

    m_engine.say(m_engine.running().at(0), "So.");
    reply->stop();
    const ui::ReplyView end = lookUntil(*reply, ui::ReplyPhase::kEnded);
    EXPECT_EQ(end.reply.text, "So.");
    EXPECT_EQ(end.reply.state, ui::TurnState::kInterrupted);
    EXPECT_EQ(end.reply.figures->stop, "stopped");
    EXPECT_EQ(end.place, view.place) << "told once, not with every look";
}

TEST_F(WrittenRepliesTest, WhoLooksNoMoreDoesNotEndIt) {
    ui::ReplyOrder order;
    order.message = "Why?";
    auto reply = m_replies.order(order);
    const auto place = lookUntil(*reply, ui::ReplyPhase::kPrefill).place;
    reply.reset();
    m_engine.say(m_engine.running().at(0), "Because.");
    m_engine.finish(m_engine.running().at(0), {});
    m_service.reset();
    EXPECT_EQ(m_store->load(place->conversation)->path.back().text, "Because.");
}

TEST_F(WrittenRepliesTest, ARefusalSaysWhatKindItIs) {
    ui::ReplyOrder tooLong;
    tooLong.message = std::string(5000, 'x');
    const auto refused = lookUntil(*m_replies.order(tooLong), ui::ReplyPhase::kRefused);
    EXPECT_EQ(refused.phase, ui::ReplyPhase::kRefused);
    EXPECT_EQ(refused.error->code, ErrorCode::kContextLength);

    auto other = Database::open(m_folder.path() / "quern.db", kConversationSchema).value();
    ASSERT_TRUE(other->transact([](SQLite::Database& db) {
        db.exec(
            "CREATE TRIGGER fails BEFORE INSERT ON messages BEGIN "
            "SELECT RAISE(ABORT, 'the disk is full'); END");
    }));
    ui::ReplyOrder order;
    order.message = "Why?";
    EXPECT_EQ(lookUntil(*m_replies.order(order), ui::ReplyPhase::kRefused).phase,
              ui::ReplyPhase::kUnsaved);
}

}  // namespace
}  // namespace quern::app
