#include "app/server/openai/choice_reply.h"

#include <iterator>
#include <utility>

#include "app/server/openai/random_id.h"

namespace quern::app {

namespace {

constexpr std::size_t kCallIdDigits = 24;

template <class T>
void moveBehind(std::vector<T>& to, std::vector<T>& from) {
    std::move(from.begin(), from.end(), std::back_inserter(to));
    from.clear();
}

}  // namespace

ChoiceReply::ChoiceReply(engine::ReplyParser parser, ChoiceShape shape)
    : m_parser(std::move(parser)), m_shape(std::move(shape)) {}

std::vector<ReplyChoice> ChoiceReply::take(engine::TokenEvent& event) {
    if (event.cachedTokens) {
        return {};  // it was scheduled: no news of the reply yet
    }
    m_hasBegun = true;
    m_completionTokens += static_cast<std::int32_t>(event.tokens.size());
    std::vector<ReplyChoice> pieces;
    // What goes with the event as a whole goes with its first piece.
    ReplyChoice first = piece();
    if (const auto echo = std::exchange(m_shape.echo, std::nullopt)) {
        first.text = *echo;
        if (first.hasLogprobs) {
            first.logprobs = event.promptLogprobs;
            first.echoed = first.logprobs.size();
        }
    }
    if (m_shape.hasPromptLogprobs && !event.promptLogprobs.empty()) {
        first.hasPromptLogprobs = true;
        first.promptLogprobs = std::move(event.promptLogprobs);
    }
    if (!m_shape.dropsOutput) {
        moveBehind(first.logprobs, event.logprobs);
    }
    for (const engine::TokenLogprob& logprob : first.logprobs) {
        m_textOffset += logprob.bytes.size();
    }
    const bool hasNews = !first.text.empty() || !first.logprobs.empty() || first.hasPromptLogprobs;
    if (hasNews) {
        pieces.push_back(std::move(first));
    }
    for (const engine::ReplyDelta& delta : separate(event)) {
        add(delta, pieces);
    }
    if (event.finish) {
        ReplyChoice last = piece();
        last.finish = std::move(event.finish);
        last.hasCalls = m_calls > 0;
        pieces.push_back(std::move(last));
    }
    return pieces;
}

std::vector<engine::ReplyDelta> ChoiceReply::separate(const engine::TokenEvent& event) {
    if (m_shape.dropsOutput) {
        return {};
    }
    const bool wasReasoning = m_parser.isReasoning();
    std::vector<engine::ReplyDelta> deltas = m_parser.push(event.text);
    if (wasReasoning || m_parser.isReasoning()) {
        m_reasoningTokens += static_cast<std::int32_t>(event.tokens.size());
    }
    if (event.finish) {
        std::vector<engine::ReplyDelta> held = m_parser.finish();
        moveBehind(deltas, held);
    }
    return deltas;
}

ReplyChoice ChoiceReply::piece() const {
    ReplyChoice piece;
    piece.index = m_shape.index;
    piece.hasLogprobs = m_shape.hasLogprobs;
    piece.textOffset = m_textOffset;
    return piece;
}

void ChoiceReply::add(const engine::ReplyDelta& delta, std::vector<ReplyChoice>& pieces) {
    using Kind = engine::ReplyDelta::Kind;
    const bool isOfCall = delta.kind == Kind::kCallName || delta.kind == Kind::kCallArguments;
    if (isOfCall && m_shape.hasOneCallAtMost && delta.call > 0) {
        return;
    }
    // A piece is of one kind; one that carries nothing but log-probabilities takes any.
    const bool fits = !pieces.empty() && pieces.back().calls.empty() &&
                      pieces.back().reasoning.empty() &&
                      (pieces.back().text.empty() || delta.kind == Kind::kContent);
    if (!fits) {
        pieces.push_back(piece());
    }
    ReplyChoice& target = pieces.back();
    switch (delta.kind) {
        case Kind::kContent:
            target.text += delta.text;
            break;
        case Kind::kReasoning:
            target.reasoning = delta.text;
            break;
        case Kind::kCallName:
            target.calls.push_back({.index = delta.call,
                                    .id = randomId("call_", kCallIdDigits),
                                    .name = delta.text,
                                    .arguments = {}});
            m_calls = delta.call + 1;
            break;
        case Kind::kCallArguments:
            target.calls.push_back(
                {.index = delta.call, .id = {}, .name = {}, .arguments = delta.text});
            break;
    }
}

void append(ReplyChoice& whole, ReplyChoice piece) {
    whole.text += piece.text;
    whole.reasoning += piece.reasoning;
    for (ReplyCall& call : piece.calls) {
        if (call.name.empty()) {
            whole.calls.at(call.index).arguments += call.arguments;
        } else {
            whole.calls.push_back(std::move(call));
        }
    }
    whole.echoed += piece.echoed;
    whole.hasCalls = whole.hasCalls || piece.hasCalls;
    whole.hasLogprobs = piece.hasLogprobs;
    moveBehind(whole.logprobs, piece.logprobs);
    if (piece.hasPromptLogprobs) {
        whole.hasPromptLogprobs = true;
        whole.promptLogprobs = std::move(piece.promptLogprobs);
    }
    if (piece.finish) {
        whole.finish = std::move(piece.finish);
    }
}

}  // namespace quern::app
