#include "engine/formats/state_parameters.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace quern::engine {

namespace {

float toStep(double seconds) {
    constexpr double kMost = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(seconds, 0.0, kMost));
}

// The name of the layers in layer_types; Mamba's models have no list.
std::string_view layerType(StateKind kind) {
    return kind == StateKind::kShortConv ? "conv" : "linear_attention";
}

// Every layer but those that a config names as layers of attention, in one of three ways.
std::vector<bool> readStateLayers(HfConfig& config, StateKind kind, std::size_t layers) {
    std::vector<bool> keepsState(layers, true);
    if (kind == StateKind::kMamba2) {
        return keepsState;
    }
    const Json* types = config.find({"layer_types"});
    if (types != nullptr && types->is_array() && types->size() == layers) {
        for (std::size_t i = 0; i < layers; ++i) {
            const Json& type = (*types)[i];
            keepsState[i] =
                type.is_string() && type.get_ref<const std::string&>() == layerType(kind);
        }
        return keepsState;
    }
    if (kind == StateKind::kShortConv) {
        const Json* attention = config.find({"full_attn_idxs"});
        if (attention == nullptr) {
            keepsState.assign(layers, false);
            return keepsState;
        }
        for (const double index : config.numbers(*attention, "full_attn_idxs")) {
            if (index >= 0 && index < static_cast<double>(layers)) {
                keepsState[static_cast<std::size_t>(index)] = false;
            }
        }
        return keepsState;
    }
    const std::int64_t interval = config.integerOr({"full_attention_interval"}, 4);
    for (std::size_t i = 0; i < layers && interval > 0; ++i) {
        keepsState[i] = (static_cast<std::int64_t>(i) + 1) % interval != 0;
    }
    return keepsState;
}

// LFM2 gives the width before it is gated: two thirds of it are used, in whole multiples.
std::int64_t adjustedIntermediate(HfConfig& config, std::int64_t intermediate) {
    intermediate = config.integerOr({"block_ff_dim"}, intermediate);
    if (!config.booleanOr("block_auto_adjust_ff_dim", true)) {
        return intermediate;
    }
    constexpr double kMostSize = 1e12;
    // floor(2 · intermediate / 3), which cannot overflow.
    const std::int64_t twoThirds = 2 * (intermediate / 3) + 2 * (intermediate % 3) / 3;
    const double scaled = std::floor(static_cast<double>(twoThirds) *
                                     config.numberOr({"block_ffn_dim_multiplier"}, 1.0));
    const std::int64_t multiple = config.integerOr({"block_multiple_of"}, 256);
    if (multiple < 1 || !(std::fabs(scaled) < kMostSize) || multiple > (1 << 20)) {
        config.setError(ErrorCode::kCorrupt,
                        "block_multiple_of or block_ffn_dim_multiplier makes "
                        "no size of a feed-forward block");
        return intermediate;
    }
    return (static_cast<std::int64_t>(scaled) + multiple - 1) / multiple * multiple;
}

Mamba2Spec readMamba2(HfConfig& config, kernels::Activation activation) {
    Mamba2Spec spec{.rows = config.required({"conv_kernel"}),
                    .activation = activation,
                    .heads = config.required({"num_heads"}),
                    .headDim = config.required({"head_dim"}),
                    .stateSize = config.required({"state_size"}),
                    .groups = config.required({"n_groups"})};
    if (const Json* limit = config.find({"time_step_limit"}); limit != nullptr) {
        const std::vector<double> steps = config.numbers(*limit, "time_step_limit");
        if (steps.size() == 2) {
            spec.stepMin = toStep(steps[0]);
            spec.stepMax = toStep(steps[1]);
        } else {
            config.setError(ErrorCode::kCorrupt, "time_step_limit is no pair of numbers");
        }
    }
    return spec;
}

DeltaNetSpec readDeltaNet(HfConfig& config, kernels::Activation activation) {
    return {.rows = config.required({"linear_conv_kernel_dim"}),
            .activation = activation,
            .keyHeads = config.required({"linear_num_key_heads"}),
            .valueHeads = config.required({"linear_num_value_heads"}),
            .keyDim = config.required({"linear_key_head_dim"}),
            .valueDim = config.required({"linear_value_head_dim"})};
}

// The inner size, where it is so many equal parts.
std::int64_t partOf(std::int64_t inner, std::int64_t parts) {
    return parts > 0 && inner % parts == 0 ? inner / parts : 0;
}

}  // namespace

bool isStateLayerType(const Architecture& architecture, std::string_view type) {
    return architecture.state != StateKind::kNone && type == layerType(architecture.state);
}

void readHfState(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters) {
    if (architecture.state == StateKind::kNone) {
        return;
    }
    parameters.keepsState =
        readStateLayers(config, architecture.state, parameters.keepsState.size());
    switch (architecture.state) {
        case StateKind::kShortConv:
            parameters.state = ShortConvSpec{.rows = config.required({"conv_L_cache"})};
            for (std::int64_t& intermediate : parameters.intermediate) {
                intermediate = adjustedIntermediate(config, intermediate);
            }
            break;
        case StateKind::kMamba2:
            parameters.state = readMamba2(config, parameters.activation);
            break;
        case StateKind::kDeltaNet:
            parameters.state = readDeltaNet(config, parameters.activation);
            break;
        case StateKind::kNone:
            break;
    }
}

void readGgufState(GgufKeys& keys, const Architecture& architecture, Hyperparameters& parameters) {
    switch (architecture.state) {
        case StateKind::kNone:
            break;
        case StateKind::kShortConv:
            for (std::size_t i = 0; i < parameters.keepsState.size(); ++i) {
                parameters.keepsState[i] = parameters.kvHeads[i] == 0;
            }
            parameters.state = ShortConvSpec{.rows = keys.integer("shortconv.l_cache")};
            break;
        case StateKind::kMamba2: {
            parameters.keepsState.assign(parameters.keepsState.size(), true);
            const std::int64_t heads = keys.integer("ssm.time_step_rank");
            parameters.state = Mamba2Spec{.rows = keys.integer("ssm.conv_kernel"),
                                          .heads = heads,
                                          .headDim = partOf(keys.integer("ssm.inner_size"), heads),
                                          .stateSize = keys.integer("ssm.state_size"),
                                          .groups = keys.integer("ssm.group_count")};
            break;
        }
        case StateKind::kDeltaNet: {
            const std::int64_t interval = keys.integerOr("full_attention_interval", 4);
            for (std::size_t i = 0; i < parameters.keepsState.size(); ++i) {
                parameters.keepsState[i] =
                    interval < 1 || (static_cast<std::int64_t>(i) + 1) % interval != 0;
            }
            const std::int64_t heads = keys.integer("ssm.time_step_rank");
            parameters.state =
                DeltaNetSpec{.rows = keys.integer("ssm.conv_kernel"),
                             .keyHeads = keys.integer("ssm.group_count"),
                             .valueHeads = heads,
                             .keyDim = keys.integer("ssm.state_size"),
                             .valueDim = partOf(keys.integer("ssm.inner_size"), heads)};
            break;
        }
    }
}

}  // namespace quern::engine
