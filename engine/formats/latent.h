#pragma once

#include "engine/formats/architecture.h"
#include "engine/formats/gguf_keys.h"
#include "engine/formats/hf_config.h"
#include "engine/formats/hyperparameters.h"
#include "engine/formats/read_model.h"

namespace quern::engine {

/// Sizes of latent attention, once all else is read. Errors stay in what is read from.
void readHfLatent(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters);
void readGgufLatent(GgufKeys& keys, const Architecture& architecture, Hyperparameters& parameters);

/// Splits attn_kv_b [heads · (nope + value), rank] into attn_k_b, whose matrices are [rank, nope],
/// and views attn_v_b.
[[nodiscard]] Status arrangeLatent(ReadModel& model);

}  // namespace quern::engine
