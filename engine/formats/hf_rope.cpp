#include "engine/formats/hf_rope.h"

#include <cmath>
#include <string>

namespace quern::engine {

namespace {

using Scaling = RopeSpec::Scaling;

// What is the same for every rope of a model, from the config's top level.
RopeSpec baseRope(HfConfig& config, const Architecture& architecture) {
    RopeSpec rope;
    rope.layout = architecture.hfRope;
    rope.theta = config.numberOr({"rope_theta", "rotary_emb_base", "global_rope_theta"}, 10000.0);
    rope.originalContext = config.integerOr({"original_max_position_embeddings"}, 0);
    return rope;
}

void setRotaryDim(HfConfig& config, double partial, std::int64_t headDim, RopeSpec& rope) {
    if (!(partial > 0) || !(partial <= 1)) {
        config.setError(ErrorCode::kCorrupt, "partial_rotary_factor is " + std::to_string(partial) +
                                                 "; above 0 and at most 1 is allowed");
        return;
    }
    rope.rotaryDim = static_cast<std::int64_t>(static_cast<double>(headDim) * partial);
}

void readYarn(HfConfig& values, RopeSpec& rope) {
    rope.scaling = Scaling::kYarn;
    rope.betaFast = values.numberOr({"beta_fast"}, rope.betaFast);
    rope.betaSlow = values.numberOr({"beta_slow"}, rope.betaSlow);
    rope.yarnTruncate = values.booleanOr("truncate", rope.yarnTruncate);
    rope.mscale = values.number({"mscale"});
    rope.mscaleAllDim = values.number({"mscale_all_dim"});
    rope.attentionFactor = values.number({"attention_factor"});
}

// The ratio of the contexts, where no factor is given.
void readLongRope(HfConfig& values, const Hyperparameters& parameters, RopeSpec& rope) {
    rope.scaling = Scaling::kLongRope;
    const Json* shortFactors = values.find({"short_factor"});
    const Json* longFactors = values.find({"long_factor"});
    if (shortFactors == nullptr || longFactors == nullptr) {
        values.setError(ErrorCode::kCorrupt,
                        "long-rope scaling without short_factor and "
                        "long_factor");
        return;
    }
    rope.factors = values.numbers(*shortFactors, "short_factor");
    rope.longFactors = values.numbers(*longFactors, "long_factor");
    rope.attentionFactor = values.number({"attention_factor"});
    if (!values.has({"factor"}) && rope.originalContext > 0) {
        rope.factor = static_cast<double>(parameters.contextTokens) /
                      static_cast<double>(rope.originalContext);
    }
}

// The scaling that a dictionary (rope_scaling, or rope_parameters) describes. A context outside of
// it (Phi 3) counts before its own.
void readScaling(HfConfig& values, const Hyperparameters& parameters, RopeSpec& rope) {
    const std::string type = values.string({"rope_type", "type"});
    rope.theta = values.numberOr({"rope_theta"}, rope.theta);
    if (rope.originalContext == 0) {
        rope.originalContext =
            values.integerOr({"original_max_position_embeddings"}, parameters.contextTokens);
    }
    const std::optional<double> factor = values.number({"factor"});
    rope.factor = factor.value_or(1.0);
    if (type.empty() || type == "default" || type == "mrope") {
        return;
    }
    const auto need = [&](std::string_view key) {
        if (!values.has({key})) {
            values.setError(ErrorCode::kCorrupt,
                            "rope scaling of type " + type + " without " + std::string(key));
        }
    };
    if (type == "linear" || type == "dynamic") {
        rope.scaling = type == "linear" ? Scaling::kLinear : Scaling::kDynamicNtk;
        need("factor");
        if (type == "dynamic") {
            rope.originalContext = parameters.contextTokens;  // whatever else is said
        }
    } else if (type == "llama3") {
        rope.scaling = Scaling::kLlama3;
        for (const char* key : {"factor", "low_freq_factor", "high_freq_factor"}) {
            need(key);
        }
        rope.lowFreqFactor = values.numberOr({"low_freq_factor"}, rope.lowFreqFactor);
        rope.highFreqFactor = values.numberOr({"high_freq_factor"}, rope.highFreqFactor);
    } else if (type == "yarn") {
        readYarn(values, rope);
        if (!factor && rope.originalContext > 0) {
            rope.factor = static_cast<double>(parameters.contextTokens) /
                          static_cast<double>(rope.originalContext);
        }
    } else if (type == "longrope" || type == "su") {
        readLongRope(values, parameters, rope);
    } else {
        values.setError(ErrorCode::kUnsupported,
                        "rope_type is '" + type.substr(0, 64) +
                            "'; default, linear, dynamic, llama3, yarn and longrope are supported");
    }
}

// One rope: the base, and what `dictionary` (null: nothing) says over it.
RopeSpec readRope(HfConfig& config, const Architecture& architecture, const Json* dictionary,
                  const Hyperparameters& parameters) {
    RopeSpec rope = baseRope(config, architecture);
    double partial = config.numberOr(
        {"partial_rotary_factor", "rotary_pct", "rope_pct", "rotary_emb_fraction"}, 1.0);
    if (dictionary != nullptr) {
        if (!dictionary->is_object()) {
            config.setError(ErrorCode::kCorrupt, "rope scaling is no object");
            return rope;
        }
        const Architecture noDefaults{};
        HfConfig values(*dictionary, noDefaults, {});
        readScaling(values, parameters, rope);
        partial = values.numberOr({"partial_rotary_factor"}, partial);
        if (values.error()) {
            config.setError(values.error()->code, values.error()->message);
        }
    }
    if (dictionary == nullptr && rope.originalContext == 0) {
        rope.originalContext = parameters.contextTokens;
    }
    setRotaryDim(config, partial, parameters.keyDim, rope);
    return rope;
}

}  // namespace

void readHfRope(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters) {
    const Json* dictionary = config.find({"rope_parameters", "rope_scaling"});
    const Json standard = Json::parse(config.standard("rope_parameters"), nullptr, false);
    if (dictionary == nullptr && standard.is_object()) {
        dictionary = &standard;
    }
    if (dictionary != nullptr && dictionary->is_object() &&
        dictionary->contains("full_attention")) {
        parameters.rope =
            readRope(config, architecture, &(*dictionary)["full_attention"], parameters);
        if (dictionary->contains("sliding_attention")) {
            parameters.localRope =
                readRope(config, architecture, &(*dictionary)["sliding_attention"], parameters);
        }
        return;
    }
    parameters.rope = readRope(config, architecture, dictionary, parameters);
    if (architecture.hasLocalTheta) {
        RopeSpec local = readRope(config, architecture, nullptr, parameters);
        local.theta =
            config.numberOr({"rope_local_base_freq", "local_rope_theta"},
                            architecture.localTheta > 0 ? architecture.localTheta : local.theta);
        parameters.localRope = local;
    }
}

}  // namespace quern::engine
