#pragma once

#include <QObject>
#include <QTimer>
#include <memory>
#include <vector>

#include "ui/ports/reply_service.h"

namespace quern::ui {

/// The replies under way, at most one a conversation, looked at once a frame. What it tells follows
/// from how a reply stands now and how it stood at the last look. GUI thread.
class Replies : public QObject {
    Q_OBJECT

public:
    /// `service` must outlive it.
    explicit Replies(ReplyService& service, QObject* parent = nullptr);

    /// Ignored while a reply is under way in that conversation.
    void order(const ReplyOrder& order);
    void stop(std::int64_t conversation);
    /// Ends all of them and looks no more.
    void close();
    /// The reply under way in a conversation (0: in the one that an order is making), or null.
    [[nodiscard]] const ReplyView* in(std::int64_t conversation) const;
    /// An order has not found its place yet.
    [[nodiscard]] bool isPreparing() const;

signals:
    /// The turns have their place and are saved.
    void placed(const quern::ui::ReplyView& view);
    void grew(const quern::ui::ReplyView& view);
    /// Its phase is another one, or it is not under way any more.
    void phaseChanged(qint64 conversation);
    void ended(const quern::ui::ReplyView& view);
    /// Nothing was sent or saved. `conversation` as in the order.
    void refused(qint64 conversation, const quern::ui::ReplyView& view);

private:
    struct Live {
        std::unique_ptr<OrderedReply> reply;
        std::int64_t conversation = 0;  // as in the order, and as in the place once there is one
        ReplyView view;
    };

    void look();
    void take(Live& live, ReplyView view);
    [[nodiscard]] Live* find(std::int64_t conversation) const;

    ReplyService& m_service;
    QTimer m_frame;
    std::vector<std::unique_ptr<Live>> m_live;
};

}  // namespace quern::ui
