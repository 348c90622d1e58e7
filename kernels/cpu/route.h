#pragma once

#include <cstdint>

#include "kernels/cpu/tier_kernels.h"
#include "kernels/ops.h"

namespace quern::kernels::cpu {

/// A RouteOp with its numbers at hand.
struct RouteArgs {
    Gating gating = Gating::kSoftmax;
    std::int64_t choices = 0;
    std::int64_t used = 0;
    std::int64_t groups = 1;
    std::int64_t groupsUsed = 1;
    bool ranksGroupsByTwo = false;
    bool normalizes = false;
    float scale = 1.0F;
    const float* bias = nullptr;  // [choices]
    std::int64_t scratchFloats() const { return 2 * choices + 2 * groups; }
};

/// Routes one row: `out` [2 · used] gets indices and shares as RouteOp says. `scratch` holds
/// scratchFloats(). Logits that are not numbers still give indices that are in range and differ.
void route(const RouteArgs& args, const TierKernels& kernels, const float* logits, float* scratch,
           float* out);

}  // namespace quern::kernels::cpu
