#pragma once

#include <qqmlintegration.h>
#include <QAbstractListModel>
#include <vector>

#include "engine/snapshot.h"

namespace quern::ui {

/// Requests in the engine, running ones first, as rows. Rows are updated in place, so that a list
/// view neither jumps nor loses its focus ten times a second. GUI thread.
class RequestTable : public QAbstractListModel {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role {
        kId = Qt::UserRole,
        kClient,
        kStateName,  // "waiting" "prefill" "decode" "paused" "preempted"
        kReason,
        kColor,
        kProgress,  // computed / prompt tokens
        kGenerated,
        kBlocks,
        kCached,
        kAge,
        kRate
    };

    using QAbstractListModel::QAbstractListModel;
    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;
    [[nodiscard]] int count() const { return static_cast<int>(m_requests.size()); }

    void show(const std::vector<engine::RequestSnapshot>& requests);

signals:
    void countChanged();

private:
    std::vector<engine::RequestSnapshot> m_requests;
};

}  // namespace quern::ui
