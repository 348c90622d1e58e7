#pragma once

#include <qqmlintegration.h>
#include <QColor>
#include <QList>
#include <QQuickPaintedItem>

namespace quern::ui {

/// Two curves over the same time, each on its own scale from zero: what they measure differs by
/// orders of magnitude. The newest sample is at the right. GUI thread.
class ChartItem : public QQuickPaintedItem {
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QList<qreal> first MEMBER m_first WRITE setFirst NOTIFY changed)
    Q_PROPERTY(QList<qreal> second MEMBER m_second WRITE setSecond NOTIFY changed)
    Q_PROPERTY(QColor firstColor MEMBER m_firstColor NOTIFY changed)
    Q_PROPERTY(QColor secondColor MEMBER m_secondColor NOTIFY changed)
    Q_PROPERTY(QColor gridColor MEMBER m_gridColor NOTIFY changed)
    Q_PROPERTY(int samples MEMBER m_samples NOTIFY changed)
    Q_PROPERTY(qreal firstTop READ firstTop NOTIFY changed)
    Q_PROPERTY(qreal secondTop READ secondTop NOTIFY changed)
    Q_PROPERTY(qreal crosshair MEMBER m_crosshair NOTIFY changed)

public:
    explicit ChartItem(QQuickItem* parent = nullptr);
    void paint(QPainter* painter) override;

    void setFirst(const QList<qreal>& values);
    void setSecond(const QList<qreal>& values);
    /// The value a scale ends at: the next of 1, 2, 5 × 10ⁿ above the largest.
    [[nodiscard]] qreal firstTop() const;
    [[nodiscard]] qreal secondTop() const;
    /// The sample under a horizontal place, −1 where there is none.
    Q_INVOKABLE [[nodiscard]] int sampleAt(qreal x) const;
    Q_INVOKABLE [[nodiscard]] QString valueText(int sample, bool ofFirst) const;
    Q_INVOKABLE [[nodiscard]] QString topText(bool ofFirst) const;

signals:
    void changed();

private:
    void drawCurve(QPainter& painter, const QList<qreal>& values, qreal top,
                   const QColor& color) const;

    QList<qreal> m_first;
    QList<qreal> m_second;
    QColor m_firstColor;
    QColor m_secondColor;
    QColor m_gridColor;
    int m_samples = 1200;    // the chart's width
    qreal m_crosshair = -1;  // x, or −1
};

}  // namespace quern::ui
