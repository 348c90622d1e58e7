#include "app/chat/watched_reply.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "tests/support/scripted_engine.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

using Phase = WatchedReply::Phase;

class WatchedReplyTest : public ::testing::Test {
protected:
    WatchedReplyTest()
        : m_store(ConversationStore::open(m_temp.path() / "quern.db").value()),
          m_service(std::make_unique<ChatService>(m_engine, *m_store)) {}

    /// Looks until the reply is over; `glance` sees every view that is new.
    template <class Glance>
    static WatchedReply::View lookToTheEnd(const WatchedReply& reply, Glance glance) {
        WatchedReply::View last;
        while (last.phase < Phase::kEnded) {
            if (auto view = reply.newerThan(last.version)) {
                glance(last, *view);
                last = std::move(*view);
            } else {
                std::this_thread::yield();
            }
        }
        return last;
    }

    test::TempFolder m_temp;
    test::ScriptedEngine m_engine;
    std::unique_ptr<ConversationStore> m_store;
    std::unique_ptr<ChatService> m_service;
};

TEST_F(WatchedReplyTest, TheFirstLookSeesThatItIsPrepared) {
    const WatchedReply reply;
    const auto view = reply.newerThan(0);
    ASSERT_TRUE(view);
    EXPECT_EQ(view->phase, Phase::kPreparing);
    EXPECT_FALSE(view->start);
    EXPECT_FALSE(reply.newerThan(view->version));
}

TEST_F(WatchedReplyTest, ARefusalIsAnEnd) {
    const auto reply = std::make_shared<WatchedReply>();
    ReplyOrder order;
    order.model = "nobody";
    m_service->reply(order, reply);
    const auto view = lookToTheEnd(*reply, [](const auto&, const auto&) {});
    EXPECT_EQ(view.phase, Phase::kRefused);
    EXPECT_EQ(view.error->code, ErrorCode::kNotFound);
}

// Hundreds of replies of all lengths, written as fast as can be, each looked at by one who begins
// at once, one who looks all the time, and one who comes after the end: all see the same end, and
// nobody sees a reply shrink or come back to life.
TEST_F(WatchedReplyTest, NobodyMissesAnEnd) {
    constexpr int kReplies = 400;
    constexpr unsigned kMostPieces = 40;
    const unsigned seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 random(seed);
    for (int i = 0; i < kReplies; ++i) {
        const auto reply = std::make_shared<WatchedReply>();
        ReplyOrder order;
        order.message = "Why?";
        const auto ticket = m_service->reply(order, reply);

        WatchedReply::View seen;
        std::atomic<bool> isSteady{true};
        std::jthread eager([&] {
            seen = lookToTheEnd(*reply, [&](const auto& before, const auto& now) {
                if (now.version <= before.version || now.phase < before.phase ||
                    !now.message.text.starts_with(before.message.text) ||
                    now.tokens < before.tokens) {
                    isSteady = false;
                }
            });
        });

        while (m_engine.running().empty()) {
            std::this_thread::yield();
        }
        const auto id = m_engine.running().at(0);
        std::string said;
        for (auto piece = random() % kMostPieces; piece > 0; --piece) {
            m_engine.say(id, "word ");
            said += "word ";
        }
        if (i % 3 == 0) {
            m_service->stop(ticket);
        } else {
            m_engine.finish(id, {});
        }
        eager.join();
        ASSERT_EQ(seen.phase, Phase::kEnded) << i;
        EXPECT_EQ(seen.message.text, said) << i;
        EXPECT_EQ(seen.tokens, static_cast<std::int32_t>(said.size())) << i;
        EXPECT_TRUE(isSteady) << i;
        const auto late = reply->newerThan(0);
        ASSERT_TRUE(late);
        EXPECT_EQ(late->phase, Phase::kEnded);
        EXPECT_EQ(late->message.text, said);
        EXPECT_EQ(late->start->added.back().id, late->message.id);
        ASSERT_FALSE(::testing::Test::HasFailure());
    }
}

}  // namespace
}  // namespace quern::app
