#pragma once

#include <qqmlintegration.h>
#include <QAbstractListModel>
#include <QTimer>
#include <functional>
#include <vector>

#include "ui/core/notices.h"
#include "ui/core/worker.h"
#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// The list of conversations beside the chat. GUI thread; the store is called on its worker.
class ConversationList : public QAbstractListModel {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(int count READ count NOTIFY listed)
    Q_PROPERTY(QString search MEMBER m_search WRITE setSearch NOTIFY searchChanged)
    Q_PROPERTY(bool isPassing MEMBER m_isPassing NOTIFY passingChanged)
    Q_PROPERTY(QString removedTitle MEMBER m_removedTitle NOTIFY removedChanged)

public:
    enum Role { kId = Qt::UserRole, kTitle, kSnippet, kWhen, kIsWriting };

    ConversationList(ConversationStore& store, Worker& worker, Notices& notices,
                     QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;
    /// From now on the list says that its conversations end with the window.
    void setPassing();
    [[nodiscard]] int count() const { return static_cast<int>(m_items.size()); }

    void refresh();
    void setSearch(const QString& search);
    Q_INVOKABLE void rename(qint64 conversation, const QString& title);
    /// Takes it off the list at once; undoRemove brings the last one back.
    Q_INVOKABLE void remove(qint64 conversation);
    Q_INVOKABLE void undoRemove();
    Q_INVOKABLE void forgetRemoved();
    /// Where a conversation stands in the list; −1 when it does not.
    Q_INVOKABLE [[nodiscard]] int rowOf(qint64 conversation) const;
    [[nodiscard]] QString titleOf(qint64 conversation) const;

    /// Tells whether a reply is being written in a conversation.
    void setWritingTest(std::function<bool(qint64)> isWriting);
    void refreshWriting();
    /// What the day of a time is called, as of `now`; both seconds since 1970.
    [[nodiscard]] static QString dayName(qint64 time, qint64 now);
    /// Replaces the clock (stills and tests).
    void setClock(std::function<qint64()> clock) { m_clock = std::move(clock); }

signals:
    void listed();
    void searchChanged();
    void removedChanged();
    void removed(qint64 conversation);
    void passingChanged();

private:
    ConversationStore& m_store;
    Worker& m_worker;
    Notices& m_notices;
    QTimer m_searchDelay;
    std::vector<ConversationSummary> m_items;
    std::function<bool(qint64)> m_isWriting;
    std::function<qint64()> m_clock;
    QString m_search;
    QString m_removedTitle;
    qint64 m_removedId = 0;
    bool m_isPassing = false;
};

}  // namespace quern::ui
