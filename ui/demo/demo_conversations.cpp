#include "ui/demo/demo_conversations.h"

#include <utility>

#include "ui/demo/demo_texts.h"

namespace quern::ui {
namespace {

constexpr std::int64_t kDay = 86400;

Turn userTurn(std::int64_t parent, const char* text) {
    Turn turn;
    turn.parent = parent;
    turn.role = "user";
    turn.text = text;
    return turn;
}

Turn replyTurn(std::int64_t parent, const char* text) {
    Turn turn;
    turn.parent = parent;
    turn.role = "assistant";
    turn.text = text;
    turn.model = "qwen3-8b";
    turn.figures = TurnFigures{.tokensPerSecond = 42.3,
                               .ttftMs = 212,
                               .promptTokens = 352,
                               .cachedTokens = 320,
                               .completionTokens = 318,
                               .stop = "eos"};
    return turn;
}

}  // namespace

std::vector<DemoConversation> demoConversations(bool isLong) {
    static constexpr const char* kTitles[] = {
        "Stones for a travelling mill",     "Regular expressions that do not backtrack",
        "Names for a small bakery",         "Proof that √2 is irrational",
        "Letter to the landlord",           "Sourdough at 14 °C",
        "What a B-tree does on a full disk"};
    std::vector<DemoConversation> conversations;
    std::int64_t time = kDemoNow - 6 * kDay;
    for (const char* title : kTitles) {
        conversations.push_back({.title = title,
                                 .updatedAt = time,
                                 .turns = {userTurn(0, title), replyTurn(1, kDemoShort)}});
        time += kDay - kDay / 10;
    }
    DemoConversation opened{.title = "How to set a hand mill", .updatedAt = kDemoNow, .turns = {}};
    const auto add = [&opened](Turn turn) {
        opened.turns.push_back(std::move(turn));
        return static_cast<std::int64_t>(opened.turns.size());
    };
    std::int64_t last = add(userTurn(0, "How do I set the gap of a hand mill?"));
    last = add(replyTurn(last, kDemoAnswer));
    for (int i = 0; isLong && i < 12; ++i) {
        last = add(userTurn(last, "Tell me more about where they come from."));
        last = add(replyTurn(last, kDemoLong));
    }
    last = add(userTurn(last, "Does it matter how sharp the stones are?\nMine are from 1911."));
    for (int branch = 0; branch < 3; ++branch) {
        Turn reply = replyTurn(last, kDemoShort);
        reply.reasoning = kDemoThought;
        add(std::move(reply));
    }
    conversations.push_back(std::move(opened));
    return conversations;
}

}  // namespace quern::ui
