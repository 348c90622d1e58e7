#include "engine/model/state_layers.h"

#include <cmath>

namespace quern::engine {

namespace {

using kernels::Activation;
using kernels::kNone;
using kernels::ValueId;
using kernels::WeightId;

/// Writes the ops of one layer. Errors are sticky in the PassBuilder.
class StateLayerBuilder {
public:
    explicit StateLayerBuilder(const StateLayerPlace& place) : m_place(place), m_pass(place.pass) {}

    ValueId build(const ShortConvSpec& spec, ValueId x) {
        const std::int64_t cols = m_place.hidden;
        const ValueId b = linear("conv.b", x, "shortconv_b", cols);
        const ValueId c = linear("conv.c", x, "shortconv_c", cols);
        const ValueId in = linear("conv.x", x, "shortconv_x", cols);
        const ValueId gated = glu("conv.gate.in", b, in, cols, Activation::kIdentity);
        const ValueId mixed =
            conv("conv.mix", gated, "shortconv_conv", cols, spec.rows, Activation::kIdentity);
        return glu("conv.gate.out", c, mixed, cols, Activation::kIdentity);
    }

    ValueId build(const Mamba2Spec& spec, ValueId x) {
        const std::int64_t inner = innerOf(spec);
        const ValueId z = linear("ssm.z", x, "ssm_z", inner);
        const ValueId in = linear("ssm.xbc", x, "ssm_xbc", convCols(spec));
        const ValueId dt = linear("ssm.dt", x, "ssm_dt_in", spec.heads);
        const ValueId xbc =
            conv("ssm.conv", in, "ssm_conv1d", convCols(spec), spec.rows, spec.activation);
        const ValueId out = m_pass.value(name("ssm.scan"), x, inner);
        m_pass.emit(name("ssm.scan"),
                    kernels::SsdScanOp{.xbc = xbc,
                                       .dt = dt,
                                       .out = out,
                                       .a = vector("ssm_a", spec.heads),
                                       .d = vector("ssm_d", spec.heads),
                                       .dtBias = vector("ssm_dt_bias", spec.heads),
                                       .heads = spec.heads,
                                       .headDim = spec.headDim,
                                       .stateSize = spec.stateSize,
                                       .groups = spec.groups,
                                       .stepMin = spec.stepMin,
                                       .stepMax = spec.stepMax,
                                       .stateLayer = addState(inner * spec.stateSize)});
        const ValueId gated = glu("ssm.gate", z, out, inner, Activation::kSilu);
        return m_pass.plainNorm(name("ssm.norm"), gated, m_place.tensor + "ssm_norm",
                                inner / spec.groups);
    }

    ValueId build(const DeltaNetSpec& spec, ValueId x) {
        const std::int64_t inner = innerOf(spec);
        const ValueId in = linear("delta.qkv", x, "ssm_qkv", convCols(spec));
        const ValueId z = linear("delta.z", x, "ssm_z", inner);
        const ValueId a = linear("delta.a", x, "ssm_alpha", spec.valueHeads);
        const ValueId b = linear("delta.b", x, "ssm_beta", spec.valueHeads);
        const ValueId qkv =
            conv("delta.conv", in, "ssm_conv1d", convCols(spec), spec.rows, spec.activation);
        const ValueId out = m_pass.value(name("delta.rule"), x, inner);
        const auto scale = static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.keyDim)));
        m_pass.emit(name("delta.rule"),
                    kernels::DeltaRuleOp{.qkv = qkv,
                                         .a = a,
                                         .b = b,
                                         .out = out,
                                         .decay = vector("ssm_a", spec.valueHeads),
                                         .dtBias = vector("ssm_dt_bias", spec.valueHeads),
                                         .keyHeads = spec.keyHeads,
                                         .valueHeads = spec.valueHeads,
                                         .keyDim = spec.keyDim,
                                         .valueDim = spec.valueDim,
                                         .scale = scale,
                                         .stateLayer = addState(inner * spec.keyDim)});
        const ValueId normed =
            m_pass.plainNorm(name("delta.norm"), out, m_place.tensor + "ssm_norm", spec.valueDim);
        return glu("delta.gate", z, normed, inner, Activation::kSilu);
    }

    static ValueId build(std::monostate /*none*/, ValueId x) { return x; }

private:
    [[nodiscard]] std::string name(const std::string& op) const { return m_place.name + op; }
    ValueId linear(const std::string& op, ValueId x, const std::string& stem, std::int64_t cols) {
        return m_pass.linear(name(op), x, m_place.tensor + stem, cols);
    }
    WeightId vector(const std::string& stem, std::int64_t elements) {
        return m_pass.vector(m_place.tensor + stem + ".weight", elements);
    }
    ValueId glu(const std::string& op, ValueId gate, ValueId up, std::int64_t cols,
                Activation kind) {
        const ValueId out = m_pass.value(name(op), up, cols);
        m_pass.emit(name(op), kernels::GluOp{.gate = gate, .up = up, .out = out, .kind = kind});
        return out;
    }
    ValueId conv(const std::string& op, ValueId in, const std::string& stem, std::int64_t cols,
                 std::int64_t rows, Activation activation) {
        const ValueId out = m_pass.value(name(op), in, cols);
        m_pass.emit(name(op),
                    kernels::ConvOp{
                        .in = in,
                        .out = out,
                        .weight = m_pass.transposed(m_place.tensor + stem + ".weight", cols, rows),
                        .bias = m_pass.optionalVector(m_place.tensor + stem + ".bias", cols),
                        .activation = activation,
                        .stateLayer = addState((rows - 1) * cols)});
        return out;
    }
    std::int32_t addState(std::int64_t floats) {
        return m_pass.addState({.group = m_place.group, .floats = floats});
    }

    const StateLayerPlace& m_place;
    PassBuilder& m_pass;
};

}  // namespace

ValueId mixByState(const StateSpec& spec, const StateLayerPlace& place, ValueId x) {
    return std::visit([&](const auto& s) { return StateLayerBuilder(place).build(s, x); }, spec);
}

std::string stateOutputStem(const StateSpec& spec) {
    return std::holds_alternative<ShortConvSpec>(spec) ? "shortconv_out" : "ssm_out";
}

}  // namespace quern::engine
