#pragma once

#include <QFileSystemWatcher>
#include <QObject>
#include <QTimer>
#include <filesystem>
#include <vector>

namespace quern::ui {

/// Tells that one of some files was changed, or what a folder lists, once it has been quiet for a
/// moment: a file that is copied is written for a while. GUI thread.
class FileWatch : public QObject {
    Q_OBJECT

public:
    explicit FileWatch(QObject* parent = nullptr);
    /// Watches these, as far as they are there, and nothing else any more.
    void watch(const std::vector<std::filesystem::path>& paths);

signals:
    void changed();

private:
    QFileSystemWatcher m_watcher;
    QTimer m_quiet;
};

}  // namespace quern::ui
