#include "ui/chat/replies.h"

#include <algorithm>
#include <utility>

namespace quern::ui {
namespace {

constexpr int kFrameMs = 33;

bool isOver(const ReplyView& view) {
    return view.phase >= ReplyPhase::kEnded;
}

}  // namespace

Replies::Replies(ReplyService& service, QObject* parent) : QObject(parent), m_service(service) {
    m_frame.setInterval(kFrameMs);
    connect(&m_frame, &QTimer::timeout, this, &Replies::look);
}

void Replies::order(const ReplyOrder& order) {
    if (find(order.conversation) != nullptr) {
        return;
    }
    auto live = std::make_unique<Live>();
    live->conversation = order.conversation;
    live->reply = m_service.order(order);
    m_live.push_back(std::move(live));
    m_frame.start();
    emit phaseChanged(order.conversation);
}

void Replies::stop(std::int64_t conversation) {
    if (Live* live = find(conversation)) {
        live->reply->stop();
    }
}

void Replies::close() {
    m_frame.stop();
    m_service.stopAll();
    m_live.clear();
}

const ReplyView* Replies::in(std::int64_t conversation) const {
    const Live* live = find(conversation);
    return live != nullptr ? &live->view : nullptr;
}

bool Replies::isPreparing() const {
    return std::any_of(m_live.begin(), m_live.end(),
                       [](const auto& live) { return live->view.phase == ReplyPhase::kPreparing; });
}

Replies::Live* Replies::find(std::int64_t conversation) const {
    const auto at = std::find_if(m_live.begin(), m_live.end(), [conversation](const auto& live) {
        return live->conversation == conversation;
    });
    return at == m_live.end() ? nullptr : at->get();
}

void Replies::look() {
    // Who is told may order another one: it is looked at in the next frame.
    for (std::size_t i = 0, count = m_live.size(); i < count; ++i) {
        if (auto view = m_live[i]->reply->newerThan(m_live[i]->view.version)) {
            take(*m_live[i], std::move(*view));
        }
    }
    std::erase_if(m_live, [](const auto& live) { return isOver(live->view); });
    if (m_live.empty()) {
        m_frame.stop();
    }
}

void Replies::take(Live& live, ReplyView view) {
    const ReplyPhase before = live.view.phase;
    const bool wasPlaced = live.view.place != nullptr;
    live.view = std::move(view);
    if (live.view.place && !wasPlaced) {
        live.conversation = live.view.place->conversation;
        emit placed(live.view);
    }
    if (live.view.place) {
        emit grew(live.view);
    }
    if (!isOver(live.view)) {
        if (live.view.phase != before) {
            emit phaseChanged(live.conversation);
        }
        return;
    }
    // From now on nothing is under way there: who is told may ask, and may order the next one.
    const std::int64_t conversation = std::exchange(live.conversation, -1);
    if (live.view.phase == ReplyPhase::kEnded) {
        emit ended(live.view);
    } else {
        emit refused(conversation, live.view);
    }
    emit phaseChanged(conversation);
}

}  // namespace quern::ui
