#include "ui/monitor/monitor.h"

#include <algorithm>
#include <utility>

#include "ui/text/format.h"

namespace quern::ui {

static_assert(Monitor::kBlockTokens == kernels::kBlockTokens);

Monitor::Monitor(engine::Engine& engine, Worker& worker, EngineFeed& feed, ModelHost& host,
                 const Theme& theme, QObject* parent)
    : QObject(parent),
      m_engine(engine),
      m_worker(worker),
      m_feed(feed),
      m_host(host),
      m_theme(theme) {
    connect(&feed, &EngineFeed::updated, this, &Monitor::take);
    connect(&host, &ModelHost::changed, this, &Monitor::take);
}

void Monitor::setPaused(bool isPaused) {
    if (m_isPaused != isPaused) {
        m_isPaused = isPaused;
        emit pausedChanged();
        take();
    }
}

void Monitor::take() {
    if (m_isPaused) {
        return;
    }
    const engine::ModelSnapshot* model = m_feed.model(m_host.currentName().toStdString());
    m_model = model != nullptr ? *model : engine::ModelSnapshot{};
    if (m_group >= static_cast<int>(m_model.groups.size())) {
        m_group = 0;
    }
    m_requests.show(m_model.requests);
    // Only while somebody looks do samples come at an even pace.
    if (!m_isHistoryFixed && m_feed.isWatched()) {
        const auto push = [](QList<qreal>& history, double value) {
            if (history.size() >= kHistory) {
                history.removeFirst();
            }
            history.append(value);
        };
        push(m_decodeHistory, m_model.rates.decodeTokensPerSecond);
        push(m_prefillHistory, m_model.rates.prefillTokensPerSecond);
        emit historyChanged();
    }
    emit updated();
}

void Monitor::setHistory(QList<qreal> decode, QList<qreal> prefill) {
    m_decodeHistory = std::move(decode);
    m_prefillHistory = std::move(prefill);
    m_isHistoryFixed = true;
    emit historyChanged();
}

void Monitor::cancel(quint64 request) {
    m_worker.post([this, request] { m_engine.cancel(request); });
}

QString Monitor::modelName() const {
    return QString::fromStdString(m_model.name);
}
QString Monitor::decode() const {
    return formatRate(m_model.rates.decodeTokensPerSecond);
}
QString Monitor::prefill() const {
    return formatRate(m_model.rates.prefillTokensPerSecond);
}
QString Monitor::ttft() const {
    return formatRate(m_model.rates.ttftP95Ms);
}
QString Monitor::interToken() const {
    return formatRate(m_model.rates.itlP95Ms);
}
QString Monitor::prefixHits() const {
    return formatPercent(m_model.rates.prefixHitRate);
}

QStringList Monitor::groups() const {
    QStringList names;
    for (const engine::KvGroupSnapshot& group : m_model.groups) {
        names += QString::fromStdString(group.kind);
    }
    return names;
}

void Monitor::setGroup(int group) {
    if (group != m_group && group >= 0 && group < static_cast<int>(m_model.groups.size())) {
        m_group = group;
        emit updated();
    }
}

QString Monitor::cacheStory() const {
    if (m_group >= static_cast<int>(m_model.groups.size())) {
        return {};
    }
    const engine::KvGroupSnapshot& group = m_model.groups[static_cast<std::size_t>(m_group)];
    const double blocks = static_cast<double>(std::max<std::int64_t>(1, group.blocks));
    if (group.kind == "state") {
        return tr("%1 states · %2 · %3\u00A0% held · %4\u00A0% shared")
            .arg(formatCount(group.blocks), formatBytes(group.blocks * group.blockBytes),
                 formatPercent(static_cast<double>(group.held) / blocks),
                 formatPercent(static_cast<double>(group.shared) / blocks));
    }
    return tr("%1 blocks × %2 tokens · %3 · %4\u00A0% held · %5\u00A0% shared")
        .arg(formatCount(group.blocks), formatCount(kBlockTokens),
             formatBytes(group.blocks * group.blockBytes),
             formatPercent(static_cast<double>(group.held) / blocks),
             formatPercent(static_cast<double>(group.shared) / blocks));
}

}  // namespace quern::ui
