#include "engine/exec/sampler.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "engine/exec/philox.h"

namespace quern::engine {

namespace {

constexpr float kNever = -std::numeric_limits<float>::infinity();

bool isIn(std::span<const float> logits, TokenId token) {
    return token >= 0 && static_cast<std::size_t>(token) < logits.size();
}

float& at(std::span<float> logits, TokenId token) {
    return logits[static_cast<std::size_t>(token)];
}

/// What is drawn when no token has a finite logit.
TokenId lowestPermitted(std::size_t vocab, const SamplingParams& params,
                        const SamplerContext& context) {
    const auto isBanned = [&](TokenId token) {
        return std::binary_search(context.banned.begin(), context.banned.end(), token);
    };
    const auto size = static_cast<TokenId>(vocab);
    TokenId lowest = size;
    for (const TokenId token : params.allowedTokenIds) {
        if (token >= 0 && token < lowest && !isBanned(token)) {
            lowest = token;
        }
    }
    if (params.allowedTokenIds.empty()) {
        lowest = 0;
        while (lowest < size && isBanned(lowest)) {
            ++lowest;
        }
    }
    return lowest < size ? lowest : 0;
}

}  // namespace

SampledToken Sampler::sample(std::span<float> logits, const SamplingParams& params,
                             const SamplerContext& context, std::int32_t topLogprobs) {
    if (topLogprobs >= 0) {
        m_raw.assign(logits.begin(), logits.end());
    }
    applyPenalties(logits, params, context);
    applyBans(logits, params, context);
    const TokenId best = bestToken(logits);
    SampledToken sampled;
    if (best < 0) {
        sampled.token = lowestPermitted(logits.size(), params, context);
    } else if (!(params.temperature > 0.0F) || std::isinf(at(logits, best))) {
        sampled.token = best;
    } else {
        sampled.token =
            draw(logits, params, best, uniform(context.seed, context.choice, context.position));
    }
    if (topLogprobs >= 0) {
        describe(sampled, topLogprobs);
    }
    return sampled;
}

void Sampler::applyPenalties(std::span<float> logits, const SamplingParams& params,
                             const SamplerContext& context) {
    m_counts.resize(logits.size(), 0);
    const auto count = [&](TokenId token) -> std::int32_t& {
        return m_counts[static_cast<std::size_t>(token)];
    };
    const auto clear = [&](std::span<const TokenId> tokens) {
        for (const TokenId token : tokens) {
            if (isIn(logits, token)) {
                count(token) = 0;
            }
        }
    };

    if (params.repetitionPenalty > 0.0F && params.repetitionPenalty != 1.0F) {
        std::size_t left = params.repeatLastN < 0 ? std::numeric_limits<std::size_t>::max()
                                                  : static_cast<std::size_t>(params.repeatLastN);
        const auto outputLeft = std::min(left, context.output.size());
        left -= outputLeft;
        const auto promptLeft = std::min(left, context.prompt.size());
        for (const auto tokens :
             {context.prompt.last(promptLeft), context.output.last(outputLeft)}) {
            for (const TokenId token : tokens) {
                if (isIn(logits, token) && count(token)++ == 0) {
                    float& logit = at(logits, token);
                    logit = logit > 0.0F ? logit / params.repetitionPenalty
                                         : logit * params.repetitionPenalty;
                }
            }
        }
        clear(context.prompt.last(promptLeft));
        clear(context.output.last(outputLeft));
    }

    if (params.frequencyPenalty != 0.0F || params.presencePenalty != 0.0F) {
        for (const TokenId token : context.output) {
            if (isIn(logits, token)) {
                ++count(token);
            }
        }
        for (const TokenId token : context.output) {
            if (isIn(logits, token) && count(token) > 0) {
                at(logits, token) -= static_cast<float>(count(token)) * params.frequencyPenalty +
                                     params.presencePenalty;
                count(token) = 0;
            }
        }
    }

    for (const auto& [token, bias] : params.logitBias) {
        if (isIn(logits, token)) {
            at(logits, token) += bias;
        }
    }
}

void Sampler::applyBans(std::span<float> logits, const SamplingParams& params,
                        const SamplerContext& context) {
    if (!params.allowedTokenIds.empty()) {
        m_kept.clear();
        for (const TokenId token : params.allowedTokenIds) {
            m_kept.push_back(isIn(logits, token) ? at(logits, token) : kNever);
        }
        std::fill(logits.begin(), logits.end(), kNever);
        for (std::size_t i = 0; i < m_kept.size(); ++i) {
            if (isIn(logits, params.allowedTokenIds[i])) {
                at(logits, params.allowedTokenIds[i]) = m_kept[i];
            }
        }
    }
    for (const TokenId token : context.banned) {
        if (isIn(logits, token)) {
            at(logits, token) = kNever;
        }
    }
}

TokenId Sampler::draw(std::span<const float> logits, const SamplingParams& params, TokenId best,
                      double random) {
    collect(logits, params, logits[static_cast<std::size_t>(best)]);
    if (params.typicalP > 0.0F && params.typicalP < 1.0F) {
        keepTypical(params.typicalP);
    }
    if (params.topP < 1.0F) {
        keepTopP(std::max(params.topP, 0.0F));
    }
    if (params.minP > 0.0F) {
        keepMinP(params.minP);
    }
    const auto byToken = [](const Candidate& a, const Candidate& b) { return a.token < b.token; };
    if (!std::is_sorted(m_candidates.begin(), m_candidates.end(), byToken)) {
        std::sort(m_candidates.begin(), m_candidates.end(), byToken);
    }
    const double target = random * totalWeight();
    double passed = 0;
    TokenId drawn = best;
    for (const Candidate& candidate : m_candidates) {
        if (candidate.weight > 0.0F) {
            drawn = candidate.token;
            passed += candidate.weight;
            if (passed > target) {
                break;
            }
        }
    }
    return drawn;
}

/// Fills m_candidates with the tokens that top-k leaves, or all.
void Sampler::collect(std::span<const float> logits, const SamplingParams& params, float most) {
    const auto weigh = [&](float logit) { return std::exp((logit - most) / params.temperature); };
    m_candidates.clear();
    // A heap is cheaper than a selection while it is small beside the vocabulary.
    constexpr std::size_t kHeapMost = 1024;
    const bool limits = params.topK > 0 && static_cast<std::size_t>(params.topK) < logits.size();
    const auto limit = static_cast<std::size_t>(std::max(params.topK, 0));
    if (limits && limit <= kHeapMost) {
        topTokens(logits, limit, m_top);
        for (const TokenLogit& entry : m_top) {
            m_candidates.push_back({entry.logit, weigh(entry.logit), 0.0F, entry.token});
        }
        return;
    }
    for (std::size_t i = 0; i < logits.size(); ++i) {
        if (logits[i] > kNever) {
            m_candidates.push_back({logits[i], weigh(logits[i]), 0.0F, static_cast<TokenId>(i)});
        }
    }
    if (limits && limit < m_candidates.size()) {
        std::nth_element(m_candidates.begin(),
                         m_candidates.begin() + static_cast<std::ptrdiff_t>(limit),
                         m_candidates.end(), [](const Candidate& a, const Candidate& b) {
                             return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
                         });
        m_candidates.resize(limit);
    }
}

double Sampler::totalWeight() const {
    double total = 0;
    for (const Candidate& candidate : m_candidates) {
        total += candidate.weight;
    }
    return total;
}

/// Keeps the shortest prefix, in the order of `before`, whose weights reach `wanted`; one token at
/// least. Sorts no further than that.
template <class Before>
void Sampler::keepPrefix(double wanted, Before before) {
    double held = 0;
    std::size_t kept = 0;
    std::size_t sorted = 0;
    for (std::size_t chunk = 64; kept < m_candidates.size(); chunk *= 4) {
        if (kept == sorted) {
            const std::size_t end = std::min(sorted + chunk, m_candidates.size());
            const auto first = m_candidates.begin() + static_cast<std::ptrdiff_t>(sorted);
            const auto last = m_candidates.begin() + static_cast<std::ptrdiff_t>(end);
            if (last != m_candidates.end()) {
                std::nth_element(first, last, m_candidates.end(), before);
            }
            std::sort(first, last, before);
            sorted = end;
        }
        while (kept < sorted && (kept == 0 || held < wanted)) {
            held += m_candidates[kept++].weight;
        }
        if (held >= wanted) {
            break;
        }
    }
    m_candidates.resize(kept);
}

void Sampler::keepTopP(double mass) {
    const double total = totalWeight();
    // Tokens below this hold less than 1 − mass together, so the prefix ends before any of them:
    // most of a vocabulary needs no ordering.
    const double least = (1 - mass) * total / static_cast<double>(m_candidates.size());
    std::erase_if(m_candidates,
                  [least](const Candidate& candidate) { return candidate.weight < least; });
    keepPrefix(mass * total, [](const Candidate& a, const Candidate& b) {
        return a.logit != b.logit ? a.logit > b.logit : a.token < b.token;
    });
}

/// Meister et al. 2022: the tokens whose information is nearest to the entropy. With weights w of
/// sum Z, −log p = log Z − log w; the entropy is its mean.
void Sampler::keepTypical(double mass) {
    const double total = totalWeight();
    double weightedLog = 0;
    for (const Candidate& candidate : m_candidates) {
        if (candidate.weight > 0.0F) {
            const double weight = candidate.weight;
            weightedLog += weight * std::log(weight);
        }
    }
    // |−log p − entropy| = |log w − Σ w log w / Z|: log Z falls out.
    const double expected = weightedLog / total;
    for (Candidate& candidate : m_candidates) {
        const double logWeight = std::log(static_cast<double>(candidate.weight));
        candidate.score = static_cast<float>(std::abs(logWeight - expected));
    }
    keepPrefix(mass * total, [](const Candidate& a, const Candidate& b) {
        return a.score != b.score ? a.score < b.score : a.token < b.token;
    });
}

void Sampler::keepMinP(float share) {
    float most = 0.0F;
    for (const Candidate& candidate : m_candidates) {
        most = std::max(most, candidate.weight);
    }
    const float least = std::min(share, 1.0F) * most;
    std::erase_if(m_candidates,
                  [least](const Candidate& candidate) { return candidate.weight < least; });
}

void Sampler::describe(SampledToken& sampled, std::int32_t topLogprobs) {
    const double logSum = logSumExp(m_raw);
    const auto entry = [&](TokenId token, float logit) {
        return TokenLogprob{.token = token,
                            .logprob = static_cast<float>(logProbability(logit, logSum))};
    };
    const auto index = static_cast<std::size_t>(sampled.token);
    sampled.logprob = entry(sampled.token, index < m_raw.size() ? m_raw[index] : kNever);
    topTokens(m_raw, static_cast<std::size_t>(topLogprobs), m_top);
    sampled.logprob.top.reserve(m_top.size());
    for (const TokenLogit& top : m_top) {
        sampled.logprob.top.push_back(entry(top.token, top.logit));
    }
}

}  // namespace quern::engine
