#include "ui/monitor/chart_item.h"

#include <QPainter>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "ui/text/format.h"

namespace quern::ui {
namespace {

constexpr int kGridLines = 3;

qreal niceTop(const QList<qreal>& values) {
    const qreal most = values.isEmpty() ? 0 : *std::max_element(values.begin(), values.end());
    if (!(most > 0)) {
        return 1;
    }
    const qreal power = std::pow(10.0, std::floor(std::log10(most)));
    for (const qreal step : {1.0, 1.5, 2.0, 3.0, 5.0, 7.5}) {
        if (most <= step * power) {
            return step * power;
        }
    }
    return 10 * power;
}

}  // namespace

ChartItem::ChartItem(QQuickItem* parent) : QQuickPaintedItem(parent) {
    setAntialiasing(true);
    connect(this, &ChartItem::changed, this, [this] { update(); });
}

void ChartItem::setFirst(const QList<qreal>& values) {
    m_first = values;
    emit changed();
}

void ChartItem::setSecond(const QList<qreal>& values) {
    m_second = values;
    emit changed();
}

qreal ChartItem::firstTop() const {
    return niceTop(m_first);
}
qreal ChartItem::secondTop() const {
    return niceTop(m_second);
}

int ChartItem::sampleAt(qreal x) const {
    const auto count = static_cast<int>(m_first.size());
    const int fromRight = qRound((width() - x) / std::max(1.0, width()) * (m_samples - 1));
    const int sample = count - 1 - fromRight;
    return sample >= 0 && sample < count ? sample : -1;
}

QString ChartItem::valueText(int sample, bool ofFirst) const {
    const QList<qreal>& values = ofFirst ? m_first : m_second;
    return sample >= 0 && sample < values.size() ? formatRate(values[sample]) : QString();
}

QString ChartItem::topText(bool ofFirst) const {
    return formatRate(ofFirst ? firstTop() : secondTop());
}

void ChartItem::paint(QPainter* painter) {
    painter->setRenderHint(QPainter::Antialiasing, false);
    painter->setPen(QPen(m_gridColor, 1));
    for (int i = 0; i <= kGridLines; ++i) {
        const int y =
            std::min(static_cast<int>(height() * i / kGridLines), static_cast<int>(height()) - 1);
        painter->drawLine(0, y, static_cast<int>(width()), y);
    }
    if (m_crosshair >= 0) {
        painter->drawLine(QPointF(m_crosshair, 0), QPointF(m_crosshair, height()));
    }
    painter->setRenderHint(QPainter::Antialiasing, true);
    drawCurve(*painter, m_second, secondTop(), m_secondColor);
    drawCurve(*painter, m_first, firstTop(), m_firstColor);
}

void ChartItem::drawCurve(QPainter& painter, const QList<qreal>& values, qreal top,
                          const QColor& color) const {
    if (values.size() < 2 || m_samples < 2) {
        return;
    }
    const qreal stepX = width() / (m_samples - 1);
    const qreal startX = width() - stepX * static_cast<qreal>(values.size() - 1);
    const auto y = [&](qreal value) {
        return 1 + (height() - 2) * (1 - std::clamp(value / top, 0.0, 1.0));
    };
    QPainterPath path(QPointF(startX, y(values.first())));
    for (qsizetype i = 1; i < values.size(); ++i) {
        path.lineTo(startX + stepX * static_cast<qreal>(i), y(values[i]));
    }
    painter.strokePath(path, QPen(color, 1.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
}

}  // namespace quern::ui
