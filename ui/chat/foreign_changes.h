#pragma once

#include <QObject>
#include <QTimer>

#include "ui/core/worker.h"
#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// Notices that another program has changed conversations: asks the store once a second, on its
/// worker, while the window is shown. GUI thread; one question under way at most.
class ForeignChanges : public QObject {
    Q_OBJECT

public:
    /// `store` must outlive it; the worker ends before it.
    ForeignChanges(ConversationStore& store, Worker& worker, QObject* parent = nullptr);
    void setShown(bool isShown);

signals:
    void found();

private:
    void look();

    ConversationStore& m_store;
    Worker& m_worker;
    QTimer m_timer;
    std::int64_t m_version = 0;
    bool m_isLooking = false;
    bool m_isKnown = false;
};

}  // namespace quern::ui
