#include "engine/logprobs.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace quern::engine {

namespace {

constexpr float kImpossible = -std::numeric_limits<float>::infinity();

bool isBetter(const TokenLogit& a, const TokenLogit& b) {
    return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
}

}  // namespace

double logSumExp(std::span<const float> logits) {
    float most = kImpossible;
    for (const float logit : logits) {
        most = logit > most ? logit : most;
    }
    if (std::isinf(most)) {
        return most;
    }
    double sum = 0;
    for (const float logit : logits) {
        if (logit > kImpossible) {
            sum += std::exp(logit - most);
        }
    }
    return static_cast<double>(most) + std::log(sum);
}

double logProbability(float logit, double logSum) {
    if (std::isnan(logit) || std::isinf(logSum)) {
        return logit > 0 && std::isinf(logit) ? 0.0 : kImpossible;
    }
    return static_cast<double>(logit) - logSum;
}

bool areNumbers(std::span<const float> logits) {
    // On the bits, without a branch: every row of every step is looked at.
    constexpr std::uint32_t kInfinity = 0x7F800000U;
    constexpr std::uint32_t kMinusInfinity = 0xFF800000U;
    std::uint32_t strange = 0;
    for (const float logit : logits) {
        const auto bits = std::bit_cast<std::uint32_t>(logit);
        strange |= static_cast<std::uint32_t>((bits & kInfinity) == kInfinity) &
                   static_cast<std::uint32_t>(bits != kMinusInfinity);
    }
    return strange == 0;
}

TokenId bestToken(std::span<const float> logits) {
    float most = kImpossible;
    TokenId best = -1;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (logits[i] > most) {
            most = logits[i];
            best = static_cast<TokenId>(i);
        }
    }
    return best;
}

void topTokens(std::span<const float> logits, std::size_t count, std::vector<TokenLogit>& out) {
    out.clear();
    if (count == 0) {
        return;
    }
    out.reserve(std::min(count, logits.size()));
    // A heap whose front is the worst of those kept: most tokens fail one comparison.
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const TokenLogit entry{.token = static_cast<TokenId>(i), .logit = logits[i]};
        if (!(entry.logit > kImpossible)) {
            continue;
        }
        if (out.size() < count) {
            out.push_back(entry);
            std::push_heap(out.begin(), out.end(), isBetter);
        } else if (entry.logit > out.front().logit) {
            std::pop_heap(out.begin(), out.end(), isBetter);
            out.back() = entry;
            std::push_heap(out.begin(), out.end(), isBetter);
        }
    }
    std::sort_heap(out.begin(), out.end(), isBetter);
}

}  // namespace quern::engine
