#include "ui/single_instance.h"

#include <QCryptographicHash>
#include <QLocalSocket>

namespace quern::ui {
namespace {
constexpr int kPatienceMs = 1000;
constexpr qint64 kLongestPath = 64 * 1024;
}  // namespace

SingleInstance::SingleInstance(const QString& key, QObject* parent)
    : QObject(parent),
      m_name(QStringLiteral("quern-") +
             QString::fromLatin1(QCryptographicHash::hash(key.toUtf8(), QCryptographicHash::Sha256)
                                     .toHex()
                                     .left(16))) {
    m_server.setSocketOptions(QLocalServer::UserAccessOption);
    connect(&m_server, &QLocalServer::newConnection, this, [this] {
        while (QLocalSocket* socket = m_server.nextPendingConnection()) {
            // The sender closes when it has said all: what came until then is the file.
            const auto take = [this, socket] {
                emit asked(QString::fromUtf8(socket->read(kLongestPath)));
                socket->deleteLater();
            };
            if (socket->state() == QLocalSocket::UnconnectedState) {
                take();
            } else {
                connect(socket, &QLocalSocket::disconnected, this, take);
            }
        }
    });
}

bool SingleInstance::handOver(const QString& file) const {
    QLocalSocket socket;
    socket.connectToServer(m_name);
    if (!socket.waitForConnected(kPatienceMs)) {
        return false;
    }
    socket.write(file.toUtf8());
    if (!file.isEmpty() && !socket.waitForBytesWritten(kPatienceMs)) {
        return false;
    }
    socket.disconnectFromServer();
    return true;
}

bool SingleInstance::listen() {
    if (m_server.listen(m_name)) {
        return true;
    }
    // What a killed window left behind: nobody answered there a moment ago.
    QLocalServer::removeServer(m_name);
    return m_server.listen(m_name);
}

}  // namespace quern::ui
