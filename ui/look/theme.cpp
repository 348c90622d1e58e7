#include "ui/look/theme.h"

#include <QFontDatabase>
#include <QGuiApplication>
#include <QPalette>
#include <QQmlEngine>
#include <QVariant>
#include <algorithm>
#include <array>

namespace quern::ui {
namespace {

struct Colors {
    QRgb canvas, surface, sunken, line, ink, ink2, accent, copper, danger, warning, onAccent;
    std::array<QRgb, 8> sequences;
};

constexpr Colors kPaper{
    .canvas = 0xFFF4F2EC,
    .surface = 0xFFFCFBF8,
    .sunken = 0xFFEAE7DF,
    .line = 0xFFDAD5C9,
    .ink = 0xFF20231F,
    .ink2 = 0xFF5A605A,
    .accent = 0xFF1B7465,
    .copper = 0xFFA84E22,
    .danger = 0xFFB3261E,
    .warning = 0xFF8A6100,
    .onAccent = 0xFFFCFBF8,
    .sequences = {0xFF1F8473, 0xFFB85C2C, 0xFF4C66C4, 0xFFA94B80, 0xFF8C7714, 0xFF4A8435,
                  0xFF7650B8, 0xFF22789F},
};

constexpr Colors kGraphite{
    .canvas = 0xFF121513,
    .surface = 0xFF1A1E1B,
    .sunken = 0xFF0D0F0E,
    .line = 0xFF2B312D,
    .ink = 0xFFE6E8E3,
    .ink2 = 0xFFA3ABA4,
    .accent = 0xFF5FC4AE,
    .copper = 0xFFE39A6B,
    .danger = 0xFFF2857A,
    .warning = 0xFFE2BE5A,
    .onAccent = 0xFF0D0F0E,
    .sequences = {0xFF5FC4AE, 0xFFE39A6B, 0xFF8FA8F0, 0xFFD98BB8, 0xFFC9B458, 0xFF7FB86A,
                  0xFFB79AE8, 0xFF6BB8DD},
};

constexpr auto kEngineProperty = "quernTheme";

const Colors& colors(bool isDark) {
    return isDark ? kGraphite : kPaper;
}

QString firstInstalled(const QStringList& wanted, QFontDatabase::SystemFont otherwise) {
    const QStringList families = QFontDatabase::families();
    for (const QString& family : wanted) {
        if (families.contains(family)) {
            return family;
        }
    }
    return QFontDatabase::systemFont(otherwise).family();
}

}  // namespace

Theme::Theme(QObject* parent)
    : QObject(parent),
      m_sans(firstInstalled(
          {QStringLiteral("Inter"), QStringLiteral("Noto Sans"), QStringLiteral("DejaVu Sans")},
          QFontDatabase::GeneralFont)),
      m_mono(firstInstalled({QStringLiteral("JetBrains Mono"), QStringLiteral("DejaVu Sans Mono")},
                            QFontDatabase::FixedFont)) {
    applyPalette();
}

Theme* Theme::create(QQmlEngine* qml, QJSEngine*) {
    if (auto* given = qvariant_cast<Theme*>(qml->property(kEngineProperty))) {
        return given;
    }
    return new Theme(nullptr);
}

void Theme::attach(QQmlEngine& qml) {
    QQmlEngine::setObjectOwnership(this, QQmlEngine::CppOwnership);
    qml.setProperty(kEngineProperty, QVariant::fromValue(this));
}

void Theme::setDark(bool isDark) {
    if (m_isDark == isDark) {
        return;
    }
    m_isDark = isDark;
    applyPalette();
    emit changed();
}

void Theme::setTextScale(qreal scale) {
    const qreal clamped = std::clamp(scale, 1.0, 1.5);
    if (qFuzzyCompare(clamped, m_textScale)) {
        return;
    }
    m_textScale = clamped;
    emit changed();
}

void Theme::setStill(bool isStill) {
    if (m_isStill == isStill) {
        return;
    }
    m_isStill = isStill;
    emit changed();
}

void Theme::applyPalette() const {
    // Only what Qt takes from the palette by itself: links in rich text.
    QPalette palette = QGuiApplication::palette();
    palette.setColor(QPalette::Link, accent());
    palette.setColor(QPalette::LinkVisited, accent());
    QGuiApplication::setPalette(palette);
}

QColor Theme::canvas() const {
    return QColor::fromRgb(colors(m_isDark).canvas);
}
QColor Theme::surface() const {
    return QColor::fromRgb(colors(m_isDark).surface);
}
QColor Theme::sunken() const {
    return QColor::fromRgb(colors(m_isDark).sunken);
}
QColor Theme::line() const {
    return QColor::fromRgb(colors(m_isDark).line);
}
QColor Theme::ink() const {
    return QColor::fromRgb(colors(m_isDark).ink);
}
QColor Theme::ink2() const {
    return QColor::fromRgb(colors(m_isDark).ink2);
}
QColor Theme::accent() const {
    return QColor::fromRgb(colors(m_isDark).accent);
}
QColor Theme::copper() const {
    return QColor::fromRgb(colors(m_isDark).copper);
}
QColor Theme::danger() const {
    return QColor::fromRgb(colors(m_isDark).danger);
}
QColor Theme::warning() const {
    return QColor::fromRgb(colors(m_isDark).warning);
}
QColor Theme::onAccent() const {
    return QColor::fromRgb(colors(m_isDark).onAccent);
}
QColor Theme::selection() const {
    return mix(accent(), surface(), 0.3);
}

QColor Theme::scrim() const {
    QColor color = QColor::fromRgb(kGraphite.sunken);
    color.setAlphaF(m_isDark ? 0.6F : 0.35F);
    return color;
}

QList<QColor> Theme::sequences() const {
    QList<QColor> list;
    for (const QRgb rgb : colors(m_isDark).sequences) {
        list.append(QColor::fromRgb(rgb));
    }
    return list;
}

QColor Theme::mix(const QColor& color, const QColor& under, qreal alpha) const {
    const auto blend = [alpha](int over, int below) {
        return std::clamp(qRound(over * alpha + below * (1 - alpha)), 0, 255);
    };
    return QColor(blend(color.red(), under.red()), blend(color.green(), under.green()),
                  blend(color.blue(), under.blue()));
}

}  // namespace quern::ui
