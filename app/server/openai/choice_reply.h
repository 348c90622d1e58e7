#pragma once

#include <vector>

#include "app/server/openai/reply_json.h"
#include "engine/request.h"

namespace quern::app {

/// How one choice of an answer is to be.
struct ChoiceShape {
    std::int32_t index = 0;
    bool hasLogprobs = false;
    bool hasPromptLogprobs = false;
    bool dropsOutput = false;         // nothing but the prompt is wanted
    bool hasOneCallAtMost = false;    // calls behind the first are left out
    std::optional<std::string> echo;  // the prompt's text, which comes first
};

/// One choice of an answer while it grows: separates the engine's text into content, reasoning and
/// calls. Belongs to one thread.
class ChoiceReply {
public:
    ChoiceReply(engine::ReplyParser parser, ChoiceShape shape);

    /// What an event brings, in the order it is to be told in. The end (`event.finish`) comes with
    /// the last piece and alone.
    [[nodiscard]] std::vector<ReplyChoice> take(engine::TokenEvent& event);

    [[nodiscard]] bool hasBegun() const { return m_hasBegun; }
    [[nodiscard]] std::int32_t completionTokens() const { return m_completionTokens; }
    [[nodiscard]] std::int32_t reasoningTokens() const { return m_reasoningTokens; }

private:
    [[nodiscard]] std::vector<engine::ReplyDelta> separate(const engine::TokenEvent& event);
    [[nodiscard]] ReplyChoice piece() const;
    void add(const engine::ReplyDelta& delta, std::vector<ReplyChoice>& pieces);

    engine::ReplyParser m_parser;
    ChoiceShape m_shape;
    bool m_hasBegun = false;
    std::size_t m_calls = 0;  // told so far
    std::size_t m_textOffset = 0;
    std::int32_t m_completionTokens = 0;
    std::int32_t m_reasoningTokens = 0;
};

/// Puts a piece behind what is there of its choice.
void append(ReplyChoice& whole, ReplyChoice piece);

}  // namespace quern::app
