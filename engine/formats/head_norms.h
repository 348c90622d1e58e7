#pragma once

#include "engine/formats/hyperparameters.h"
#include "engine/formats/tensor_table.h"

namespace quern::engine {

/// Puts together norms of queries and keys that a folder keeps a head at a time (canonical names
/// blk.N.attn_q_norm.H.weight [keyDim]) as blk.N.attn_q_norm.weight [heads, keyDim]. kCorrupt names
/// the one that is missing or of another size.
[[nodiscard]] Status joinHeadNorms(const Hyperparameters& parameters, TensorTable& table);

}  // namespace quern::engine
