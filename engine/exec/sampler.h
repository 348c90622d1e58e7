#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/logprobs.h"
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

/// Draws one token from one row of logits. In this order:
///   1. repetition penalty (prompt and output, the last repeatLastN), frequency and presence
///      penalties (output), logit bias;
///   2. only allowedTokenIds stay, banned tokens go;
///   3. temperature 0 (or below): the best, ties to the lowest id. Else logits / temperature;
///   4. top-k, typical, top-p, min-p, each on what the one before left, renormalized; each leaves
///   at
///      least one token;
///   5. a walk over the rest in ascending ids, up to a random number keyed by (seed, choice,
///      position).
/// So the token is a function of (logits, params, seed, choice, position, the tokens before). NaN
/// counts as −inf; +inf wins. Where nothing is left, the lowest id that is allowed and not banned.
/// Log-probabilities are those of the unmodified logits, before 1.
/// Keeps scratch between calls: allocates nothing once warm. Belongs to one thread.
class Sampler {
public:
    /// `logits` [vocab] is changed. `topLogprobs`: −1 none, else how many of the best to list.
    [[nodiscard]] SampledToken sample(std::span<float> logits, const SamplingParams& params,
                                      const SamplerContext& context, std::int32_t topLogprobs);

private:
    struct Candidate {
        float logit = 0.0F;
        float weight = 0.0F;  // exp((logit − best) / temperature)
        float score = 0.0F;   // typical: distance of the information from the entropy
        TokenId token = 0;
    };

    void applyPenalties(std::span<float> logits, const SamplingParams& params,
                        const SamplerContext& context);
    void applyBans(std::span<float> logits, const SamplingParams& params,
                   const SamplerContext& context);
    [[nodiscard]] TokenId draw(std::span<const float> logits, const SamplingParams& params,
                               TokenId best, double random);
    void collect(std::span<const float> logits, const SamplingParams& params, float most);
    void keepTypical(double mass);
    void keepTopP(double mass);
    void keepMinP(float share);
    [[nodiscard]] double totalWeight() const;
    template <class Before>
    void keepPrefix(double wanted, Before before);
    void describe(SampledToken& sampled, std::int32_t topLogprobs);

    std::vector<Candidate> m_candidates;
    std::vector<float> m_raw;  // the logits as they came, when log-probabilities are wanted
    std::vector<std::int32_t> m_counts;  // [vocab], zero between calls
    std::vector<float> m_kept;
    std::vector<TokenLogit> m_top;
};

}  // namespace quern::engine
