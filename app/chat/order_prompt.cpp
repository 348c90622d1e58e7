#include "app/chat/order_prompt.h"

#include <algorithm>

#include "app/chat/chat_prompt_builder.h"

namespace quern::app {

engine::SamplingParams chatSampling(const engine::LoadedModel& model) {
    constexpr float kTemperature = 0.6F;
    constexpr float kTopP = 0.9F;
    engine::SamplingParams sampling = model.defaults;
    const engine::SamplingParams bare;
    if (sampling.temperature == bare.temperature && sampling.topP == bare.topP &&
        sampling.topK == bare.topK && sampling.minP == bare.minP) {
        sampling.temperature = kTemperature;
        sampling.topP = kTopP;
    }
    return sampling;
}

Result<Conversation> conversationOf(ConversationStore& store, const ReplyOrder& order) {
    Conversation conversation;
    if (order.conversation != 0) {
        auto loaded = store.load(order.conversation, order.parent);
        if (!loaded) {
            return forward(loaded);
        }
        conversation = std::move(*loaded);
    }
    if (order.systemPrompt) {
        conversation.systemPrompt = *order.systemPrompt;
    }
    if (order.message) {
        Message message;
        message.parent = order.parent;
        message.role = "user";
        message.text = *order.message;
        conversation.path.push_back(std::move(message));
    }
    return conversation;
}

engine::Request requestFor(const Conversation& conversation, const ReplyOrder& order,
                           const engine::LoadedModel& model) {
    engine::Request request;
    // The order may name an adapter of the model.
    request.model = order.model.empty() ? model.name : order.model;
    request.prompt = buildChatPrompt(conversation, order.firstMessage, order.continuesParent);
    request.sampling = order.sampling.value_or(chatSampling(model));
    request.output.maxTokens = order.maxTokens;
    request.output.stop = order.stop;
    request.clientId = "chat";
    return request;
}

Result<PromptSize> measurePrompt(const Conversation& conversation, const ReplyOrder& order,
                                 const engine::LoadedModel& model) {
    PromptSize size;
    Conversation held = conversation;
    if (order.message) {
        held.path.pop_back();
    }
    engine::ChatPrompt before = buildChatPrompt(held, order.firstMessage, order.continuesParent);
    before.addGenerationPrompt = false;
    // Some templates refuse a conversation that no user has begun: nothing is held then.
    size.held = engine::countPromptTokens(model, before).value_or(0);
    if (order.message) {
        auto all = engine::countPromptTokens(
            model, buildChatPrompt(conversation, order.firstMessage, order.continuesParent));
        if (!all) {
            return forward(all);
        }
        size.draft = std::max<std::int64_t>(0, *all - size.held);
    }
    return size;
}

Result<std::optional<MessageId>> firstThatFits(const Conversation& conversation,
                                               const ReplyOrder& order,
                                               const engine::LoadedModel& model,
                                               std::int64_t limit) {
    bool isAll = true;
    for (const Message& message : conversation.path) {
        if (message.role != "user" || (message.id != 0 && message.id < order.firstMessage)) {
            isAll = false;
            continue;
        }
        // A message that is not saved yet: all that are stay out.
        const MessageId first = message.id != 0 ? message.id : order.parent + 1;
        auto tokens = engine::countPromptTokens(
            model, buildChatPrompt(conversation, first, order.continuesParent));
        if (!tokens) {
            return forward(tokens);
        }
        if (*tokens <= limit) {
            return isAll ? 0 : first;
        }
        isAll = false;
    }
    return std::optional<MessageId>();
}

}  // namespace quern::app
