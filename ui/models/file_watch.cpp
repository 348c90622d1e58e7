#include "ui/models/file_watch.h"

#include <QFileInfo>
#include <QSet>

namespace quern::ui {
namespace {

constexpr int kQuietMs = 400;

void watchOnly(QFileSystemWatcher& watcher, const QStringList& paths) {
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
    if (const auto added = (wanted - watched).values(); !added.isEmpty()) {
        watcher.addPaths(added);
    }
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
        m_watcher, [watcher = m_watcher, names] { watchOnly(*watcher, names); },
        Qt::QueuedConnection);
}

}  // namespace quern::ui
