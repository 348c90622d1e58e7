#pragma once

#include "engine/formats/hyperparameters.h"
#include "engine/formats/tensor_table.h"

namespace quern::engine {

/// Brings a GGUF file's names of layers with a state to those of Hugging Face folders, as
/// canonicalHfName gives them: what both have fused is still fused.
void renameGgufState(const Architecture& architecture, const Hyperparameters& parameters,
                     TensorTable& table);

/// Splits and transforms them into the tensors that ModelSpec speaks of. kCorrupt names the tensor
/// whose rows are not what the parameters say.
[[nodiscard]] Status arrangeState(const Architecture& architecture,
                                  const Hyperparameters& parameters, TensorTable& table);

}  // namespace quern::engine
