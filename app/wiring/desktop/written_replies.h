#pragma once

#include "app/chat/chat_service.h"
#include "ui/ports/reply_service.h"

namespace quern::app {

/// The chat service as the window orders replies from it. As thread-safe as the service.
class WrittenReplies : public ui::ReplyService {
public:
    /// `service` must outlive it and every reply that is ordered.
    explicit WrittenReplies(ChatService& service) : m_service(service) {}

    [[nodiscard]] std::unique_ptr<ui::OrderedReply> order(const ui::ReplyOrder& order) override;
    void stopAll() override { m_service.stopAll(); }
    [[nodiscard]] engine::SamplingParams samplingOf(
        const engine::LoadedModel& model) const override {
        return chatSampling(model);
    }
    [[nodiscard]] Status saveAgain() override { return m_service.saveAgain(); }
    [[nodiscard]] Result<ui::PromptSize> measure(const ui::ReplyOrder& order) const override;
    [[nodiscard]] Result<std::optional<std::int64_t>> firstThatFits(
        const ui::ReplyOrder& order, std::int64_t limit) const override {
        return m_service.firstThatFits(orderOf(order), limit);
    }

private:
    [[nodiscard]] static ReplyOrder orderOf(const ui::ReplyOrder& order);

    ChatService& m_service;
};

}  // namespace quern::app
