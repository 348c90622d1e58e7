#pragma once

#include "kernels/cpu/kv_cache.h"
#include "kernels/cpu/stages.h"
#include "kernels/kernels.h"

namespace quern::kernels::cpu {

/// What a program was compiled for.
struct StepLimits {
    const ProgramImage& image;
    const KvLayout& kv;
    const CompileOptions& options;
    std::uint64_t programId = 0;
};

/// Checks a step's inputs before anything is computed: counts, ids, positions, and a block for
/// every key that a token writes or may see. The error names the value that is wrong. Allocates
/// nothing when all is right.
[[nodiscard]] Status checkStep(const StepLimits& limits, const CpuKvCache& cache,
                               const StepInputs& inputs, const StepOutputs& outputs);

}  // namespace quern::kernels::cpu
