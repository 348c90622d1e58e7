#include "engine/formats/hf_experts.h"

#include <algorithm>
#include <string>

namespace quern::engine {

namespace {

using kernels::Gating;

Gating readGating(HfConfig& config, Gating standard) {
    const std::string name = config.string({"scoring_func"});
    if (name.empty()) {
        return standard;
    }
    if (name == "softmax") {
        return Gating::kSoftmax;
    }
    if (name == "sigmoid") {
        return Gating::kSigmoid;
    }
    config.setError(ErrorCode::kUnsupported, "scoring_func is '" + name.substr(0, 64) +
                                                 "'; softmax and sigmoid are supported");
    return standard;
}

void readGroups(HfConfig& config, ExpertsSpec& experts) {
    const std::string method = config.string({"topk_method"});
    if (method == "greedy") {
        return;
    }
    if (!method.empty() && method != "group_limited_greedy" && method != "noaux_tc") {
        config.setError(ErrorCode::kUnsupported,
                        "topk_method is '" + method.substr(0, 64) +
                            "'; greedy, group_limited_greedy and noaux_tc are supported");
    }
    experts.groups = config.integerOr({"n_group"}, 1);
    experts.groupsUsed = config.integerOr({"topk_group"}, experts.groups);
    experts.ranksGroupsByTwo = experts.gating == Gating::kSigmoid;
}

// Which layers have experts: from a first one on to a last one, each n-th, and not those of a list.
void readLayers(HfConfig& config, Hyperparameters& parameters) {
    const std::int64_t first =
        config.integerOr({"first_k_dense_replace", "num_dense_layers", "moe_layer_start_index"}, 0);
    const std::int64_t last = config.integerOr({"moe_layer_end_index"}, -1);
    const std::int64_t step = config.integerOr({"decoder_sparse_step", "moe_layer_interval"}, 1);
    const std::int64_t frequency = config.integerOr({"moe_layer_freq"}, 1);
    if (step < 1 || frequency < 1) {
        config.setError(ErrorCode::kCorrupt, "decoder_sparse_step is " + std::to_string(step) +
                                                 " and moe_layer_freq is " +
                                                 std::to_string(frequency) +
                                                 "; each must be at least 1");
        return;
    }
    std::vector<double> dense;
    if (const Json* list = config.find({"mlp_only_layers"}); list != nullptr) {
        dense = config.numbers(*list, "mlp_only_layers");
    }
    for (std::int64_t layer = 0; layer < parameters.layers(); ++layer) {
        parameters.hasExperts.push_back(
            layer >= first && (last < 0 || layer <= last) && (layer + 1) % step == 0 &&
            layer % frequency == 0 &&
            std::find(dense.begin(), dense.end(), static_cast<double>(layer)) == dense.end());
    }
}

}  // namespace

void readHfExperts(HfConfig& config, const Architecture& architecture,
                   Hyperparameters& parameters) {
    if (!architecture.experts.isAllowed) {
        return;
    }
    ExpertsSpec& experts = parameters.experts;
    experts.count = config.integerOr(
        {"num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"}, 0);
    if (experts.count == 0) {
        return;
    }
    experts.used = config.required({"num_experts_per_tok", "experts_per_token", "moe_k"});
    experts.intermediate =
        config.integerOr({"moe_intermediate_size"}, parameters.intermediate.front());
    experts.gating = readGating(config, architecture.experts.gating);
    experts.normalizes =
        architecture.experts.hfNormalizes.value_or(config.booleanOr("norm_topk_prob", false));
    experts.scale = static_cast<float>(config.numberOr({"routed_scaling_factor"}, 1));
    readGroups(config, experts);
    if (architecture.experts.gluLimit > 0) {
        experts.gluLimit = static_cast<float>(
            config.numberOr({"swiglu_limit"}, static_cast<double>(architecture.experts.gluLimit)));
        experts.gluAlpha = static_cast<float>(
            config.numberOr({"swiglu_alpha"}, static_cast<double>(experts.gluAlpha)));
    }
    if (const auto width = config.integer({"shared_intermediate_size"})) {
        experts.sharedIntermediate = *width;
    } else if (config.number({"shared_expert_intermediate_size"})) {
        experts.sharedIntermediate = config.integerOr({"shared_expert_intermediate_size"}, 0);
        experts.hasSharedGate = experts.sharedIntermediate > 0;
    } else {
        const std::int64_t most = std::int64_t{1} << 16;
        const std::int64_t shared =
            config.integerOr({"n_shared_experts", "moe_num_shared_experts"}, 0);
        if (shared < 0 || shared > most) {
            config.setError(ErrorCode::kCorrupt, "n_shared_experts is " + std::to_string(shared) +
                                                     "; 0 to " + std::to_string(most) +
                                                     " are allowed");
            return;
        }
        // What is no size is refused with the rest of the experts.
        experts.sharedIntermediate = shared * std::clamp(experts.intermediate, -most, most * most);
    }
    readLayers(config, parameters);
}

}  // namespace quern::engine
