#pragma once

#include "engine/model/pass_builder.h"

namespace quern::engine {

/// The scores of pooled rows `x` [R, hidden]: tensors cls, cls.norm and cls.output (see ModelSpec).
[[nodiscard]] kernels::ValueId scoreRows(PassBuilder& pass, const ScoreHead& head,
                                         std::int64_t hidden, kernels::ValueId x);

}  // namespace quern::engine
