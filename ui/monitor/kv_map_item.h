#pragma once

#include <qqmlintegration.h>
#include <QImage>
#include <QQuickItem>
#include <QString>
#include <QTimer>
#include <memory>

#include "ui/monitor/kv_raster.h"
#include "ui/monitor/monitor.h"

namespace quern::ui {

/// The picture of the KV cache. Folds and draws on the monitor's worker, at most 30 times a second
/// and only while it is visible; the scene graph gets a finished image. GUI thread.
class KvMapItem : public QQuickItem {
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(quern::ui::Monitor* monitor MEMBER m_monitor WRITE setMonitor NOTIFY changed)
    Q_PROPERTY(QString modelName MEMBER m_model NOTIFY changed)
    Q_PROPERTY(int group MEMBER m_group NOTIFY changed)
    Q_PROPERTY(bool bySequence MEMBER m_bySequence NOTIFY changed)
    Q_PROPERTY(QString cellStory MEMBER m_cellStory NOTIFY cellChanged)
    Q_PROPERTY(QRectF cellRect READ cellRect NOTIFY cellChanged)

public:
    explicit KvMapItem(QQuickItem* parent = nullptr);

    void setMonitor(Monitor* monitor);
    /// Tells the block under a point in `cellStory`; beside the grid it is empty.
    Q_INVOKABLE void pointAt(qreal x, qreal y);
    Q_INVOKABLE void pointAway();
    /// Moves the pointed-at cell by keyboard.
    Q_INVOKABLE void step(int columns, int rows);
    [[nodiscard]] QRectF cellRect() const;

signals:
    void changed();
    void cellChanged();

protected:
    QSGNode* updatePaintNode(QSGNode* node, UpdatePaintNodeData* data) override;
    void geometryChange(const QRectF& now, const QRectF& before) override;
    void itemChange(ItemChange change, const ItemChangeData& value) override;

private:
    struct Fold;   // the worker's own copy of the map
    struct Drawn;  // what comes back from it
    void refresh();
    void take(Drawn drawn, qreal ratio);
    void retime();
    void tellCell();

    Monitor* m_monitor = nullptr;
    QString m_model;
    int m_group = 0;
    bool m_bySequence = false;
    QString m_cellStory;
    std::int64_t m_cell = -1;
    std::int64_t m_cells = 0;
    KvGrid m_grid;
    QImage m_image;
    bool m_isImageNew = false;
    bool m_isDrawing = false;
    bool m_isStale = false;  // something changed while a picture was being drawn
    QTimer m_timer;
    std::shared_ptr<Fold> m_fold;
};

}  // namespace quern::ui
