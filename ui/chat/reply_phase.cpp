#include "ui/chat/reply_phase.h"

#include <QCoreApplication>

#include "ui/text/format.h"

namespace quern::ui {
namespace {

struct ReplyWords {
    Q_DECLARE_TR_FUNCTIONS(ReplyPhase)
};

/// `place` is the request's in the queue, counted from one.
QString describe(const engine::RequestSnapshot& request, int place) {
    switch (request.state) {
        case engine::RequestState::kWaiting:
        case engine::RequestState::kPreempted:
            return ReplyWords::tr("Queued: %1 in line").arg(place);
        case engine::RequestState::kPrefill:
            if (request.promptTokens > 0) {
                return ReplyWords::tr("Reading the prompt: %1\u00A0%")
                    .arg(formatPercent(static_cast<double>(request.computedTokens) /
                                       request.promptTokens));
            }
            break;
        default:
            break;
    }
    return ReplyWords::tr("Writing: %1 tok/s").arg(formatRate(request.tokensPerSecond));
}

}  // namespace

QString describePhase(const ReplyView& reply, const engine::EngineSnapshot& snapshot) {
    if (!reply.place) {
        return ReplyWords::tr("Preparing");
    }
    for (const engine::ModelSnapshot& model : snapshot.models) {
        int place = 0;
        for (const engine::RequestSnapshot& known : model.requests) {
            const bool isWaiting = known.state == engine::RequestState::kWaiting ||
                                   known.state == engine::RequestState::kPreempted;
            place += isWaiting ? 1 : 0;
            if (known.id == reply.place->request) {
                return describe(known, place);
            }
        }
    }
    return reply.phase == ReplyPhase::kWriting ? ReplyWords::tr("Writing")
                                               : ReplyWords::tr("Queued");
}

}  // namespace quern::ui
