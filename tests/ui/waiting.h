#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QEventLoop>
#include <QThread>

namespace quern::ui {

/// Runs the event loop until `isTrue` holds; false after ten seconds.
template <class Test>
[[nodiscard]] bool waitFor(Test isTrue) {
    QElapsedTimer clock;
    clock.start();
    while (!isTrue()) {
        if (clock.elapsed() > 10000) {
            return false;
        }
        QCoreApplication::processEvents(QEventLoop::AllEvents, 10);
        QThread::usleep(200);
    }
    return true;
}

}  // namespace quern::ui
