#include "engine/model/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>

namespace quern::engine {

namespace {

using Scaling = RopeSpec::Scaling;

Status check(const RopeSpec& spec) {
    const auto refuse = [](const std::string& what) -> Status {
        return fail(ErrorCode::kCorrupt, "rope: " + what);
    };
    if (spec.rotaryDim <= 0 || spec.rotaryDim % 2 != 0 || spec.rotaryDim > (1 << 20)) {
        return refuse("rotary dimension " + std::to_string(spec.rotaryDim) +
                      " must be even and positive");
    }
    constexpr double kMostTheta = 1e30;  // its powers are computed in float32
    if (!(spec.theta > 1) || !(spec.theta < kMostTheta)) {
        return refuse("theta " + std::to_string(spec.theta) + " must be above 1 and below 1e30");
    }
    const bool scales = spec.scaling != Scaling::kNone;
    if (scales && (!(spec.factor > 0) || !std::isfinite(spec.factor))) {
        return refuse("scaling factor " + std::to_string(spec.factor) +
                      " must be positive and finite");
    }
    if (scales && spec.scaling != Scaling::kLinear && spec.originalContext <= 0) {
        return refuse("scaling needs the original context, not " +
                      std::to_string(spec.originalContext));
    }
    const auto half = static_cast<std::size_t>(spec.rotaryDim / 2);
    for (const std::vector<double>* list : {&spec.factors, &spec.longFactors}) {
        if (!list->empty() && list->size() != half) {
            return refuse(std::to_string(list->size()) + " frequency factors where the rotary " +
                          "dimension wants " + std::to_string(half));
        }
        if (std::any_of(list->begin(), list->end(), [](double f) { return !(f > 0); })) {
            return refuse("a frequency factor is not positive");
        }
    }
    if (spec.scaling == Scaling::kLongRope && spec.factors.empty()) {
        return refuse("long-rope scaling without its short factors");
    }
    if (spec.scaling == Scaling::kLlama3 && !(spec.highFreqFactor > spec.lowFreqFactor)) {
        return refuse("high frequency factor " + std::to_string(spec.highFreqFactor) +
                      " must exceed the low one, " + std::to_string(spec.lowFreqFactor));
    }
    return {};
}

/// theta^(2i / dim): what inverse frequencies are the reciprocals of.
std::vector<float> wavelengths(double theta, std::int64_t dim) {
    std::vector<float> result(static_cast<std::size_t>(dim / 2));
    const auto base = static_cast<float>(theta);
    for (std::size_t i = 0; i < result.size(); ++i) {
        const float exponent = static_cast<float>(2 * i) / static_cast<float>(dim);
        result[i] = std::pow(base, exponent);
    }
    return result;
}

/// Bloc97's NTK-aware base, at the length that is served: the factor of the sequence beyond the
/// original context stretches theta.
double dynamicTheta(const RopeSpec& spec, std::int64_t contextTokens) {
    const auto original = static_cast<double>(spec.originalContext);
    const double length = std::max(static_cast<double>(contextTokens), original);
    const auto dim = static_cast<double>(spec.rotaryDim);
    if (spec.rotaryDim <= 2) {
        return spec.theta;
    }
    return spec.theta *
           std::pow(spec.factor * length / original - (spec.factor - 1), dim / (dim - 2));
}

/// Llama 3.1: long waves are divided by the factor, short ones kept, those between blended.
void scaleLlama3(const RopeSpec& spec, std::vector<float>& freqs) {
    const auto original = static_cast<double>(spec.originalContext);
    const auto lowWave = static_cast<float>(original / spec.lowFreqFactor);
    const auto highWave = static_cast<float>(original / spec.highFreqFactor);
    const auto factor = static_cast<float>(spec.factor);
    for (float& freq : freqs) {
        const float wave = static_cast<float>(2 * std::numbers::pi) / freq;
        if (wave > lowWave) {
            freq /= factor;
        } else if (wave >= highWave) {
            const float blend =
                (static_cast<float>(original) / wave - static_cast<float>(spec.lowFreqFactor)) /
                static_cast<float>(spec.highFreqFactor - spec.lowFreqFactor);
            freq = (1.0F - blend) * freq / factor + blend * freq;
        }
    }
}

/// YaRN (Peng et al. 2023): columns that turn often keep their frequency, those that turn less than
/// once over the original context are interpolated, a linear ramp between them.
void scaleYarn(const RopeSpec& spec, const std::vector<float>& waves, std::vector<float>& freqs) {
    const auto dim = static_cast<double>(spec.rotaryDim);
    const auto correctionDim = [&](double turns) {
        return dim *
               std::log(static_cast<double>(spec.originalContext) /
                        (turns * 2 * std::numbers::pi)) /
               (2 * std::log(spec.theta));
    };
    double low = correctionDim(spec.betaFast);
    double high = correctionDim(spec.betaSlow);
    if (spec.yarnTruncate) {
        low = std::floor(low);
        high = std::ceil(high);
    }
    low = std::max(low, 0.0);
    high = std::min(high, dim - 1);
    if (low == high) {
        high += 0.001;
    }
    for (std::size_t i = 0; i < freqs.size(); ++i) {
        const float ramp = std::clamp(
            (static_cast<float>(i) - static_cast<float>(low)) / static_cast<float>(high - low),
            0.0F, 1.0F);
        const float kept = 1.0F - ramp;
        const float interpolated = 1.0F / (static_cast<float>(spec.factor) * waves[i]);
        freqs[i] = interpolated * (1.0F - kept) + freqs[i] * kept;
    }
}

double yarnMscale(double factor, double mscale) {
    return factor <= 1 ? 1.0 : 0.1 * mscale * std::log(factor) + 1.0;
}

double magnitude(const RopeSpec& spec) {
    if (spec.attentionFactor) {
        return *spec.attentionFactor;
    }
    if (spec.scaling == Scaling::kYarn) {
        const double all = spec.mscaleAllDim.value_or(0);
        const double own = spec.mscale.value_or(0);
        return own != 0 && all != 0 ? yarnMscale(spec.factor, own) / yarnMscale(spec.factor, all)
                                    : yarnMscale(spec.factor, 1);
    }
    if (spec.scaling == Scaling::kLongRope && spec.factor > 1) {
        return std::sqrt(1 + std::log(spec.factor) /
                                 std::log(static_cast<double>(spec.originalContext)));
    }
    return 1.0;
}

}  // namespace

Result<RopeTable> ropeTable(const RopeSpec& spec, std::int64_t contextTokens) {
    if (auto status = check(spec); !status) {
        return forward(status);
    }
    const double theta =
        spec.scaling == Scaling::kDynamicNtk ? dynamicTheta(spec, contextTokens) : spec.theta;
    const std::vector<float> waves = wavelengths(theta, spec.rotaryDim);
    const bool isLong = spec.scaling == Scaling::kLongRope && !spec.longFactors.empty() &&
                        contextTokens > spec.originalContext;
    const std::vector<double>& factors = isLong ? spec.longFactors : spec.factors;

    RopeTable table;
    table.magnitude = static_cast<float>(magnitude(spec));
    table.freqs.resize(waves.size());
    for (std::size_t i = 0; i < waves.size(); ++i) {
        const float divisor = factors.empty() ? 1.0F : static_cast<float>(factors[i]);
        table.freqs[i] = 1.0F / (divisor * waves[i]);
    }
    if (spec.scaling == Scaling::kLinear) {
        for (float& freq : table.freqs) {
            freq /= static_cast<float>(spec.factor);
        }
    } else if (spec.scaling == Scaling::kLlama3) {
        scaleLlama3(spec, table.freqs);
    } else if (spec.scaling == Scaling::kYarn) {
        scaleYarn(spec, waves, table.freqs);
    }
    const bool isFinite = std::isfinite(table.magnitude) &&
                          std::all_of(table.freqs.begin(), table.freqs.end(),
                                      [](float freq) { return std::isfinite(freq); });
    if (!isFinite) {
        return fail(ErrorCode::kCorrupt,
                    "rope: theta " + std::to_string(spec.theta) + " and original context " +
                        std::to_string(spec.originalContext) + " give values that are not finite");
    }
    return table;
}

std::int64_t ropeContext(const ModelSpec& spec, std::int64_t tokens) {
    std::int64_t context = 0;
    for (const RopeSpec& rope : spec.ropes) {
        const std::int64_t original = rope.originalContext;
        if (rope.scaling == Scaling::kLongRope) {
            context = std::max(context,
                               tokens > original ? std::max(spec.contextTokens, tokens) : original);
        } else if (rope.scaling == Scaling::kDynamicNtk) {
            context = std::max({context, original, tokens});
        }
    }
    return context > 0 ? context : spec.contextTokens;
}

std::int64_t mostTokens(const ModelSpec& spec) {
    auto most = static_cast<double>(spec.contextTokens);
    for (const RopeSpec& rope : spec.ropes) {
        if (rope.scaling == Scaling::kDynamicNtk && rope.factor > 1) {
            most = std::max(most, static_cast<double>(rope.originalContext) * rope.factor);
        }
    }
    constexpr double kMost = 2147483647.0;  // positions are int32
    return static_cast<std::int64_t>(std::min(most, kMost));
}

}  // namespace quern::engine
