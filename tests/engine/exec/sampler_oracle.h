#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <vector>

#include "engine/exec/sampler.h"

namespace quern::test {

/// The distribution that a sampler should draw from, the long way round: sorts everything, in
/// double. [vocab], sums to 1. Logits are finite.
inline std::vector<double> oracle(std::span<const float> raw, const engine::SamplingParams& params,
                                  const engine::SamplerContext& context) {
    const std::size_t vocab = raw.size();
    std::vector<double> logits(raw.begin(), raw.end());
    std::vector<engine::TokenId> history(context.prompt.begin(), context.prompt.end());
    history.insert(history.end(), context.output.begin(), context.output.end());
    if (params.repeatLastN >= 0 && history.size() > static_cast<std::size_t>(params.repeatLastN)) {
        history.erase(history.begin(), history.end() - params.repeatLastN);
    }
    for (const auto token : std::set<engine::TokenId>(history.begin(), history.end())) {
        double& logit = logits[static_cast<std::size_t>(token)];
        logit = logit > 0 ? logit / params.repetitionPenalty : logit * params.repetitionPenalty;
    }
    std::map<engine::TokenId, int> counts;
    for (const auto token : context.output) {
        ++counts[token];
    }
    for (const auto& [token, count] : counts) {
        logits[static_cast<std::size_t>(token)] -=
            count * static_cast<double>(params.frequencyPenalty) + params.presencePenalty;
    }
    for (const auto& [token, bias] : params.logitBias) {
        logits[static_cast<std::size_t>(token)] += bias;
    }

    std::vector<std::size_t> alive(vocab);
    std::iota(alive.begin(), alive.end(), std::size_t{0});
    const auto isIn = [](const auto& tokens, std::size_t token) {
        return std::find(tokens.begin(), tokens.end(), static_cast<engine::TokenId>(token)) !=
               tokens.end();
    };
    std::erase_if(alive, [&](std::size_t token) {
        return (!params.allowedTokenIds.empty() && !isIn(params.allowedTokenIds, token)) ||
               isIn(context.banned, token);
    });
    std::vector<double> p(vocab, 0.0);
    const auto softmax = [&] {
        double most = -1e300;
        for (const auto token : alive) {
            most = std::max(most, logits[token]);
        }
        double sum = 0;
        std::fill(p.begin(), p.end(), 0.0);
        for (const auto token : alive) {
            sum += p[token] = std::exp((logits[token] - most) / params.temperature);
        }
        for (double& share : p) {
            share /= sum;
        }
    };
    const auto byLogit = [&](std::size_t a, std::size_t b) {
        return logits[a] != logits[b] ? logits[a] > logits[b] : a < b;
    };
    const auto keepMass = [&](double mass) {
        double held = 0;
        std::size_t kept = 0;
        while (kept < alive.size() && (kept == 0 || held < mass)) {
            held += p[alive[kept++]];
        }
        alive.resize(kept);
        softmax();
    };

    std::sort(alive.begin(), alive.end(), byLogit);
    if (params.topK > 0 && static_cast<std::size_t>(params.topK) < alive.size()) {
        alive.resize(static_cast<std::size_t>(params.topK));
    }
    softmax();
    if (params.typicalP < 1) {
        double entropy = 0;
        for (const auto token : alive) {
            entropy -= p[token] > 0 ? p[token] * std::log(p[token]) : 0;
        }
        std::stable_sort(alive.begin(), alive.end(), [&](std::size_t a, std::size_t b) {
            return std::abs(-std::log(p[a]) - entropy) < std::abs(-std::log(p[b]) - entropy);
        });
        keepMass(params.typicalP);
    }
    std::sort(alive.begin(), alive.end(), byLogit);
    if (params.topP < 1) {
        keepMass(params.topP);
    }
    if (params.minP > 0) {
        const double most = *std::max_element(p.begin(), p.end());
        std::erase_if(alive, [&](std::size_t token) { return p[token] < params.minP * most; });
        softmax();
    }
    return p;
}

}  // namespace quern::test
