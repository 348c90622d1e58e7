#pragma once

#include <qqmlintegration.h>
#include <QList>
#include <QObject>
#include <QString>

#include "kernels/kernels.h"
#include "ui/core/engine_feed.h"
#include "ui/look/theme.h"
#include "ui/models/model_host.h"
#include "ui/monitor/request_table.h"

namespace quern::ui {

/// The monitor's figures, its requests and the last two minutes of throughput, of the model that
/// chats use. GUI thread; follows the EngineFeed unless paused.
class Monitor : public QObject {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(bool isPaused READ isPaused WRITE setPaused NOTIFY pausedChanged)
    Q_PROPERTY(QString modelName READ modelName NOTIFY updated)
    Q_PROPERTY(QString decode READ decode NOTIFY updated)
    Q_PROPERTY(QString prefill READ prefill NOTIFY updated)
    Q_PROPERTY(QString ttft READ ttft NOTIFY updated)
    Q_PROPERTY(QString interToken READ interToken NOTIFY updated)
    Q_PROPERTY(int running READ running NOTIFY updated)
    Q_PROPERTY(int waiting READ waiting NOTIFY updated)
    Q_PROPERTY(QString prefixHits READ prefixHits NOTIFY updated)
    Q_PROPERTY(QStringList groups READ groups NOTIFY updated)
    Q_PROPERTY(int group MEMBER m_group WRITE setGroup NOTIFY updated)
    Q_PROPERTY(QString cacheStory READ cacheStory NOTIFY updated)
    Q_PROPERTY(QList<qreal> decodeHistory MEMBER m_decodeHistory NOTIFY historyChanged)
    Q_PROPERTY(QList<qreal> prefillHistory MEMBER m_prefillHistory NOTIFY historyChanged)
    Q_PROPERTY(quern::ui::RequestTable* requests READ requests CONSTANT)

public:
    static constexpr int kBlockTokens = 16;
    static constexpr int kHistory = 1200;  // samples: two minutes at 10 Hz

    Monitor(engine::Engine& engine, Worker& worker, EngineFeed& feed, ModelHost& host,
            const Theme& theme, QObject* parent = nullptr);

    Q_INVOKABLE void cancel(quint64 request);
    /// Replaces the recorded throughput (stills).
    void setHistory(QList<qreal> decode, QList<qreal> prefill);

    [[nodiscard]] bool isPaused() const { return m_isPaused; }
    void setPaused(bool isPaused);
    [[nodiscard]] QString modelName() const;
    [[nodiscard]] QString decode() const;
    [[nodiscard]] QString prefill() const;
    [[nodiscard]] QString ttft() const;        // ms
    [[nodiscard]] QString interToken() const;  // ms
    [[nodiscard]] int running() const { return m_model.running; }
    [[nodiscard]] int waiting() const { return m_model.waiting; }
    [[nodiscard]] QString prefixHits() const;  // percent
    [[nodiscard]] QStringList groups() const;
    void setGroup(int group);
    [[nodiscard]] QString cacheStory() const;
    [[nodiscard]] RequestTable* requests() { return &m_requests; }

    [[nodiscard]] engine::Engine& engine() const { return m_engine; }
    [[nodiscard]] Worker& worker() const { return m_worker; }
    [[nodiscard]] const Theme& theme() const { return m_theme; }

signals:
    void updated();
    void historyChanged();
    void pausedChanged();

private:
    void take();

    engine::Engine& m_engine;
    Worker& m_worker;
    EngineFeed& m_feed;
    ModelHost& m_host;
    const Theme& m_theme;
    engine::ModelSnapshot m_model;  // empty name: none is loaded
    RequestTable m_requests;
    QList<qreal> m_decodeHistory;
    QList<qreal> m_prefillHistory;
    int m_group = 0;
    bool m_isPaused = false;
    bool m_isHistoryFixed = false;
};

}  // namespace quern::ui
