#pragma once

#include "engine/convert/prefixed_keys.h"
#include "engine/formats/read_model.h"

namespace quern::engine::convert {

/// Keys of kinds of layers that not every model has. Each adds nothing to a model without its kind.
void addExpertKeys(const ReadModel& model, PrefixedKeys& keys);
void addLatentKeys(const ReadModel& model, PrefixedKeys& keys);
void addStateKeys(const ReadModel& model, PrefixedKeys& keys);
/// Of models that read both ways, and of poolings.
void addVectorKeys(const ReadModel& model, PrefixedKeys& keys);

}  // namespace quern::engine::convert
