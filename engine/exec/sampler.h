#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/request.h"

namespace quern::engine {

/// What a sampler looks at besides the logits.
struct SamplerContext {
    std::span<const TokenId> prompt;
    std::span<const TokenId> output;  // tokens generated so far
    std::uint64_t seed = 0;
    std::int32_t choice = 0;
    std::int32_t position = 0;  // of the token to be drawn, counted from the sequence's start
    /// Tokens that may not be drawn now: end of generation before minTokens, padding rows of a
    /// vocabulary, what a grammar forbids. Ascending ids.
    std::span<const TokenId> banned;
};

struct SampledToken {
    TokenId token = 0;
    TokenLogprob logprob;  // filled when asked for; bytes are the caller's business
};

/// Draws one token from one row of logits: penalties and bias, temperature, top-k, typical, top-p,
/// min-p, then a counter-based random number keyed by (seed, choice, position) alone, so the token
/// is a function of (logits, params, seed, choice, position). temperature 0 takes the best, ties to
/// the lowest id. `logits` [vocab] is changed. `topLogprobs`: −1 none, else how many alternatives.
/// Keeps scratch between calls: allocates nothing once warm. Belongs to one thread.
class Sampler {
public:
    [[nodiscard]] SampledToken sample(std::span<float> logits, const SamplingParams& params,
                                      const SamplerContext& context, std::int32_t topLogprobs);

private:
    struct Candidate {
        float logit;
        TokenId token;
    };
    std::vector<Candidate> m_candidates;
    std::vector<float> m_probabilities;
};

}  // namespace quern::engine
