#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QThread>
#include <QTimer>
#include <filesystem>
#include <vector>

namespace quern::ui {

/// Tells that one of some files was changed, or what a folder lists, once it has been quiet for a
/// moment: a file that is copied is written for a while. GUI thread; the file system is asked on a
/// thread of its own, since it may not answer for long.
class FileWatch : public QObject {
    Q_OBJECT

public:
    explicit FileWatch(QObject* parent = nullptr);
    ~FileWatch() override;
    /// Watches these, and nothing else any more. For one that is not there its folder is watched:
    /// it may come back. What is new is told once: it may have changed before it was watched.
    void watch(const std::vector<std::filesystem::path>& paths);

signals:
    void changed();

private:
    QThread m_thread;
    QFileSystemWatcher* m_watcher;  // belongs to the thread, and ends with it
    QTimer m_quiet;
};

}  // namespace quern::ui
