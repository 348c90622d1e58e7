#include "app/wiring/desktop/demo_store.h"

#include "ui/demo/demo_conversations.h"

namespace quern::app {
namespace {

constexpr std::int64_t kMillis = 1000;

Result<MessageId> add(ConversationStore& store, ConversationId conversation, MessageId parent,
                      const ui::Turn& turn) {
    if (turn.role == "user") {
        return store.append(conversation, parent, turn.role, turn.text);
    }
    auto id = store.beginReply(conversation, parent, turn.model);
    if (!id) {
        return id;
    }
    Message reply;
    reply.id = *id;
    reply.text = turn.text;
    reply.reasoning = turn.reasoning;
    if (turn.figures) {
        reply.stats = {.promptTokens = turn.figures->promptTokens,
                       .cachedTokens = turn.figures->cachedTokens,
                       .completionTokens = turn.figures->completionTokens,
                       .ttftMs = turn.figures->ttftMs,
                       .tokensPerSecond = turn.figures->tokensPerSecond,
                       .stopReason = turn.figures->stop};
    }
    return store.finishReply(reply).map([&id] { return *id; });
}

}  // namespace

Result<ConversationId> fillDemoStore(ConversationStore& store, bool isLong, std::int64_t& clockMs) {
    ConversationId last = 0;
    for (const ui::DemoConversation& conversation : ui::demoConversations(isLong)) {
        clockMs = conversation.updatedAt * kMillis;
        auto made = store.create(
            {.title = conversation.title, .model = {}, .systemPrompt = {}, .samplingJson = {}});
        if (!made) {
            return made;
        }
        last = *made;
        std::vector<MessageId> ids{0};
        for (const ui::Turn& turn : conversation.turns) {
            auto id = add(store, last, ids[static_cast<std::size_t>(turn.parent)], turn);
            if (!id) {
                return id;
            }
            ids.push_back(*id);
        }
    }
    return last;
}

}  // namespace quern::app
