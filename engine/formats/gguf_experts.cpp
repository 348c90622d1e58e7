#include "engine/formats/gguf_experts.h"

#include <string>

namespace quern::engine {

namespace {

using kernels::Gating;

// The format's numbers.
Gating readGating(GgufKeys& keys, Gating standard) {
    const std::int64_t number = keys.integerOr("expert_gating_func", 0);
    switch (number) {
        case 0:
            return standard;
        case 1:
            return Gating::kSoftmax;
        case 2:
            return Gating::kSigmoid;
        case 3:
            return Gating::kSoftmaxOfChosen;
        default:
            keys.setError({.code = ErrorCode::kUnsupported,
                           .message = "metadata key " +
                                      quotedName(keys.full("expert_gating_func")) + " is " +
                                      std::to_string(number) +
                                      "; 1 (softmax), 2 (sigmoid) and 3 (softmax of those chosen) "
                                      "are supported"});
            return standard;
    }
}

// Rows of a layer's tensor; 0 where there is none.
std::int64_t rowsOf(const GgufFile& file, std::size_t layer, const std::string& name) {
    const GgufTensor* tensor = file.find("blk." + std::to_string(layer) + "." + name + ".weight");
    return tensor == nullptr ? 0 : tensor->view.shape.dims[0];
}

}  // namespace

void readGgufExperts(const GgufFile& file, const Architecture& architecture, GgufKeys& keys,
                     Hyperparameters& parameters) {
    ExpertsSpec& experts = parameters.experts;
    experts.count = keys.integerOr("expert_count", 0);
    if (experts.count == 0) {
        return;
    }
    if (!architecture.experts.isAllowed) {
        keys.setError({.code = ErrorCode::kUnsupported,
                       .message = "metadata key " + quotedName(keys.full("expert_count")) + " is " +
                                  std::to_string(experts.count) + ": architecture '" +
                                  std::string(architecture.gguf) +
                                  "' is not known to have experts"});
        return;
    }
    // Dense layers stand among those of experts; the router's matrix tells them apart.
    parameters.hasExperts.assign(parameters.heads.size(), false);
    std::size_t first = parameters.heads.size();
    for (std::size_t layer = parameters.heads.size(); layer-- > 0;) {
        parameters.hasExperts[layer] = rowsOf(file, layer, "ffn_gate_inp") > 0;
        first = parameters.hasExperts[layer] ? layer : first;
    }
    if (first == parameters.heads.size()) {
        keys.setError({.code = ErrorCode::kCorrupt,
                       .message = "metadata key " + quotedName(keys.full("expert_count")) + " is " +
                                  std::to_string(experts.count) +
                                  ", but no layer has a tensor ffn_gate_inp"});
        return;
    }
    experts.used = keys.integer("expert_used_count");
    experts.intermediate =
        keys.integerOr("expert_feed_forward_length", parameters.intermediate[first]);
    experts.gating = readGating(keys, architecture.experts.gating);
    experts.normalizes = keys.booleanOr("expert_weights_norm", architecture.experts.normalizes);
    experts.scale = static_cast<float>(keys.numberOr("expert_weights_scale", 1));
    if (experts.scale == 0.0F) {  // converters write 0 for "none"
        experts.scale = 1.0F;
    }
    experts.groups = keys.integerOr("expert_group_count", 1);
    experts.groupsUsed = keys.integerOr("expert_group_used_count", experts.groups);
    experts.gluLimit = architecture.experts.gluLimit;
    experts.ranksGroupsByTwo = experts.gating == Gating::kSigmoid;
    experts.sharedIntermediate = rowsOf(file, first, "ffn_up_shexp");
    experts.hasSharedGate = rowsOf(file, first, "ffn_gate_inp_shexp") > 0;
}

void renameEarlyExperts(const Hyperparameters& parameters, TensorTable& table) {
    for (std::size_t layer = 0; layer < parameters.hasExperts.size(); ++layer) {
        const std::string prefix = "blk." + std::to_string(layer) + ".";
        for (const char* stem : {"ffn_gate", "ffn_up", "ffn_down"}) {
            for (std::int64_t expert = 0; expert < parameters.experts.count; ++expert) {
                const std::string end = "." + std::to_string(expert) + ".weight";
                const auto view = table.find(prefix + stem + end);
                if (!view) {
                    break;
                }
                table.remove(prefix + stem + end);
                table.set(prefix + stem + "_exps" + end, *view);
            }
        }
    }
}

}  // namespace quern::engine
