#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quern::engine {

/// The canonical name, suffix included, of a tensor of a layer of experts, from what stands after
/// the layer's number: "mlp.experts.7.down_proj.weight" → "ffn_down_exps.7.weight". Absent for
/// other tensors. Matrices of all experts in one tensor (gate_up_proj, down_proj) become
/// ffn_gate_up_exps and ffn_down_exps; blocks and scales of MXFP4 keep these words as suffixes.
[[nodiscard]] std::optional<std::string> canonicalExpertName(std::string_view name);

}  // namespace quern::engine
