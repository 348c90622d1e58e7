#include "engine/core/reply.h"

#include <algorithm>
#include <utility>

namespace quern::engine {

Reply::Reply(const Tokenizer* tokenizer, const PreparedRequest& prepared, TextStart start)
    : m_tokenizer(tokenizer),
      m_matcher(prepared.request.output.stop, prepared.request.output.includeStopText),
      m_stopTokenIds(prepared.request.output.stopTokenIds),
      m_ignoreEos(prepared.request.output.ignoreEos),
      m_includeStopText(prepared.request.output.includeStopText) {
    if (tokenizer != nullptr) {
        m_detokenizer.emplace(*tokenizer, prepared.request.output.skipSpecialTokens, start,
                              prepared.markTokens);
    }
}

bool Reply::isEndOfGeneration(TokenId token) const {
    return m_tokenizer != nullptr && !m_ignoreEos &&
           std::ranges::count(m_tokenizer->special().endOfGeneration, token) > 0;
}

Reply::Step Reply::push(TokenId token, bool mayStop) {
    Step step;
    const bool isStopToken = std::ranges::count(m_stopTokenIds, token) > 0;
    if (mayStop && (isStopToken || isEndOfGeneration(token))) {
        step.isStopped = true;
        step.stopToken = token;
        step.isTokenShown = m_includeStopText;
        if (isStopToken && m_tokenizer != nullptr) {
            step.stopReason = m_tokenizer->tokenBytes(token);
        }
        if (!m_includeStopText) {
            step.text = takeHeld();
            return step;
        }
    }
    if (!m_detokenizer) {
        return step;
    }
    std::string text = m_detokenizer->push(token);
    if (!mayStop) {
        step.text = m_matcher.takeHeld() + text;
        return step;
    }
    StopMatcher::Result result = m_matcher.feed(text);
    step.text = std::move(result.text);
    if (step.isStopped) {
        step.text += m_matcher.takeHeld();
    } else if (result.stop) {
        step.isStopped = true;
        step.stopReason = std::move(*result.stop);
    }
    return step;
}

std::string Reply::takeHeld() {
    return m_matcher.takeHeld();
}

}  // namespace quern::engine
