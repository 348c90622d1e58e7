#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/formats/architecture.h"

namespace quern::engine {

struct HfName {
    enum class Kind : std::uint8_t { kKnown, kIgnored, kUnknown };
    Kind kind = Kind::kUnknown;
    std::string canonical;  // when known; fused tensors: attn_qkv, ffn_gate_up
};

/// The canonical name of a tensor in a Hugging Face folder:
/// "model.layers.3.self_attn.q_proj.weight" → "blk.3.attn_q.weight". Ignored are buffers that hold
/// no weights, and what belongs to other modalities.
[[nodiscard]] HfName canonicalHfName(const Architecture& architecture, std::string_view name);

/// The layer that a tensor is of, whatever it is called there; −1 outside of layers.
[[nodiscard]] std::int64_t layerOfHfName(std::string_view name);

}  // namespace quern::engine
