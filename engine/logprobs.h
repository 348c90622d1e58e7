#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "engine/text.h"

namespace quern::engine {

/// A token beside its logit.
struct TokenLogit {
    TokenId token = 0;
    float logit = 0.0F;
};

/// log Σ exp(logits), summed in double in order of ids: log p(token) is logit − this. NaN counts as
/// −inf; −inf when nothing is finite.
[[nodiscard]] double logSumExp(std::span<const float> logits);

/// log p of one token; −inf for a NaN logit or where nothing is finite.
[[nodiscard]] double logProbability(float logit, double logSum);

/// The highest logit's id, ties to the lowest id, NaN never; −1 when every logit is NaN or −inf.
[[nodiscard]] TokenId bestToken(std::span<const float> logits);

/// The `count` highest logits, best first, ties to the lowest id, NaN and −inf left out. One pass
/// with a heap of `count`; `out` is reused.
void topTokens(std::span<const float> logits, std::size_t count, std::vector<TokenLogit>& out);

/// Whether none is NaN or +inf: a model that is whole gives no such logits.
[[nodiscard]] bool areNumbers(std::span<const float> logits);

}  // namespace quern::engine
