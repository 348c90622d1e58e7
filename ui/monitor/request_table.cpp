#include "ui/monitor/request_table.h"

#include "ui/text/format.h"

namespace quern::ui {

int RequestTable::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : count();
}

QHash<int, QByteArray> RequestTable::roleNames() const {
    return {{kId, "request"},
            {kClient, "client"},
            {kStateName, "stateName"},
            {kReason, "reason"},
            {kColor, "hue"},
            {kProgress, "progress"},
            {kGenerated, "generated"},
            {kBlocks, "blocks"},
            {kCached, "cached"},
            {kAge, "age"},
            {kRate, "rate"}};
}

QVariant RequestTable::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= count()) {
        return {};
    }
    const engine::RequestSnapshot& r = m_requests[static_cast<std::size_t>(index.row())];
    switch (role) {
        case kId:
            return static_cast<qulonglong>(r.id);
        case kClient:
            return QString::fromStdString(r.clientId);
        case kStateName:
            switch (r.state) {
                case engine::RequestState::kWaiting:
                    return QStringLiteral("waiting");
                case engine::RequestState::kPrefill:
                    return QStringLiteral("prefill");
                case engine::RequestState::kPaused:
                    return QStringLiteral("paused");
                case engine::RequestState::kPreempted:
                    return QStringLiteral("preempted");
                default:
                    return QStringLiteral("decode");
            }
        case kReason:
            return QString::fromStdString(r.waitReason);
        case kColor:
            return r.color;
        case kProgress:
            return r.computedTokens < r.promptTokens
                       ? QStringLiteral("%1 / %2").arg(formatCount(r.computedTokens),
                                                       formatCount(r.promptTokens))
                       : formatCount(r.promptTokens);
        case kGenerated:
            return formatCount(r.generatedTokens);
        case kBlocks:
            return formatCount(r.blocks);
        case kCached:
            return r.promptTokens > 0
                       ? formatPercent(static_cast<double>(r.cachedTokens) / r.promptTokens)
                       : QString();
        case kAge:
            return formatDecimal(r.ageSeconds, 1);
        case kRate:
            return r.tokensPerSecond > 0 ? formatRate(r.tokensPerSecond) : QString();
        default:
            return {};
    }
}

void RequestTable::show(const std::vector<engine::RequestSnapshot>& requests) {
    const int before = count();
    const int after = static_cast<int>(requests.size());
    if (after < before) {
        beginRemoveRows({}, after, before - 1);
        m_requests = requests;
        endRemoveRows();
    } else if (after > before) {
        beginInsertRows({}, before, after - 1);
        m_requests = requests;
        endInsertRows();
    } else {
        m_requests = requests;
    }
    if (after > 0) {
        emit dataChanged(index(0), index(after - 1));
    }
    if (after != before) {
        emit countChanged();
    }
}

}  // namespace quern::ui
