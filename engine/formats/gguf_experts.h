#pragma once

#include "engine/formats/architecture.h"
#include "engine/formats/gguf.h"
#include "engine/formats/gguf_keys.h"
#include "engine/formats/hyperparameters.h"

namespace quern::engine {

/// The experts of a GGUF file, once the dense sizes are read. Errors stay in `keys`.
void readGgufExperts(const GgufFile& file, const Architecture& architecture, GgufKeys& keys,
                     Hyperparameters& parameters);

/// Early files have a matrix an expert, "blk.3.ffn_gate.7.weight": gives them their canonical
/// names.
void renameEarlyExperts(const Hyperparameters& parameters, TensorTable& table);

}  // namespace quern::engine
