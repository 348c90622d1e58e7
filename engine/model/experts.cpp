#include "engine/model/experts.h"

#include <cmath>
#include <utility>

namespace quern::engine {

namespace {

using kernels::kNone;
using kernels::ValueId;

/// Ops of one layer's experts. Errors are sticky in the PassBuilder.
class ExpertsBuilder {
public:
    ExpertsBuilder(PassBuilder& pass, const LayerSpec& layer, std::int64_t hiddenSize,
                   const std::string& name, const std::string& tensor)
        : m_pass(pass),
          m_spec(layer.experts),
          m_activation(layer.mlp.activation),
          m_hidden(hiddenSize),
          m_name(name),
          m_tensor(tensor) {}

    ValueId build(ValueId x) {
        const ValueId routing = route(x);
        const ValueId gate = grouped("experts.gate", x, routing, "ffn_gate_exps", true);
        const ValueId up = grouped("experts.up", x, routing, "ffn_up_exps", true);
        const ValueId inner = glu("experts.glu", gate, up, m_spec.used * m_spec.intermediate);
        const ValueId down = grouped("experts.down", inner, routing, "ffn_down_exps", false);
        const ValueId sum = m_pass.value(m_name + "experts.sum", x, m_hidden);
        m_pass.emit(m_name + "experts.sum",
                    kernels::SumSlotsOp{.in = down, .routing = routing, .out = sum});
        if (m_spec.sharedIntermediate == 0) {
            return sum;
        }
        return m_pass.add(m_name + "experts.add", sum, shared(x));
    }

private:
    ValueId route(ValueId x) {
        const ValueId logits =
            m_pass.linear(m_name + "router", x, m_tensor + "ffn_gate_inp", m_spec.count);
        const kernels::WeightId bias =
            m_pass.optionalVector(m_tensor + "exp_probs_b.bias", m_spec.count);
        const ValueId out = m_pass.value(m_name + "route", x, 2 * m_spec.used);
        m_pass.emit(m_name + "route", kernels::RouteOp{.logits = logits,
                                                       .out = out,
                                                       .gating = m_spec.gating,
                                                       .used = m_spec.used,
                                                       .bias = bias,
                                                       .groups = m_spec.groups,
                                                       .groupsUsed = m_spec.groupsUsed,
                                                       .ranksGroupsByTwo = m_spec.ranksGroupsByTwo,
                                                       .normalizes = m_spec.normalizes,
                                                       .scale = m_spec.scale});
        return out;
    }

    ValueId grouped(const std::string& op, ValueId in, ValueId routing, const std::string& stem,
                    bool isInner) {
        const std::int64_t rows = isInner ? m_spec.intermediate : m_hidden;
        const std::int64_t cols = isInner ? m_hidden : m_spec.intermediate;
        auto weights = m_pass.matricesOfExperts(m_tensor + stem, m_spec.count, rows, cols);
        const kernels::WeightId bias =
            m_pass.optionalVector(m_tensor + stem + ".bias", m_spec.count * rows);
        const ValueId out = m_pass.value(m_name + op, in, m_spec.used * rows);
        m_pass.emit(m_name + op, kernels::GroupedMatMulOp{.in = in,
                                                          .routing = routing,
                                                          .weights = std::move(weights),
                                                          .bias = bias,
                                                          .out = out});
        return out;
    }

    ValueId glu(const std::string& op, ValueId gate, ValueId up, std::int64_t cols) {
        const ValueId out = m_pass.value(m_name + op, up, cols);
        if (m_spec.gluLimit > 0) {
            m_pass.emit(m_name + op, kernels::ClampedGluOp{.gate = gate,
                                                           .up = up,
                                                           .out = out,
                                                           .alpha = m_spec.gluAlpha,
                                                           .limit = m_spec.gluLimit});
        } else {
            m_pass.emit(m_name + op,
                        kernels::GluOp{.gate = gate, .up = up, .out = out, .kind = m_activation});
        }
        return out;
    }

    ValueId shared(ValueId x) {
        const std::int64_t width = m_spec.sharedIntermediate;
        const ValueId gate =
            m_pass.linear(m_name + "shared.gate", x, m_tensor + "ffn_gate_shexp", width);
        const ValueId up = m_pass.linear(m_name + "shared.up", x, m_tensor + "ffn_up_shexp", width);
        const ValueId inner = glu("shared.glu", gate, up, width);
        const ValueId down =
            m_pass.linear(m_name + "shared.down", inner, m_tensor + "ffn_down_shexp", m_hidden);
        if (!m_spec.hasSharedGate) {
            return down;
        }
        const ValueId share =
            m_pass.linear(m_name + "shared.share", x, m_tensor + "ffn_gate_inp_shexp", 1);
        const ValueId out = m_pass.value(m_name + "shared.gated", down, m_hidden);
        m_pass.emit(m_name + "shared.gated",
                    kernels::GateRowsOp{.in = down, .gate = share, .out = out});
        return out;
    }

    PassBuilder& m_pass;
    const ExpertsSpec& m_spec;
    kernels::Activation m_activation;
    std::int64_t m_hidden;
    const std::string& m_name;
    const std::string& m_tensor;
};

}  // namespace

Status checkExperts(const ExpertsSpec& spec, const std::string& at) {
    constexpr std::int64_t kMostExperts = 1 << 16;
    constexpr std::int64_t kMostSize = std::int64_t{1} << 24;
    const auto refuse = [&](const std::string& what) -> Status {
        return fail(ErrorCode::kCorrupt, at + what);
    };
    if (spec.count < 1 || spec.count > kMostExperts) {
        return refuse("expert count is " + std::to_string(spec.count) + "; 1 to " +
                      std::to_string(kMostExperts) + " are allowed");
    }
    if (spec.used < 1 || spec.used > spec.count) {
        return refuse("experts used by a token are " + std::to_string(spec.used) + " of " +
                      std::to_string(spec.count));
    }
    for (const auto& [what, size, least] :
         {std::tuple{"expert feed-forward length", spec.intermediate, std::int64_t{1}},
          std::tuple{"shared expert feed-forward length", spec.sharedIntermediate,
                     std::int64_t{0}}}) {
        if (size < least || size > kMostSize) {
            return refuse(std::string(what) + " is " + std::to_string(size) + "; " +
                          std::to_string(least) + " to " + std::to_string(kMostSize) +
                          " are allowed");
        }
    }
    if (spec.groups < 1 || spec.count % spec.groups != 0) {
        return refuse(std::to_string(spec.groups) + " groups do not divide " +
                      std::to_string(spec.count) + " experts");
    }
    if (spec.groupsUsed < 1 || spec.groupsUsed > spec.groups) {
        return refuse("expert groups used are " + std::to_string(spec.groupsUsed) + " of " +
                      std::to_string(spec.groups));
    }
    if (spec.used > spec.count / spec.groups * spec.groupsUsed) {
        return refuse("a token uses " + std::to_string(spec.used) + " experts, but " +
                      std::to_string(spec.groupsUsed) + " of " + std::to_string(spec.groups) +
                      " groups hold only " +
                      std::to_string(spec.count / spec.groups * spec.groupsUsed));
    }
    if (!std::isfinite(spec.scale)) {
        return refuse("the scale of experts' shares is not finite");
    }
    if (!(spec.gluLimit >= 0) || !std::isfinite(spec.gluLimit) || !std::isfinite(spec.gluAlpha)) {
        return refuse("the limit of the gated unit is " + std::to_string(spec.gluLimit) +
                      " and its alpha " + std::to_string(spec.gluAlpha));
    }
    return {};
}

ValueId expertsBlock(PassBuilder& pass, const LayerSpec& layer, std::int64_t hiddenSize,
                     const std::string& name, const std::string& tensor, ValueId x) {
    return ExpertsBuilder(pass, layer, hiddenSize, name, tensor).build(x);
}

}  // namespace quern::engine
