#pragma once

#include <qqmlintegration.h>
#include <QColor>
#include <QList>
#include <QObject>
#include <QString>

class QQmlEngine;
class QJSEngine;

namespace quern::ui {

/// Every colour, size and duration of the window. Colours stand nowhere else.
/// GUI thread; one per QML engine.
class Theme : public QObject {
    Q_OBJECT
    QML_ELEMENT
    QML_SINGLETON
    Q_PROPERTY(bool dark READ isDark WRITE setDark NOTIFY changed)
    Q_PROPERTY(qreal textScale READ textScale WRITE setTextScale NOTIFY changed)
    Q_PROPERTY(QColor canvas READ canvas NOTIFY changed)
    Q_PROPERTY(QColor surface READ surface NOTIFY changed)
    Q_PROPERTY(QColor sunken READ sunken NOTIFY changed)
    Q_PROPERTY(QColor line READ line NOTIFY changed)
    Q_PROPERTY(QColor ink READ ink NOTIFY changed)
    Q_PROPERTY(QColor ink2 READ ink2 NOTIFY changed)
    Q_PROPERTY(QColor accent READ accent NOTIFY changed)
    Q_PROPERTY(QColor copper READ copper NOTIFY changed)
    Q_PROPERTY(QColor danger READ danger NOTIFY changed)
    Q_PROPERTY(QColor warning READ warning NOTIFY changed)
    Q_PROPERTY(QColor onAccent READ onAccent NOTIFY changed)
    Q_PROPERTY(QColor selection READ selection NOTIFY changed)
    Q_PROPERTY(QColor scrim READ scrim NOTIFY changed)
    Q_PROPERTY(QColor none READ none CONSTANT)
    Q_PROPERTY(QList<QColor> sequences READ sequences NOTIFY changed)
    Q_PROPERTY(QString sans READ sans CONSTANT)
    Q_PROPERTY(QString mono READ mono CONSTANT)
    Q_PROPERTY(int caption READ caption NOTIFY changed)
    Q_PROPERTY(int small READ smallSize NOTIFY changed)
    Q_PROPERTY(int body READ body NOTIFY changed)
    Q_PROPERTY(int title READ title NOTIFY changed)
    Q_PROPERTY(int heading READ heading NOTIFY changed)
    Q_PROPERTY(int display READ display NOTIFY changed)
    Q_PROPERTY(int control READ control NOTIFY changed)
    Q_PROPERTY(int quick READ quick NOTIFY changed)

public:
    // Without a default argument: QML would take a default constructor before `create`.
    explicit Theme(QObject* parent);
    /// The theme given to the engine with `attach`, or a new one (component tests).
    static Theme* create(QQmlEngine* qml, QJSEngine* js);
    /// Makes QML code of this engine see this theme. It must outlive the engine.
    void attach(QQmlEngine& qml);

    [[nodiscard]] bool isDark() const { return m_isDark; }
    void setDark(bool isDark);
    [[nodiscard]] qreal textScale() const { return m_textScale; }
    /// Clamped to 1…1.5.
    void setTextScale(qreal scale);
    /// True: nothing moves (stills, and people who asked for less motion).
    [[nodiscard]] bool isStill() const { return m_isStill; }
    void setStill(bool isStill);

    [[nodiscard]] QColor canvas() const;
    [[nodiscard]] QColor surface() const;
    [[nodiscard]] QColor sunken() const;
    [[nodiscard]] QColor line() const;
    [[nodiscard]] QColor ink() const;
    [[nodiscard]] QColor ink2() const;
    [[nodiscard]] QColor accent() const;
    [[nodiscard]] QColor copper() const;
    [[nodiscard]] QColor danger() const;
    [[nodiscard]] QColor warning() const;
    [[nodiscard]] QColor onAccent() const;   // text on a fill of accent or danger
    [[nodiscard]] QColor selection() const;  // behind selected text
    [[nodiscard]] QColor scrim() const;      // over the window, under a sheet
    [[nodiscard]] QColor none() const { return QColor(Qt::transparent); }
    [[nodiscard]] QList<QColor> sequences() const;
    /// `color` at `alpha` laid over `under`: opaque, so that neighbours do not show through.
    Q_INVOKABLE [[nodiscard]] QColor mix(const QColor& color, const QColor& under,
                                         qreal alpha) const;

    [[nodiscard]] QString sans() const { return m_sans; }
    [[nodiscard]] QString mono() const { return m_mono; }
    [[nodiscard]] int caption() const { return scaled(12); }
    [[nodiscard]] int smallSize() const { return scaled(13); }
    [[nodiscard]] int body() const { return scaled(15); }
    [[nodiscard]] int title() const { return scaled(18); }
    [[nodiscard]] int heading() const { return scaled(22); }
    [[nodiscard]] int display() const { return scaled(28); }
    [[nodiscard]] int control() const { return scaled(32); }
    [[nodiscard]] int quick() const { return m_isStill ? 0 : 140; }  // milliseconds

signals:
    void changed();

private:
    [[nodiscard]] int scaled(int size) const { return qRound(size * m_textScale); }
    void applyPalette() const;

    bool m_isDark = false;
    bool m_isStill = false;
    qreal m_textScale = 1.0;
    QString m_sans;
    QString m_mono;
};

}  // namespace quern::ui
