#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/request.h"

namespace quern::ui {

enum class TurnState : std::uint8_t {
    kComplete,
    kWriting,      // a reply that is being generated, in this process or in another
    kInterrupted,  // ended before its time: stopped, or the program was
    kFailed,       // `failure` says why
};

/// What a reply cost: the line under it.
struct TurnFigures {
    double tokensPerSecond = 0;
    double ttftMs = 0;
    std::int32_t promptTokens = 0;
    std::int32_t cachedTokens = 0;
    std::int32_t completionTokens = 0;
    std::string stop;  // "eos", "length", "context full", "stopped", a stop string in quotes
    bool operator==(const TurnFigures&) const = default;
};

/// A call of a tool that a model asked for.
struct TurnCall {
    std::string name;
    std::string arguments;  // JSON text, once it is whole
    bool operator==(const TurnCall&) const = default;
};

/// One message. Turns form a tree; turns with the same parent are branches of each other.
struct Turn {
    std::int64_t id = 0;
    std::int64_t parent = 0;  // 0: the conversation's first turn
    std::string role;         // "user" or "assistant"
    std::string text;
    std::string reasoning;        // what a model thought before it answered
    std::vector<TurnCall> calls;  // that a reply ends with
    std::string model;            // that wrote it; empty for the user's
    TurnState state = TurnState::kComplete;
    std::string failure;
    std::optional<TurnFigures> figures;
    std::int32_t branch = 1;    // which of the turns with its parent it is …
    std::int32_t branches = 1;  // … of how many
    bool operator==(const Turn&) const = default;
};

struct ConversationSettings {
    std::string systemPrompt;
    engine::SamplingParams sampling;
    std::int32_t maxTokens = 0;     // 0: until the context is full
    std::int64_t firstTurn = 0;     // turns before it are left out of the prompt; 0: none
    bool usesModelDefaults = true;  // sampling is the loaded model's own
};

struct ConversationSummary {
    std::int64_t id = 0;
    std::string title;
    std::int64_t updatedAt = 0;  // seconds since 1970
    std::string snippet;         // around the first match of a search; else empty
    bool operator==(const ConversationSummary&) const = default;
};

struct ConversationContent {
    ConversationSummary summary;
    ConversationSettings settings;
    std::vector<Turn> path;  // first turn to active leaf
};

/// Conversations that outlive the process; the reply service adds what is said. Called from one
/// worker thread, never the GUI's; a call returns when its change is safe from a kill.
class ConversationStore {
public:
    virtual ~ConversationStore() = default;
    /// Latest first; with `search`, those whose title or text match.
    [[nodiscard]] virtual Result<std::vector<ConversationSummary>> list(
        const std::string& search) = 0;
    [[nodiscard]] virtual Status rename(std::int64_t conversation, const std::string& title) = 0;
    /// Takes it out of the list; `restore` brings it back within the session.
    [[nodiscard]] virtual Status remove(std::int64_t conversation) = 0;
    [[nodiscard]] virtual Status restore(std::int64_t conversation) = 0;
    /// Replies that an earlier process left in kWriting come back as kInterrupted.
    [[nodiscard]] virtual Result<ConversationContent> open(std::int64_t conversation) = 0;
    /// The same with the path that goes through `turn` and on along the latest branches below it;
    /// kNotFound where that turn is not there.
    [[nodiscard]] virtual Result<ConversationContent> openThrough(std::int64_t conversation,
                                                                  std::int64_t turn) = 0;
    /// A number that changes when another program has changed something. Cheap; writes nothing.
    [[nodiscard]] virtual Result<std::int64_t> foreignVersion() = 0;
    [[nodiscard]] virtual Status saveSettings(std::int64_t conversation,
                                              const ConversationSettings& settings) = 0;
    /// The active path now goes through the branch `offset` places beside `turn` (−1, +1) and on
    /// along its latest branches.
    [[nodiscard]] virtual Status selectSibling(std::int64_t conversation, std::int64_t turn,
                                               int offset) = 0;
};

}  // namespace quern::ui
