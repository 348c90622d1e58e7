#include "ui/core/engine_feed.h"

#include <algorithm>

#include "ui/core/sizes.h"
#include "ui/text/format.h"

namespace quern::ui {
namespace {
constexpr int kIdleMs = 500;
constexpr int kLiveMs = 100;

double gibibytes(std::int64_t bytes) {
    return static_cast<double>(bytes) / static_cast<double>(kGiB);
}

double share(std::int64_t part, std::int64_t whole) {
    return whole > 0 ? std::clamp(static_cast<double>(part) / static_cast<double>(whole), 0.0, 1.0)
                     : 0.0;
}
}  // namespace

EngineFeed::EngineFeed(engine::Engine& engine, Worker& worker, QObject* parent)
    : QObject(parent), m_engine(engine), m_worker(worker) {
    connect(&m_timer, &QTimer::timeout, this, &EngineFeed::fetch);
    retime();
    fetch();
}

void EngineFeed::setWatched(bool isWatched) {
    if (m_isWatched != isWatched) {
        m_isWatched = isWatched;
        retime();
        emit watchedChanged();
    }
}

void EngineFeed::setShown(bool isShown) {
    if (m_isShown != isShown) {
        m_isShown = isShown;
        retime();
        emit watchedChanged();
    }
}

void EngineFeed::retime() {
    if (m_isShown) {
        m_timer.start(m_isWatched ? kLiveMs : kIdleMs);
    } else {
        m_timer.stop();
    }
}

void EngineFeed::fetch() {
    if (m_isFetching) {
        return;
    }
    m_isFetching = true;
    m_worker.ask(
        this, [this] { return m_engine.snapshot(); },
        [this](engine::EngineSnapshot snapshot) {
            m_isFetching = false;
            m_snapshot = std::move(snapshot);
            emit updated();
        });
}

const engine::ModelSnapshot* EngineFeed::model(const std::string& name) const {
    const auto at = std::find_if(m_snapshot.models.begin(), m_snapshot.models.end(),
                                 [&](const auto& model) { return model.name == name; });
    return at == m_snapshot.models.end() ? nullptr : &*at;
}

QString EngineFeed::device() const {
    if (m_snapshot.models.empty()) {
        return {};
    }
    const QString id = QString::fromStdString(m_snapshot.models.front().device);
    return id.compare(QLatin1String("cpu"), Qt::CaseInsensitive) == 0 ? id.toUpper() : id;
}

QString EngineFeed::memoryText() const {
    const auto& memory = m_snapshot.memory;
    if (memory.totalBytes <= 0) {
        return {};
    }
    return tr("%1 / %2 GiB")
        .arg(formatDecimal(gibibytes(memory.totalBytes - memory.freeBytes), 1),
             formatDecimal(gibibytes(memory.totalBytes), 1));
}

QString EngineFeed::rateText() const {
    double rate = 0;
    for (const auto& model : m_snapshot.models) {
        rate += model.rates.decodeTokensPerSecond;
    }
    return rate >= 0.05 ? tr("%1 tok/s").arg(formatRate(rate)) : QString();
}

std::int64_t EngineFeed::otherBytes() const {
    const auto& memory = m_snapshot.memory;
    return std::max<std::int64_t>(
        0, memory.totalBytes - memory.freeBytes - memory.weightBytes - memory.kvBytes);
}

double EngineFeed::weightShare() const {
    return share(m_snapshot.memory.weightBytes, m_snapshot.memory.totalBytes);
}
double EngineFeed::kvShare() const {
    return share(m_snapshot.memory.kvBytes, m_snapshot.memory.totalBytes);
}
double EngineFeed::otherShare() const {
    return share(otherBytes(), m_snapshot.memory.totalBytes);
}

QString EngineFeed::memoryStory() const {
    const auto& memory = m_snapshot.memory;
    return tr("Memory: weights %1, KV cache %2, other programs %3, free %4")
        .arg(formatBytes(memory.weightBytes), formatBytes(memory.kvBytes),
             formatBytes(otherBytes()), formatBytes(memory.freeBytes));
}

}  // namespace quern::ui
