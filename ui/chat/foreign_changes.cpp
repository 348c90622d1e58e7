#include "ui/chat/foreign_changes.h"

#include <utility>

namespace quern::ui {
namespace {
constexpr int kLookMs = 1000;
}

ForeignChanges::ForeignChanges(ConversationStore& store, Worker& worker, QObject* parent)
    : QObject(parent), m_store(store), m_worker(worker) {
    m_timer.setInterval(kLookMs);
    connect(&m_timer, &QTimer::timeout, this, &ForeignChanges::look);
    m_timer.start();
    look();
}

void ForeignChanges::setShown(bool isShown) {
    if (isShown == m_timer.isActive()) {
        return;
    }
    if (isShown) {
        m_timer.start();
        look();
    } else {
        m_timer.stop();
    }
}

void ForeignChanges::look() {
    if (m_isLooking) {
        return;
    }
    m_isLooking = true;
    m_worker.ask(
        this, [this] { return m_store.foreignVersion(); },
        [this](Result<std::int64_t> version) {
            m_isLooking = false;
            // Where it cannot be had, what is done next says why.
            if (!version || (m_isKnown && *version == m_version)) {
                return;
            }
            m_version = *version;
            if (std::exchange(m_isKnown, true)) {
                emit found();
            }
        });
}

}  // namespace quern::ui
