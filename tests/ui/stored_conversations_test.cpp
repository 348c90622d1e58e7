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

    std::int64_t add(std::int64_t conversation, std::int64_t parent, const char* role,
                     ui::TurnState state, const char* text) {
        ui::Turn turn;
        turn.parent = parent;
        turn.role = role;
        turn.text = text;
        turn.state = state;
        turn.model = "m";
        return m_conversations.addTurn(conversation, turn).value();
    }

    test::TempFolder m_folder;
    std::unique_ptr<ConversationStore> m_store;
    StoredConversations m_conversations;
};

TEST_F(StoredConversationsTest, AReplyGoesThroughAllItsStates) {
    const std::int64_t id = m_conversations.create("Title", {}).value();
    const std::int64_t question = add(id, 0, "user", ui::TurnState::kComplete, "q");
    ui::Turn reply;
    reply.id = add(id, question, "assistant", ui::TurnState::kWriting, "");
    reply.state = ui::TurnState::kWriting;
    reply.text = "half";
    ASSERT_TRUE(m_conversations.updateTurn(id, reply));
    auto content = m_conversations.open(id).value();
    ASSERT_EQ(content.path.size(), 2U);
    EXPECT_EQ(content.path[1].state, ui::TurnState::kWriting);
    EXPECT_EQ(content.path[1].text, "half");
    EXPECT_FALSE(content.path[1].figures);
    reply.text = "half and half";
    reply.state = ui::TurnState::kComplete;
    reply.figures = ui::TurnFigures{.tokensPerSecond = 42.5,
                                    .ttftMs = 12,
                                    .promptTokens = 30,
                                    .cachedTokens = 16,
                                    .completionTokens = 7,
                                    .stop = "eos"};
    ASSERT_TRUE(m_conversations.updateTurn(id, reply));
    content = m_conversations.open(id).value();
    EXPECT_EQ(content.path[1].state, ui::TurnState::kComplete);
    EXPECT_EQ(content.path[1].text, "half and half");
    ASSERT_TRUE(content.path[1].figures);
    EXPECT_EQ(content.path[1].figures->cachedTokens, 16);
    EXPECT_EQ(content.path[1].figures->stop, "eos");
}

TEST_F(StoredConversationsTest, BranchesAreCountedAndChosen) {
    const std::int64_t id = m_conversations.create("Title", {}).value();
    const std::int64_t question = add(id, 0, "user", ui::TurnState::kComplete, "q");
    const std::int64_t first = add(id, question, "assistant", ui::TurnState::kWriting, "");
    const std::int64_t second = add(id, question, "assistant", ui::TurnState::kWriting, "");
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
    const std::int64_t id = m_conversations.create("Title", settings).value();
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
    const std::int64_t id = m_conversations.create("Title", {}).value();
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
