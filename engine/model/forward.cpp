#include "engine/model/forward.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "engine/model/pass_builder.h"
#include "engine/model/rope.h"

namespace quern::engine {

namespace {

using kernels::kNone;
using kernels::ValueId;
using kernels::WeightId;

std::string layerName(std::size_t layer) {
    return "layer " + std::to_string(layer) + " / ";
}

std::string tensorPrefix(std::size_t layer) {
    return "blk." + std::to_string(layer) + ".";
}

Status checkSize(const std::string& what, std::int64_t size, std::int64_t least = 1) {
    // Below 2^31, so that no product of two overflows.
    constexpr std::int64_t kMost = (std::int64_t{1} << 31) - 1;
    if (size >= least && size <= kMost) {
        return {};
    }
    return fail(ErrorCode::kCorrupt, what + " is " + std::to_string(size) + ", not in " +
                                         std::to_string(least) + "…" + std::to_string(kMost));
}

/// What the tensors' shapes can't tell: sizes that products are made of, divisibility, indices.
Status checkLayer(const ModelSpec& spec, std::size_t index) {
    const AttentionSpec& a = spec.layers[index].attention;
    const std::string at = "layer " + std::to_string(index) + ": ";
    for (const auto& [what, size] :
         {std::pair{"attention heads", a.heads}, std::pair{"key/value heads", a.kvHeads},
          std::pair{"key dimension", a.keyDim}, std::pair{"value dimension", a.valueDim},
          std::pair{"intermediate size", spec.layers[index].mlp.intermediate}}) {
        if (auto status = checkSize(at + what, size); !status) {
            return status;
        }
    }
    if (a.heads % a.kvHeads != 0) {
        return fail(ErrorCode::kCorrupt, at + std::to_string(a.heads) +
                                             " attention heads cannot share " +
                                             std::to_string(a.kvHeads) + " key/value heads evenly");
    }
    if (a.window < 0) {
        return fail(ErrorCode::kCorrupt, at + "window is " + std::to_string(a.window));
    }
    if (!std::isfinite(a.scale)) {
        return fail(ErrorCode::kCorrupt, at + "attention scale is not finite");
    }
    if (a.rope == kNone) {
        return {};
    }
    if (a.rope < 0 || static_cast<std::size_t>(a.rope) >= spec.ropes.size()) {
        return fail(ErrorCode::kCorrupt, at + "rope " + std::to_string(a.rope) + " of " +
                                             std::to_string(spec.ropes.size()));
    }
    const std::int64_t rotary = spec.ropes[static_cast<std::size_t>(a.rope)].rotaryDim;
    if (rotary > a.keyDim) {
        return fail(ErrorCode::kCorrupt, at + "rotary dimension " + std::to_string(rotary) +
                                             " exceeds the key dimension " +
                                             std::to_string(a.keyDim));
    }
    return {};
}

Status checkSpec(const ModelSpec& spec) {
    if (spec.positionOffset < 0 || spec.positionOffset > (1 << 20)) {
        return fail(ErrorCode::kCorrupt,
                    "position offset is " + std::to_string(spec.positionOffset));
    }
    if (auto status = checkSize("vocabulary size", spec.vocabSize); !status) {
        return status;
    }
    if (auto status = checkSize("hidden size", spec.hiddenSize); !status) {
        return status;
    }
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
        if (auto status = checkLayer(spec, i); !status) {
            return status;
        }
    }
    return {};
}

/// Puts one layer after the other. Errors are sticky in the PassBuilder, so the code below reads as
/// the forward pass does.
class ForwardBuilder {
public:
    ForwardBuilder(const ModelSpec& spec, const TensorSource& tensors, std::int64_t contextTokens)
        : m_spec(spec), m_pass(spec, tensors) {
        for (std::size_t i = 0; i < spec.ropes.size(); ++i) {
            auto table = ropeTable(spec.ropes[i], contextTokens);
            if (!table) {
                m_pass.setError(table.error());
                return;
            }
            m_ropeFreqs.push_back(
                m_pass.ownedVector("rope." + std::to_string(i), std::move(table->freqs)));
            m_ropeMagnitudes.push_back(table->magnitude);
        }
        groupLayers();
    }

    Result<ForwardPass> build() {
        ValueId x = embed();
        for (std::size_t i = 0; i < m_spec.layers.size() && !m_pass.hasError(); ++i) {
            x = layer(i, x);
        }
        if (m_spec.layers.empty()) {
            x = m_pass.gather("gather", x);
        }
        head(x);
        return m_pass.take(m_groups);
    }

private:
    /// Layers with the same window share block tables; those that see everything come first.
    void groupLayers() {
        std::map<std::int64_t, std::int32_t> groupOfWindow;
        for (const LayerSpec& layer : m_spec.layers) {
            groupOfWindow.emplace(layer.attention.window, 0);
        }
        for (auto& [window, group] : groupOfWindow) {
            group = static_cast<std::int32_t>(m_groups.size());
            m_groups.push_back({.window = window});
        }
        for (const LayerSpec& layer : m_spec.layers) {
            const AttentionSpec& a = layer.attention;
            m_pass.addKvLayer({.group = groupOfWindow.at(a.window),
                               .kvHeads = a.kvHeads,
                               .keyDim = a.keyDim,
                               .valueDim = a.valueDim});
        }
    }

    ValueId embed() {
        const ValueId tokens = m_pass.embed("embed", "token_embd.weight", m_spec.embeddingScale);
        if (!m_spec.hasPositionEmbedding) {
            return tokens;
        }
        const ValueId positions =
            m_pass.embedPositions("embed.position", "position_embd.weight", m_spec.positionOffset);
        return m_pass.add("embed.sum", tokens, positions);
    }

    ValueId layer(std::size_t index, ValueId x) {
        const LayerSpec& spec = m_spec.layers[index];
        const std::string name = layerName(index);
        const std::string tensor = tensorPrefix(index);
        ValueId attentionIn = x;
        if (spec.attentionNorms.hasPre) {
            attentionIn = m_pass.norm(name + "attn.norm", x, tensor + "attn_norm");
        }
        ValueId mixed = attention(index, attentionIn);
        if (index + 1 == m_spec.layers.size()) {
            mixed = m_pass.gather(name + "attn.gather", mixed);
            const bool isShared = attentionIn == x;
            x = m_pass.gather(name + "gather", x);
            if (spec.isParallel && !spec.mlpNorms.hasPre) {
                attentionIn = isShared ? x : m_pass.gather(name + "attn.norm.gather", attentionIn);
            }
        }
        ValueId attended =
            m_pass.linear(name + "attn.out", mixed, tensor + "attn_output", m_spec.hiddenSize);
        attended = leaveBlock(attended, spec.attentionNorms, name + "attn.",
                              tensor + "post_attention_norm");
        const ValueId residual = m_pass.add(name + "attn.residual", x, attended);

        ValueId mlpIn = spec.isParallel ? x : residual;
        if (spec.mlpNorms.hasPre) {
            mlpIn = m_pass.norm(name + "mlp.norm", mlpIn, tensor + "ffn_norm");
        } else if (spec.isParallel) {
            mlpIn = attentionIn;
        }
        ValueId transformed = mlp(spec.mlp, name, tensor, mlpIn);
        transformed =
            leaveBlock(transformed, spec.mlpNorms, name + "mlp.", tensor + "post_ffw_norm");
        return m_pass.add(name + "mlp.residual", residual, transformed);
    }

    ValueId leaveBlock(ValueId x, const BlockNorms& norms, const std::string& name,
                       const std::string& normTensor) {
        if (norms.hasPost) {
            x = m_pass.norm(name + "postnorm", x, normTensor);
        }
        return m_pass.scale(name + "scale", x, m_spec.residualScale);
    }

    ValueId attention(std::size_t index, ValueId x) {
        const AttentionSpec& a = m_spec.layers[index].attention;
        const std::string name = layerName(index) + "attn.";
        const std::string tensor = tensorPrefix(index);
        ValueId query = m_pass.linear(name + "q", x, tensor + "attn_q", a.heads * a.keyDim);
        ValueId key = m_pass.linear(name + "k", x, tensor + "attn_k", a.kvHeads * a.keyDim);
        const ValueId value =
            m_pass.linear(name + "v", x, tensor + "attn_v", a.kvHeads * a.valueDim);
        if (a.hasQkNorm) {
            const std::int64_t group = a.isQkNormWholeRow ? 0 : a.keyDim;
            query = m_pass.norm(name + "q.norm", query, tensor + "attn_q_norm", group);
            key = m_pass.norm(name + "k.norm", key, tensor + "attn_k_norm", group);
        }
        rope(a, name + "q.rope", query);
        rope(a, name + "k.rope", key);
        const auto kvLayer = static_cast<std::int32_t>(index);
        m_pass.emit(name + "write",
                    kernels::KvWriteOp{.key = key, .value = value, .kvLayer = kvLayer});
        const ValueId out = m_pass.value(name + "mix", x, a.heads * a.valueDim);
        const WeightId sinks =
            a.hasSinks ? m_pass.vector(tensor + "attn_sinks.weight", a.heads) : kNone;
        m_pass.emit(name + "mix", kernels::AttentionOp{.query = query,
                                                       .out = out,
                                                       .kvLayer = kvLayer,
                                                       .heads = a.heads,
                                                       .scale = a.scale,
                                                       .window = a.window,
                                                       .softcap = a.softcap,
                                                       .sinks = sinks});
        return out;
    }

    void rope(const AttentionSpec& a, const std::string& name, ValueId inOut) {
        if (a.rope == kNone || m_pass.hasError()) {
            return;
        }
        const auto index = static_cast<std::size_t>(a.rope);
        m_pass.emit(name, kernels::RopeOp{.inOut = inOut,
                                          .headDim = a.keyDim,
                                          .freqs = m_ropeFreqs[index],
                                          .layout = m_spec.ropes[index].layout,
                                          .magnitude = m_ropeMagnitudes[index]});
    }

    ValueId mlp(const MlpSpec& spec, const std::string& layerPrefix, const std::string& tensor,
                ValueId x) {
        const std::string name = layerPrefix + "mlp.";
        ValueId inner = kNone;
        if (spec.isGated) {
            const ValueId gate =
                m_pass.linear(name + "gate", x, tensor + "ffn_gate", spec.intermediate);
            const ValueId up = m_pass.linear(name + "up", x, tensor + "ffn_up", spec.intermediate);
            inner = m_pass.value(name + "glu", x, spec.intermediate);
            m_pass.emit(
                name + "glu",
                kernels::GluOp{.gate = gate, .up = up, .out = inner, .kind = spec.activation});
        } else {
            const ValueId up = m_pass.linear(name + "up", x, tensor + "ffn_up", spec.intermediate);
            inner = m_pass.value(name + "act", x, spec.intermediate);
            m_pass.emit(name + "act",
                        kernels::ActivationOp{.in = up, .out = inner, .kind = spec.activation});
        }
        return m_pass.linear(name + "down", inner, tensor + "ffn_down", m_spec.hiddenSize);
    }

    void head(ValueId x) {
        x = m_pass.norm("output.norm", x, "output_norm");
        ValueId logits = m_pass.linear("output", x, m_spec.isHeadTied ? "token_embd" : "output",
                                       m_spec.vocabSize);
        logits = m_pass.scale("output.scale", logits, m_spec.logitScale);
        if (m_spec.logitSoftcap > 0) {
            const ValueId capped = m_pass.value("output.softcap", logits, m_spec.vocabSize);
            m_pass.emit(
                "output.softcap",
                kernels::SoftcapOp{.in = logits, .out = capped, .cap = m_spec.logitSoftcap});
            logits = capped;
        }
        m_pass.setOutput(logits);
    }

    const ModelSpec& m_spec;
    PassBuilder m_pass;
    std::vector<WeightId> m_ropeFreqs;
    std::vector<float> m_ropeMagnitudes;
    std::vector<KvGroupSpec> m_groups;
};

}  // namespace

Result<ForwardPass> buildForward(const ModelSpec& spec, const TensorSource& tensors,
                                 std::int64_t contextTokens) {
    if (auto status = checkSpec(spec); !status) {
        return forward(status);
    }
    return ForwardBuilder(spec, tensors, contextTokens > 0 ? contextTokens : spec.contextTokens)
        .build();
}

}  // namespace quern::engine
