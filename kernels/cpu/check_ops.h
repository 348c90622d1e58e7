#pragma once

#include <span>

#include "kernels/kernels.h"

namespace quern::kernels::cpu {

/// Checks all of an op list that doesn't depend on a step: ids, shapes, order of writes and reads,
/// weights against their declarations, limits of `options`. The error names the op and the shapes
/// that don't fit. What passes can be planned and run without further checks.
[[nodiscard]] Status checkOps(const OpList& ops, const KvLayout& kv,
                              std::span<const TensorView> weights, const CompileOptions& options);

}  // namespace quern::kernels::cpu
