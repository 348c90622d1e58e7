#include "app/wiring/desktop/stored_conversations.h"

#include <nlohmann/json.hpp>

namespace quern::app {
namespace {

using nlohmann::json;

constexpr int kMostListed = 500;

template <class T>
void read(const json& object, const char* name, T& value) {
    const auto at = object.find(name);
    if (at != object.end() && (at->is_number() || at->is_boolean()) &&
        at->is_boolean() == std::is_same_v<T, bool>) {
        value = at->get<T>();
    }
}

ui::TurnState stateOf(MessageState state) {
    switch (state) {
        case MessageState::kStreaming:
            return ui::TurnState::kWriting;
        case MessageState::kInterrupted:
            return ui::TurnState::kInterrupted;
        case MessageState::kFailed:
            return ui::TurnState::kFailed;
        default:
            return ui::TurnState::kComplete;
    }
}

ui::ConversationContent contentOf(const Conversation& loaded) {
    ui::ConversationContent content{
        .summary = {.id = loaded.id, .title = loaded.title, .updatedAt = 0, .snippet = {}},
        .settings = settingsFromJson(loaded.samplingJson),
        .path = {}};
    content.settings.systemPrompt = loaded.systemPrompt;
    for (const Message& message : loaded.path) {
        content.path.push_back(turnOf(message));
    }
    return content;
}

}  // namespace

ui::Turn turnOf(const Message& message) {
    ui::Turn turn{.id = message.id,
                  .parent = message.parent,
                  .role = message.role,
                  .text = message.text,
                  .reasoning = message.reasoning,
                  .calls = {},
                  .model = message.model,
                  .state = stateOf(message.state),
                  .failure = message.error,
                  .figures = {},
                  .branch = message.branch,
                  .branches = message.branches};
    for (const MessageCall& call : message.calls) {
        turn.calls.push_back({.name = call.name, .arguments = call.arguments});
    }
    if (message.stats.completionTokens > 0 || !message.stats.stopReason.empty()) {
        turn.figures = ui::TurnFigures{
            .tokensPerSecond = message.stats.tokensPerSecond,
            .ttftMs = message.stats.ttftMs,
            .promptTokens = static_cast<std::int32_t>(message.stats.promptTokens),
            .cachedTokens = static_cast<std::int32_t>(message.stats.cachedTokens),
            .completionTokens = static_cast<std::int32_t>(message.stats.completionTokens),
            .stop = message.stats.stopReason};
    }
    return turn;
}

std::string settingsToJson(const ui::ConversationSettings& settings) {
    json object{{"maxTokens", settings.maxTokens},
                {"firstTurn", settings.firstTurn},
                {"usesModelDefaults", settings.usesModelDefaults}};
    if (!settings.usesModelDefaults) {
        const engine::SamplingParams& p = settings.sampling;
        object["temperature"] = p.temperature;
        object["topK"] = p.topK;
        object["topP"] = p.topP;
        object["minP"] = p.minP;
        object["typicalP"] = p.typicalP;
        object["repetitionPenalty"] = p.repetitionPenalty;
        object["frequencyPenalty"] = p.frequencyPenalty;
        object["presencePenalty"] = p.presencePenalty;
        object["repeatLastN"] = p.repeatLastN;
        if (p.seed) {
            object["seed"] = *p.seed;
        }
    }
    return object.dump();
}

ui::ConversationSettings settingsFromJson(const std::string& text) {
    ui::ConversationSettings settings;
    const json object = json::parse(text, nullptr, false);
    if (!object.is_object()) {
        return settings;
    }
    engine::SamplingParams& p = settings.sampling;
    read(object, "maxTokens", settings.maxTokens);
    read(object, "firstTurn", settings.firstTurn);
    read(object, "usesModelDefaults", settings.usesModelDefaults);
    read(object, "temperature", p.temperature);
    read(object, "topK", p.topK);
    read(object, "topP", p.topP);
    read(object, "minP", p.minP);
    read(object, "typicalP", p.typicalP);
    read(object, "repetitionPenalty", p.repetitionPenalty);
    read(object, "frequencyPenalty", p.frequencyPenalty);
    read(object, "presencePenalty", p.presencePenalty);
    read(object, "repeatLastN", p.repeatLastN);
    if (const auto seed = object.find("seed"); seed != object.end() && seed->is_number_unsigned()) {
        p.seed = seed->get<std::uint64_t>();
    }
    return settings;
}

Result<std::vector<ui::ConversationSummary>> StoredConversations::list(const std::string& search) {
    Result<std::vector<ConversationSummary>> found = m_store.list(search, kMostListed);
    if (!found) {
        return forward(found);
    }
    std::vector<ui::ConversationSummary> list;
    for (const ConversationSummary& summary : *found) {
        list.push_back({.id = summary.id,
                        .title = summary.title,
                        .updatedAt = summary.updatedMs / 1000,
                        .snippet = summary.excerpt});
    }
    return list;
}

Status StoredConversations::rename(std::int64_t conversation, const std::string& title) {
    return m_store.rename(conversation, title);
}

Status StoredConversations::remove(std::int64_t conversation) {
    return m_store.remove(conversation);
}

Status StoredConversations::restore(std::int64_t conversation) {
    return m_store.restore(conversation);
}

Result<ui::ConversationContent> StoredConversations::open(std::int64_t conversation) {
    return m_store.load(conversation).map(contentOf);
}

Result<ui::ConversationContent> StoredConversations::openThrough(std::int64_t conversation,
                                                                 std::int64_t turn) {
    return m_store.loadBelow(conversation, turn).map(contentOf);
}

Status StoredConversations::saveSettings(std::int64_t conversation,
                                         const ui::ConversationSettings& settings) {
    if (Status saved = m_store.setSystemPrompt(conversation, settings.systemPrompt); !saved) {
        return saved;
    }
    return m_store.setSampling(conversation, settingsToJson(settings));
}

Status StoredConversations::selectSibling(std::int64_t, std::int64_t turn, int offset) {
    return m_store.selectSibling(turn, offset);
}

}  // namespace quern::app
