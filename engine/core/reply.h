#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/core/stop_matcher.h"
#include "engine/request.h"

namespace quern::engine {

/// The text of one choice as it grows: detokenizes, watches for stop strings and stop tokens.
/// Belongs to one thread.
class Reply {
public:
    /// `tokenizer` may be null (then there is no text) and must outlive it.
    Reply(const Tokenizer* tokenizer, const PreparedRequest& prepared, TextStart start);

    struct Step {
        std::string text;          // certain now
        bool isTokenShown = true;  // false for a token that ended the reply and is no part of it
        bool isStopped = false;
        std::string stopReason;  // the stop string, or the spelling of the stop token
        std::optional<TokenId> stopToken;
    };
    /// Takes the next token. With `mayStop` false (before minTokens) nothing ends the reply.
    [[nodiscard]] Step push(TokenId token, bool mayStop);
    /// Text that was held, when the reply ends for another reason. An unfinished character is
    /// withheld: half of one is no text.
    [[nodiscard]] std::string takeHeld();

private:
    [[nodiscard]] bool isEndOfGeneration(TokenId token) const;

    const Tokenizer* m_tokenizer;
    std::optional<Detokenizer> m_detokenizer;
    StopMatcher m_matcher;
    std::vector<TokenId> m_stopTokenIds;
    bool m_ignoreEos = false;
    bool m_includeStopText = false;
};

}  // namespace quern::engine
