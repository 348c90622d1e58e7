#pragma once

#include <string>
#include <vector>

#include "engine/convert/gguf_header.h"
#include "engine/formats/read_model.h"

namespace quern::engine::convert {

/// A small tensor that GGUF keeps a rope's numbers in.
struct FactorTensor {
    std::string name;
    std::vector<float> values;
};

/// Adds the keys under "<architecture>." that say the model's shape, as readGgufParameters reads
/// them; returns the tensors that go with them. Keys whose absence means what the model says are
/// left out, as converters do. kUnsupported where the format has no key for what the model has.
[[nodiscard]] Result<std::vector<FactorTensor>> addShapeKeys(const ReadModel& model,
                                                             GgufKeys& keys);

}  // namespace quern::engine::convert
