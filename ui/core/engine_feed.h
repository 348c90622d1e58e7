#pragma once

#include <qqmlintegration.h>
#include <QObject>
#include <QString>
#include <QTimer>
#include <QVariant>

#include "engine/engine.h"
#include "ui/core/worker.h"

namespace quern::ui {

/// The engine's snapshot, fetched on a worker twice a second, ten times while a live view shows,
/// and not at all while the window is hidden. GUI thread; one fetch under way at most.
class EngineFeed : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(bool isWatched READ isWatched WRITE setWatched NOTIFY watchedChanged)
    Q_PROPERTY(bool isShown READ isShown WRITE setShown NOTIFY watchedChanged)
    Q_PROPERTY(QString device READ device NOTIFY updated)
    Q_PROPERTY(QString memoryText READ memoryText NOTIFY updated)
    Q_PROPERTY(QString rateText READ rateText NOTIFY updated)
    Q_PROPERTY(double weightShare READ weightShare NOTIFY updated)
    Q_PROPERTY(double kvShare READ kvShare NOTIFY updated)
    Q_PROPERTY(double otherShare READ otherShare NOTIFY updated)
    Q_PROPERTY(QString memoryStory READ memoryStory NOTIFY updated)

public:
    /// `engine` and `worker` must outlive every fetch: destroy the worker first.
    EngineFeed(engine::Engine& engine, Worker& worker, QObject* parent = nullptr);

    [[nodiscard]] bool isWatched() const { return m_isWatched; }
    void setWatched(bool isWatched);
    [[nodiscard]] bool isShown() const { return m_isShown; }
    void setShown(bool isShown);
    /// Fetches now, apart from the clock.
    void fetch();
    [[nodiscard]] const engine::EngineSnapshot& snapshot() const { return m_snapshot; }
    /// The model of that name in the last snapshot, or null.
    [[nodiscard]] const engine::ModelSnapshot* model(const std::string& name) const;

    [[nodiscard]] QString device() const;
    [[nodiscard]] QString memoryText() const;  // "11.2 / 24.0 GiB"
    [[nodiscard]] QString rateText() const;    // tokens a second over all models; empty when idle
    [[nodiscard]] double weightShare() const;
    [[nodiscard]] double kvShare() const;
    [[nodiscard]] double otherShare() const;
    [[nodiscard]] QString memoryStory() const;  // the bar, told in words

signals:
    void updated();
    void watchedChanged();

private:
    void retime();
    [[nodiscard]] std::int64_t otherBytes() const;

    engine::Engine& m_engine;
    Worker& m_worker;
    QTimer m_timer;
    engine::EngineSnapshot m_snapshot;
    bool m_isWatched = false;
    bool m_isShown = true;
    bool m_isFetching = false;
};

}  // namespace quern::ui
