#include "ui/look/icon.h"

#include <QHash>
#include <QPainter>
#include <QPainterPath>
#include <QStringList>

namespace quern::ui {
namespace {

/// Strokes: "M x y" moves, "L x y" draws, "Q x y x y" bends, "O x y r" is a circle, "Z" closes.
const QHash<QString, QString>& drawings() {
    static const QHash<QString, QString> kDrawings{
        {QStringLiteral("plus"), QStringLiteral("M 8 3 L 8 13 M 3 8 L 13 8")},
        {QStringLiteral("search"), QStringLiteral("O 7 7 4 M 10 10 L 13.5 13.5")},
        {QStringLiteral("copy"),
         QStringLiteral("M 6 6 L 13 6 L 13 13 L 6 13 Z M 3 10 L 3 3 L 10 3")},
        {QStringLiteral("edit"),
         QStringLiteral("M 3 13 L 3.6 10.4 L 10.8 3.2 L 12.8 5.2 L 5.6 12.4 Z")},
        {QStringLiteral("again"), QStringLiteral("M 13 8 Q 13 13 8 13 Q 3 13 3 8 Q 3 3 8 3 Q 11 3 "
                                                 "12.6 5.6 M 13 2.6 L 12.8 6 L 9.6 5.6")},
        {QStringLiteral("stop"), QStringLiteral("M 4.5 4.5 L 11.5 4.5 L 11.5 11.5 L 4.5 11.5 Z")},
        {QStringLiteral("send"), QStringLiteral("M 8 13 L 8 3 M 4 7 L 8 3 L 12 7")},
        {QStringLiteral("down"), QStringLiteral("M 8 3 L 8 13 M 4 9 L 8 13 L 12 9")},
        {QStringLiteral("close"), QStringLiteral("M 4 4 L 12 12 M 12 4 L 4 12")},
        {QStringLiteral("left"), QStringLiteral("M 10 3.5 L 5.5 8 L 10 12.5")},
        {QStringLiteral("right"), QStringLiteral("M 6 3.5 L 10.5 8 L 6 12.5")},
        {QStringLiteral("chevron"), QStringLiteral("M 4 6 L 8 10 L 12 6")},
        {QStringLiteral("trash"), QStringLiteral("M 3 4.5 L 13 4.5 M 6 4.5 L 6.4 2.5 L 9.6 2.5 L "
                                                 "10 4.5 M 4.4 4.5 L 5 13.5 L 11 13.5 L 11.6 4.5")},
        {QStringLiteral("sliders"),
         QStringLiteral("M 2.5 5 L 8.5 5 M 12.5 5 L 13.5 5 O 10.5 5 2 M 2.5 11 L 3.5 11 M 7.5 11 L "
                        "13.5 11 O 5.5 11 2")},
        {QStringLiteral("check"), QStringLiteral("M 3 8.5 L 6.5 12 L 13 4.5")},
        {QStringLiteral("warning"),
         QStringLiteral("M 8 2.5 L 14 13 L 2 13 Z M 8 6.5 L 8 9.5 M 8 11.2 L 8 11.4")},
        {QStringLiteral("folder"),
         QStringLiteral("M 2 4 L 6.5 4 L 8 5.5 L 14 5.5 L 14 12.5 L 2 12.5 Z")},
    };
    return kDrawings;
}

QPainterPath pathOf(const QString& name) {
    const QStringList words = drawings().value(name).split(u' ', Qt::SkipEmptyParts);
    QPainterPath path;
    qsizetype at = 0;
    const auto number = [&] { return at < words.size() ? words[at++].toDouble() : 0.0; };
    while (at < words.size()) {
        const QString& verb = words[at++];
        if (verb == QLatin1String("Z")) {
            path.closeSubpath();
            continue;
        }
        const double x = number();
        const double y = number();
        if (verb == QLatin1String("M")) {
            path.moveTo(x, y);
        } else if (verb == QLatin1String("L")) {
            path.lineTo(x, y);
        } else if (verb == QLatin1String("Q")) {
            const double endX = number();
            const double endY = number();
            path.quadTo(x, y, endX, endY);
        } else if (verb == QLatin1String("O")) {
            const double radius = number();
            path.addEllipse(QPointF(x, y), radius, radius);
        }
    }
    return path;
}

}  // namespace

Icon::Icon(QQuickItem* parent) : QQuickPaintedItem(parent) {
    setSize(16);
    setAntialiasing(true);
    connect(this, &Icon::changed, this, [this] { update(); });
}

void Icon::setSize(int size) {
    setImplicitSize(size, size);
    emit changed();
}

void Icon::paint(QPainter* painter) {
    const qreal scale = qMin(width(), height()) / 16;
    painter->scale(scale, scale);
    painter->strokePath(pathOf(m_name),
                        QPen(m_color, 1.4, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
}

}  // namespace quern::ui
