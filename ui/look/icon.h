#pragma once

#include <qqmlintegration.h>
#include <QColor>
#include <QQuickPaintedItem>
#include <QString>

namespace quern::ui {

/// A line drawing on a 16 × 16 grid, in one colour, by name. GUI thread.
class Icon : public QQuickPaintedItem {
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QString name MEMBER m_name NOTIFY changed)
    Q_PROPERTY(QColor color MEMBER m_color NOTIFY changed)
    Q_PROPERTY(int size READ size WRITE setSize NOTIFY changed)

public:
    explicit Icon(QQuickItem* parent = nullptr);
    void paint(QPainter* painter) override;
    [[nodiscard]] int size() const { return static_cast<int>(implicitWidth()); }
    void setSize(int size);

signals:
    void changed();

private:
    QString m_name;
    QColor m_color;
};

}  // namespace quern::ui
