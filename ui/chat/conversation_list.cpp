#include "ui/chat/conversation_list.h"

#include <QDateTime>
#include <QLocale>
#include <algorithm>

namespace quern::ui {
namespace {
constexpr int kSearchDelayMs = 120;
}

ConversationList::ConversationList(ConversationStore& store, Worker& worker, Notices& notices,
                                   QObject* parent)
    : QAbstractListModel(parent), m_store(store), m_worker(worker), m_notices(notices), m_clock([] {
          return QDateTime::currentSecsSinceEpoch();
      }) {
    m_searchDelay.setSingleShot(true);
    m_searchDelay.setInterval(kSearchDelayMs);
    connect(&m_searchDelay, &QTimer::timeout, this, &ConversationList::refresh);
    refresh();
}

int ConversationList::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : count();
}

QHash<int, QByteArray> ConversationList::roleNames() const {
    return {{kId, "conversation"},
            {kTitle, "title"},
            {kSnippet, "snippet"},
            {kWhen, "when"},
            {kIsWriting, "isWriting"}};
}

QString ConversationList::dayName(qint64 time, qint64 now) {
    const QDate day = QDateTime::fromSecsSinceEpoch(time).date();
    const QDate today = QDateTime::fromSecsSinceEpoch(now).date();
    const qint64 ago = day.daysTo(today);
    if (ago <= 0) {
        return tr("Today");
    }
    if (ago == 1) {
        return tr("Yesterday");
    }
    if (ago < 7) {
        return tr("This week");
    }
    return QLocale().toString(day, QStringLiteral("MMMM yyyy"));
}

QVariant ConversationList::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= count()) {
        return {};
    }
    const ConversationSummary& item = m_items[static_cast<std::size_t>(index.row())];
    switch (role) {
        case kId:
            return static_cast<qlonglong>(item.id);
        case kTitle:
            return QString::fromStdString(item.title);
        case kSnippet:
            return QString::fromStdString(item.snippet).simplified();
        case kWhen:
            return dayName(item.updatedAt, m_clock());
        case kIsWriting:
            return m_isWriting && m_isWriting(item.id);
        default:
            return {};
    }
}

void ConversationList::refresh() {
    m_worker.ask(
        this, [this, search = m_search.trimmed().toStdString()] { return m_store.list(search); },
        [this](Result<std::vector<ConversationSummary>> result) {
            if (!result) {
                m_notices.show(tr("The conversations could not be read."), result.error());
                return;
            }
            if (m_items != *result) {
                beginResetModel();
                m_items = std::move(*result);
                endResetModel();
            }
            emit listed();
        });
}

void ConversationList::setPassing() {
    m_isPassing = true;
    emit passingChanged();
}

void ConversationList::setSearch(const QString& search) {
    if (m_search != search) {
        m_search = search;
        m_searchDelay.start();
        emit searchChanged();
    }
}

void ConversationList::rename(qint64 conversation, const QString& title) {
    const QString wanted = title.simplified();
    if (wanted.isEmpty()) {
        return;
    }
    m_worker.ask(
        this,
        [this, conversation, name = wanted.toStdString()] {
            return m_store.rename(conversation, name);
        },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The conversation could not be renamed."), result.error());
            }
            refresh();
        });
}

void ConversationList::remove(qint64 conversation) {
    const QString title = titleOf(conversation);
    m_worker.ask(
        this, [this, conversation] { return m_store.remove(conversation); },
        [this, conversation, title](Status result) {
            if (!result) {
                m_notices.show(tr("The conversation could not be deleted."), result.error());
                return;
            }
            m_removedId = conversation;
            m_removedTitle = title;
            emit removed(conversation);
            emit removedChanged();
            refresh();
        });
}

void ConversationList::undoRemove() {
    m_worker.ask(
        this, [this, id = m_removedId] { return m_store.restore(id); },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The conversation could not be brought back."), result.error());
            }
            refresh();
        });
    forgetRemoved();
}

void ConversationList::forgetRemoved() {
    m_removedId = 0;
    m_removedTitle.clear();
    emit removedChanged();
}

int ConversationList::rowOf(qint64 conversation) const {
    const auto at = std::find_if(m_items.begin(), m_items.end(),
                                 [&](const auto& item) { return item.id == conversation; });
    return at == m_items.end() ? -1 : static_cast<int>(at - m_items.begin());
}

QString ConversationList::titleOf(qint64 conversation) const {
    const auto at = std::find_if(m_items.begin(), m_items.end(),
                                 [&](const auto& item) { return item.id == conversation; });
    return at == m_items.end() ? QString() : QString::fromStdString(at->title);
}

void ConversationList::setWritingTest(std::function<bool(qint64)> isWriting) {
    m_isWriting = std::move(isWriting);
}

void ConversationList::refreshWriting() {
    if (!m_items.empty()) {
        emit dataChanged(index(0), index(count() - 1), {kIsWriting});
    }
}

}  // namespace quern::ui
