#pragma once

#include <QSize>
#include <QString>
#include <functional>
#include <memory>
#include <vector>

#include "ui/ports/desktop_ports.h"
#include "ui/ports/start_trouble.h"

class QGuiApplication;

namespace quern::ui {

class Session;

/// Style, font and language: once, after the QGuiApplication is made and before any window.
/// `language` is a locale name with a translation ("en", "en_XA"); empty: the system's.
void prepareApplication(QGuiApplication& app, const QString& language);

/// What a start of the window was asked for.
struct DesktopOptions {
    QString openFile;   // a model whose load sheet opens
    QString loadModel;  // a model that is loaded at once
    bool startsServer = false;
    std::vector<StartTrouble> troubles = {};  // that somebody at the window is told of
};

/// The window and everything behind it. GUI thread. Closing saves what a running reply has shown.
class Desktop {
public:
    Desktop(const DesktopPorts& ports, const DesktopOptions& options);
    ~Desktop();
    Desktop(const Desktop&) = delete;
    Desktop& operator=(const Desktop&) = delete;

    /// False when the window could not be made; the reason is on standard error.
    [[nodiscard]] bool show();
    /// Brings the window to the front and offers the file, if any.
    void open(const QString& file);
    [[nodiscard]] Session& session();

    /// Draws one still once nothing moves any more, at most after `patienceMs`.
    [[nodiscard]] bool shoot(const QString& file, QSize size, int patienceMs);

private:
    struct State;
    std::unique_ptr<State> m_state;
};

}  // namespace quern::ui
