#include "ui/models/file_watch.h"

#include <QFileInfo>
#include <QSet>

namespace quern::ui {
namespace {
constexpr int kQuietMs = 400;
}

FileWatch::FileWatch(QObject* parent) : QObject(parent) {
    m_quiet.setSingleShot(true);
    m_quiet.setInterval(kQuietMs);
    connect(&m_quiet, &QTimer::timeout, this, &FileWatch::changed);
    connect(&m_watcher, &QFileSystemWatcher::fileChanged, this, [this] { m_quiet.start(); });
    connect(&m_watcher, &QFileSystemWatcher::directoryChanged, this, [this] { m_quiet.start(); });
}

void FileWatch::watch(const std::vector<std::filesystem::path>& paths) {
    QSet<QString> wanted;
    for (const std::filesystem::path& path : paths) {
        const QString name = QString::fromStdString(path.string());
        if (QFileInfo::exists(name)) {
            wanted.insert(name);
        }
    }
    const QStringList files = m_watcher.files() + m_watcher.directories();
    const QSet<QString> watched(files.begin(), files.end());
    if (const auto gone = (watched - wanted).values(); !gone.isEmpty()) {
        m_watcher.removePaths(gone);
    }
    if (const auto added = (wanted - watched).values(); !added.isEmpty()) {
        m_watcher.addPaths(added);
    }
}

}  // namespace quern::ui
