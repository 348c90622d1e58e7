#include "ui/models/file_watch.h"

#include <QFileInfo>
#include <QSet>

namespace quern::ui {
namespace {

constexpr int kQuietMs = 400;

// Whether something is watched that was not.
bool watchOnly(QFileSystemWatcher& watcher, const QStringList& paths) {
    QSet<QString> wanted;
    for (const QString& path : paths) {
        const QString folder = QFileInfo(path).path();
        if (QFileInfo::exists(path)) {
            wanted.insert(path);
        } else if (QFileInfo::exists(folder)) {
            wanted.insert(folder);
        }
    }
    const QStringList files = watcher.files() + watcher.directories();
    const QSet<QString> watched(files.begin(), files.end());
    if (const auto gone = (watched - wanted).values(); !gone.isEmpty()) {
        watcher.removePaths(gone);
    }
    const QStringList added = (wanted - watched).values();
    return !added.isEmpty() && watcher.addPaths(added).size() < added.size();
}

}  // namespace

FileWatch::FileWatch(QObject* parent) : QObject(parent), m_watcher(new QFileSystemWatcher) {
    m_quiet.setSingleShot(true);
    m_quiet.setInterval(kQuietMs);
    connect(&m_quiet, &QTimer::timeout, this, &FileWatch::changed);
    connect(m_watcher, &QFileSystemWatcher::fileChanged, this, [this] { m_quiet.start(); });
    connect(m_watcher, &QFileSystemWatcher::directoryChanged, this, [this] { m_quiet.start(); });
    connect(&m_thread, &QThread::finished, m_watcher, &QObject::deleteLater);
    m_watcher->moveToThread(&m_thread);
    m_thread.start();
}

FileWatch::~FileWatch() {
    m_thread.quit();
    m_thread.wait();
}

void FileWatch::watch(const std::vector<std::filesystem::path>& paths) {
    QStringList names;
    for (const std::filesystem::path& path : paths) {
        names.append(QString::fromStdString(path.string()));
    }
    QMetaObject::invokeMethod(
        m_watcher,
        [this, names] {
            if (watchOnly(*m_watcher, names)) {
                QMetaObject::invokeMethod(
                    this, [this] { m_quiet.start(); }, Qt::QueuedConnection);
            }
        },
        Qt::QueuedConnection);
}

}  // namespace quern::ui
