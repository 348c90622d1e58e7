#pragma once

#include <vector>

#include "engine/formats/read_model.h"

namespace quern::engine {

/// What arrangeTensors() will write anew in float32, a row for each type and reason.
[[nodiscard]] std::vector<Rewritten> rewrittenWeights(const ReadModel& model);

}  // namespace quern::engine
