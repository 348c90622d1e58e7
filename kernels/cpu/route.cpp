#include "kernels/cpu/route.h"

#include <algorithm>
#include <limits>

namespace quern::kernels::cpu {

namespace {

constexpr float kLeast = -std::numeric_limits<float>::infinity();

/// The best `most` of what was offered, best first; of equal ones the earlier. Indices are kept as
/// floats, exact up to 2^24, for that is what a value holds.
class Best {
public:
    Best(float* indices, float* scores, std::int64_t most)
        : m_indices(indices), m_scores(scores), m_most(most) {}

    void offer(std::int64_t index, float score) {
        if (m_count == m_most && !(score > m_scores[m_most - 1])) {
            return;
        }
        std::int64_t at = m_count < m_most ? m_count++ : m_most - 1;
        for (; at > 0 && score > m_scores[at - 1]; --at) {
            m_scores[at] = m_scores[at - 1];
            m_indices[at] = m_indices[at - 1];
        }
        m_scores[at] = score;
        m_indices[at] = static_cast<float>(index);
    }

private:
    float* m_indices;
    float* m_scores;
    std::int64_t m_most;
    std::int64_t m_count = 0;
};

float scoreOfGroup(const float* scores, std::int64_t count, bool byTwo) {
    float first = kLeast;
    float second = kLeast;
    for (std::int64_t i = 0; i < count; ++i) {
        if (scores[i] > first) {
            second = first;
            first = scores[i];
        } else if (scores[i] > second) {
            second = scores[i];
        }
    }
    return byTwo ? first + second : first;
}

/// Leaves out the columns of all but the best groups: calls offer(index) for the others, ascending.
template <class Offer>
void forEachAllowed(const RouteArgs& args, const float* scores, float* scratch, Offer offer) {
    const std::int64_t size = args.choices / args.groups;
    if (args.groupsUsed >= args.groups) {
        for (std::int64_t i = 0; i < args.choices; ++i) {
            offer(i);
        }
        return;
    }
    float* chosen = scratch;
    Best best(chosen, scratch + args.groups, args.groupsUsed);
    for (std::int64_t group = 0; group < args.groups; ++group) {
        best.offer(group, scoreOfGroup(scores + group * size, size, args.ranksGroupsByTwo));
    }
    std::sort(chosen, chosen + args.groupsUsed);
    for (std::int64_t g = 0; g < args.groupsUsed; ++g) {
        const std::int64_t first = static_cast<std::int64_t>(chosen[g]) * size;
        for (std::int64_t i = first; i < first + size; ++i) {
            offer(i);
        }
    }
}

}  // namespace

void route(const RouteArgs& args, const TierKernels& kernels, const float* logits, float* scratch,
           float* out) {
    float* scores = scratch;
    float* compared = scores;
    if (args.gating == Gating::kSoftmax) {
        kernels.softmax(logits, scores, args.choices);
    } else if (args.gating == Gating::kSigmoid) {
        kernels.sigmoid(logits, scores, args.choices);
    } else {
        std::copy_n(logits, args.choices, scores);
    }
    if (args.bias != nullptr) {
        compared = scratch + args.choices;
        kernels.add(scores, args.bias, compared, args.choices);
    }
    float* shares = out + args.used;
    Best best(out, shares, args.used);
    forEachAllowed(args, compared, scratch + 2 * args.choices,
                   [&](std::int64_t i) { best.offer(i, compared[i]); });
    for (std::int64_t s = 0; s < args.used; ++s) {
        shares[s] = scores[static_cast<std::int64_t>(out[s])];
    }
    if (args.gating == Gating::kSoftmaxOfChosen) {
        kernels.softmax(shares, shares, args.used);
    }
    if (args.normalizes) {
        // As the reference guards the division; far below one rounding of any real sum.
        float sum = 1e-20F;
        for (std::int64_t s = 0; s < args.used; ++s) {
            sum += shares[s];
        }
        for (std::int64_t s = 0; s < args.used; ++s) {
            shares[s] /= sum;
        }
    }
    kernels.scale(shares, args.scale, shares, args.used);
}

}  // namespace quern::kernels::cpu
