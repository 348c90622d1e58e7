#include "app/chat/reply_place.h"

#include "app/chat/conversation_title.h"

namespace quern::app {

namespace {

Result<Message> beginReply(ConversationStore& store, const ReplyOrder& order,
                           const Conversation& conversation, const std::string& model,
                           const ReplyStart& start) {
    Message reply;
    reply.role = "assistant";
    reply.model = model;
    reply.state = MessageState::kStreaming;
    reply.parent = start.added.empty() ? order.parent : start.added.back().id;
    if (order.continuesParent && !conversation.path.empty()) {
        const Message& continued = conversation.path.back();
        reply.parent = continued.parent;
        reply.text = continued.text;
        reply.reasoning = continued.reasoning;
    }
    auto id = store.beginReply(start.conversation, reply.parent, model);
    if (!id) {
        return forward(id);
    }
    reply.id = *id;
    return reply;
}

}  // namespace

Status placeReply(ConversationStore& store, const ReplyOrder& order,
                  const engine::LoadedModel& model, const Conversation& conversation,
                  ReplyStart& start) {
    start.conversation = order.conversation;
    if (start.conversation == 0) {
        auto made = store.create({.title = titleFrom(order.message.value_or("")),
                                  .model = model.name,
                                  .systemPrompt = order.systemPrompt.value_or(""),
                                  .samplingJson = order.samplingJson});
        if (!made) {
            return forward(made);
        }
        start.conversation = *made;
    }
    if (order.message) {
        Message message = conversation.path.back();
        auto id = store.append(start.conversation, order.parent, message.role, message.text);
        if (!id) {
            return forward(id);
        }
        message.id = *id;
        start.added.push_back(std::move(message));
    }
    auto reply = beginReply(store, order, conversation, model.name, start);
    if (!reply) {
        return forward(reply);
    }
    start.added.push_back(std::move(*reply));
    return {};
}

}  // namespace quern::app
