#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// What a reply is written to.
struct ReplyOrder {
    std::int64_t conversation = 0;       // 0: a new one is made for it, named after `message`
    std::int64_t parent = 0;             // the turn that it goes below; 0: it is the first
    std::optional<std::string> message;  // a user's turn to be added first
    ConversationSettings settings;
    std::string model;  // name of a loaded model
};

enum class ReplyPhase : std::uint8_t {
    kPreparing,
    kQueued,
    kPrefill,
    kWriting,
    kEnded,    // `reply` is as it will stay
    kRefused,  // nothing was sent or saved: `error` says why
    kUnsaved,  // nothing was sent, because it could not be saved
};

/// Where a reply stands in its conversation.
struct ReplyPlace {
    std::int64_t conversation = 0;
    std::vector<Turn> added;        // the user's turn, if there is one, and the empty reply
    std::string promptText;         // what was tokenized
    engine::RequestId request = 0;  // 0: the engine refused it
};

/// A reply as it stands: always the whole of it, so that who looks seldom misses nothing.
struct ReplyView {
    std::uint64_t version = 0;  // grows with every change
    ReplyPhase phase = ReplyPhase::kPreparing;
    std::shared_ptr<const ReplyPlace> place;  // once the turns are saved
    Turn reply;                               // from then on
    std::int32_t tokens = 0;
    std::optional<Error> error;  // of an order that came to nothing, or of the last save
};

/// A reply that was ordered. Any thread; calls return at once.
class OrderedReply {
public:
    /// The reply itself goes on.
    virtual ~OrderedReply() = default;
    /// As it is now, if that is newer than `version` (0: in any case).
    [[nodiscard]] virtual std::optional<ReplyView> newerThan(std::uint64_t version) const = 0;
    /// Ends it; what was written stays.
    virtual void stop() = 0;
};

struct PromptSize {
    std::int64_t held = 0;   // tokens of the conversation up to the order's parent
    std::int64_t draft = 0;  // that the order's message adds
};

/// Writes replies and saves them while they grow, so that a kill keeps what was shown. At most one
/// is written in a conversation: another order for it is refused.
class ReplyService {
public:
    virtual ~ReplyService() = default;
    /// Returns at once. Replies whose last save failed are saved again first.
    [[nodiscard]] virtual std::unique_ptr<OrderedReply> order(const ReplyOrder& order) = 0;
    /// Ends all that are written. Returns at once.
    virtual void stopAll() = 0;
    /// How a chat with this model samples unless told otherwise.
    [[nodiscard]] virtual engine::SamplingParams samplingOf(
        const engine::LoadedModel& model) const = 0;

    // These wait for the disk or take milliseconds: on a worker.

    /// Writes replies again whose last save failed; the first error.
    [[nodiscard]] virtual Status saveAgain() = 0;
    [[nodiscard]] virtual Result<PromptSize> measure(const ReplyOrder& order) const = 0;
    /// The oldest user's turn that the prompt may begin with to have at most `limit` tokens: 0 when
    /// nothing needs to stay out, none when not even the order's message fits alone.
    [[nodiscard]] virtual Result<std::optional<std::int64_t>> firstThatFits(
        const ReplyOrder& order, std::int64_t limit) const = 0;
};

}  // namespace quern::ui
