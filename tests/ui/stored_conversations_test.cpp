#include "app/wiring/desktop/stored_conversations.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "app/chat/conversation_store.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

class StoredConversationsTest : public testing::Test {
protected:
    StoredConversationsTest()
        : m_store(ConversationStore::open(m_folder.path() / "quern.db").value()),
          m_conversations(*m_store) {}

    ConversationId create(const ui::ConversationSettings& settings = {}) {
        return m_store
            ->create({.title = "Title",
                      .model = {},
                      .systemPrompt = settings.systemPrompt,
                      .samplingJson = settingsToJson(settings)})
            .value();
    }

    test::TempFolder m_folder;
    std::unique_ptr<ConversationStore> m_store;
    StoredConversations m_conversations;
};

TEST_F(StoredConversationsTest, AReplyIsShownInAllItsStates) {
    const ConversationId id = create();
    const MessageId question = m_store->append(id, 0, "user", "q").value();
    Message reply;
    reply.id = m_store->beginReply(id, question, "m").value();
    reply.text = "half";
    reply.reasoning = "hm";
    ASSERT_TRUE(m_store->updateReply(reply));
    auto content = m_conversations.open(id).value();
    ASSERT_EQ(content.path.size(), 2U);
    EXPECT_EQ(content.path[1].state, ui::TurnState::kWriting);
    EXPECT_EQ(content.path[1].text, "half");
    EXPECT_EQ(content.path[1].reasoning, "hm");
    EXPECT_EQ(content.path[1].model, "m");
    EXPECT_FALSE(content.path[1].figures);
    reply.text = "half and half";
    reply.calls = {{.name = "look", .arguments = "{}"}};
    reply.stats = {.promptTokens = 30,
                   .cachedTokens = 16,
                   .completionTokens = 7,
                   .ttftMs = 12,
                   .tokensPerSecond = 42.5,
                   .stopReason = "eos"};
    ASSERT_TRUE(m_store->finishReply(reply));
    content = m_conversations.open(id).value();
    EXPECT_EQ(content.path[1].state, ui::TurnState::kComplete);
    EXPECT_EQ(content.path[1].text, "half and half");
    ASSERT_EQ(content.path[1].calls.size(), 1U);
    EXPECT_EQ(content.path[1].calls[0].name, "look");
    ASSERT_TRUE(content.path[1].figures);
    EXPECT_EQ(content.path[1].figures->cachedTokens, 16);
    EXPECT_EQ(content.path[1].figures->stop, "eos");
}

TEST_F(StoredConversationsTest, BranchesAreCountedAndChosen) {
    const ConversationId id = create();
    const MessageId question = m_store->append(id, 0, "user", "q").value();
    const MessageId first = m_store->beginReply(id, question, "m").value();
    const MessageId second = m_store->beginReply(id, question, "m").value();
    auto content = m_conversations.open(id).value();
    EXPECT_EQ(content.path.back().id, second);
    EXPECT_EQ(content.path.back().branch, 2);
    EXPECT_EQ(content.path.back().branches, 2);
    ASSERT_TRUE(m_conversations.selectSibling(id, second, -1));
    EXPECT_EQ(m_conversations.open(id)->path.back().id, first);
}

TEST_F(StoredConversationsTest, SettingsComeBackAsTheyWere) {
    ui::ConversationSettings settings;
    settings.systemPrompt = "Be brief.";
    settings.usesModelDefaults = false;
    settings.sampling.temperature = 0.25F;
    settings.sampling.topK = 40;
    settings.sampling.seed = 18446744073709551615ULL;
    settings.maxTokens = 99;
    settings.firstTurn = 12;
    const ConversationId id = create(settings);
    const ui::ConversationSettings back = m_conversations.open(id)->settings;
    EXPECT_EQ(back.systemPrompt, "Be brief.");
    EXPECT_FALSE(back.usesModelDefaults);
    EXPECT_FLOAT_EQ(back.sampling.temperature, 0.25F);
    EXPECT_EQ(back.sampling.topK, 40);
    EXPECT_EQ(back.sampling.seed, 18446744073709551615ULL);
    EXPECT_EQ(back.maxTokens, 99);
    EXPECT_EQ(back.firstTurn, 12);
}

TEST_F(StoredConversationsTest, ADeletedOneIsHiddenAndComesBack) {
    const ConversationId id = create();
    ASSERT_TRUE(m_conversations.remove(id));
    EXPECT_TRUE(m_conversations.list("")->empty());
    ASSERT_TRUE(m_conversations.restore(id));
    EXPECT_EQ(m_conversations.list("")->size(), 1U);
    EXPECT_FALSE(m_conversations.open(id + 1000));
}

TEST(SettingsJsonTest, DamagedTextGivesTheDefaults) {
    for (const char* text : {"", "{", "[1]", "null", R"({"temperature":"hot","topK":true})",
                             R"({"seed":-1,"usesModelDefaults":1})"}) {
        const ui::ConversationSettings settings = settingsFromJson(text);
        EXPECT_FLOAT_EQ(settings.sampling.temperature, 1.0F) << text;
        EXPECT_EQ(settings.sampling.topK, 0) << text;
        EXPECT_FALSE(settings.sampling.seed) << text;
        EXPECT_TRUE(settings.usesModelDefaults) << text;
    }
}

}  // namespace
}  // namespace quern::app
