#include "app/chat/conversation_store.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>

#include "app/chat/schema.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

class ConversationStoreTest : public ::testing::Test {
protected:
    ConversationStore& open() {
        auto opened = ConversationStore::open(m_temp.path() / "quern.db");
        EXPECT_TRUE(opened) << opened.error().message;
        m_store = std::move(*opened);
        return *m_store;
    }
    test::TempFolder m_temp;
    std::unique_ptr<ConversationStore> m_store;
};

TEST_F(ConversationStoreTest, KeepsAConversationAcrossOpens) {
    ConversationId id = 0;
    {
        auto& store = open();
        id = store.create({.title = "Mills", .model = "smol"}).value();
        const auto question = store.append(id, 0, "user", "How does a quern work? 你好").value();
        const auto reply = store.beginReply(id, question, "smol").value();
        Message message;
        message.id = reply;
        message.text = "Two sto";
        ASSERT_TRUE(store.updateReply(message));
        message.text = "Two stones.";
        message.reasoning = "Mills, then.";
        message.stats = {.promptTokens = 12,
                         .cachedTokens = 0,
                         .completionTokens = 4,
                         .ttftMs = 20.5,
                         .tokensPerSecond = 50.0,
                         .stopReason = "eos"};
        ASSERT_TRUE(store.finishReply(message));
    }
    const auto conversation = open().load(id).value();
    ASSERT_EQ(conversation.path.size(), 2U);
    EXPECT_EQ(conversation.path[0].text, "How does a quern work? 你好");
    EXPECT_EQ(conversation.path[1].text, "Two stones.");
    EXPECT_EQ(conversation.path[1].reasoning, "Mills, then.");
    EXPECT_EQ(conversation.path[1].stats.stopReason, "eos");
    EXPECT_EQ(conversation.path[1].stats.ttftMs, 20.5);
}

TEST_F(ConversationStoreTest, BranchesKeepTheirTails) {
    auto& store = open();
    const auto id = store.create({.title = "t", .model = "m"}).value();
    const auto question = store.append(id, 0, "user", "q").value();
    const auto first = store.append(id, question, "assistant", "a1").value();
    store.append(id, first, "user", "follow-up").value();
    const auto second = store.append(id, question, "assistant", "a2").value();
    auto path = store.load(id).value().path;
    ASSERT_EQ(path.size(), 2U);
    EXPECT_EQ(path[1].text, "a2");
    EXPECT_EQ(path[1].branch, 2);
    EXPECT_EQ(path[1].branches, 2);

    ASSERT_TRUE(store.selectSibling(second, -1));
    path = store.load(id).value().path;
    ASSERT_EQ(path.size(), 3U) << "the first branch comes back with what followed it";
    EXPECT_EQ(path[2].text, "follow-up");

    ASSERT_TRUE(store.selectSibling(first, -1)) << "past the end nothing changes";
    EXPECT_EQ(store.load(id).value().path.size(), 3U);
}

TEST_F(ConversationStoreTest, AFileOfTheFirstVersionIsBroughtUpToDate) {
    const auto file = m_temp.path() / "quern.db";
    {
        auto old = Database::open(file, std::span(kConversationSchema).first(1)).value();
        ASSERT_TRUE(old->transact([](SQLite::Database& db) {
            db.exec(
                "INSERT INTO conversations(title, created_ms, updated_ms, leaf) "
                "VALUES ('old', 1, 1, 1)");
            db.exec(
                "INSERT INTO messages(conversation, parent, role, text, state, created_ms) "
                "VALUES (1, 0, 'assistant', 'hello', 0, 1)");
        }));
    }
    const auto path = open().load(1).value().path;
    ASSERT_EQ(path.size(), 1U);
    EXPECT_EQ(path[0].text, "hello");
    EXPECT_EQ(path[0].reasoning, "");
}

TEST_F(ConversationStoreTest, APathCanEndAtAnyMessage) {
    auto& store = open();
    const auto id = store.create({.title = "t", .model = "m"}).value();
    const auto question = store.append(id, 0, "user", "q").value();
    const auto first = store.append(id, question, "assistant", "a1").value();
    store.append(id, question, "assistant", "a2").value();
    EXPECT_EQ(store.load(id, first).value().path.back().text, "a1") << "though a2 is selected";
    EXPECT_EQ(store.load(id, question).value().path.size(), 1U);
    EXPECT_TRUE(store.load(id, 0).value().path.empty());
}

TEST_F(ConversationStoreTest, AKilledWriterLosesNothingThatWasShown) {
    int ready[2];
    ASSERT_EQ(::pipe(ready), 0);
    const auto file = m_temp.path() / "quern.db";
    const pid_t child = ::fork();
    if (child == 0) {
        auto store = ConversationStore::open(file);
        const auto id = (*store)->create({.title = "t", .model = "m"}).value();
        const auto question = (*store)->append(id, 0, "user", "q").value();
        const auto reply = (*store)->beginReply(id, question, "m").value();
        Message message;
        message.id = reply;
        message.text = "what was shown";
        if (!(*store)->updateReply(message)) {
            ::_exit(1);
        }
        if (::write(ready[1], "x", 1) != 1) {
            ::_exit(1);
        }
        ::pause();
        ::_exit(0);
    }
    char byte = 0;
    ASSERT_EQ(::read(ready[0], &byte, 1), 1);

    // While the writer lives, its reply is being written, whoever opens the file.
    const auto id = open().list("", 10).value().at(0).id;
    EXPECT_EQ(m_store->load(id).value().path.at(1).state, MessageState::kStreaming);

    // It has ended, though its parent has not yet asked how.
    ::kill(child, SIGKILL);
    siginfo_t ended{};
    ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
    const auto reply = open().load(id).value().path.at(1);
    ::waitpid(child, nullptr, 0);
    EXPECT_EQ(reply.state, MessageState::kInterrupted);
    EXPECT_EQ(reply.text, "what was shown");
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(ConversationStoreTest, SearchFindsTextsAndTitlesAndTakesAnyQuery) {
    auto& store = open();
    const auto mills = store.create({.title = "About mills", .model = "m"}).value();
    store.append(mills, 0, "user", "grain and flour").value();
    const auto bread = store.create({.title = "100 % rye", .model = "m"}).value();
    store.append(bread, 0, "user", "sourdough").value();
    EXPECT_EQ(store.list("flour", 10).value().size(), 1U);
    EXPECT_EQ(store.list("sourd", 10).value().at(0).id, bread) << "prefix of the last word";
    EXPECT_EQ(store.list("mills", 10).value().at(0).id, mills) << "titles too";
    EXPECT_EQ(store.list("100 %", 10).value().at(0).id, bread);
    for (const char* odd : {"\"", "AND", "NEAR(", "*", "a:b", "%", "_", "\\", "-x", "''"}) {
        EXPECT_TRUE(store.list(odd, 10)) << odd;
    }
}

TEST_F(ConversationStoreTest, RemoveCanBeUndoneUntilPurged) {
    auto& store = open();
    const auto id = store.create({.title = "t", .model = "m"}).value();
    store.append(id, 0, "user", "x").value();
    ASSERT_TRUE(store.remove(id));
    EXPECT_TRUE(store.list("", 10).value().empty());
    EXPECT_EQ(store.load(id).error().code, ErrorCode::kNotFound);
    ASSERT_TRUE(store.restore(id));
    EXPECT_EQ(store.list("", 10).value().size(), 1U);
    ASSERT_TRUE(store.remove(id));
    ASSERT_TRUE(store.purge(std::numeric_limits<std::int64_t>::max()));
    EXPECT_EQ(store.restore(id).error().code, ErrorCode::kNotFound);
    EXPECT_EQ(store.append(id, 0, "user", "x").error().code, ErrorCode::kNotFound);
    EXPECT_EQ(store.rename(99, "x").error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace quern::app
