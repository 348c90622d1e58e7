#include "engine/model/forward.h"

#include <string>
#include <utility>

#include "engine/model/cache_groups.h"
#include "engine/model/check_spec.h"
#include "engine/model/experts.h"
#include "engine/model/latent_attention.h"
#include "engine/model/pass_builder.h"
#include "engine/model/rope.h"
#include "engine/model/score_rows.h"
#include "engine/model/state_layers.h"

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
        m_cache = groupLayers(spec, m_pass);
    }

    Result<ForwardPass> build() {
        ValueId x = embed();
        for (std::size_t i = 0; i < m_spec.layers.size() && !m_pass.hasError(); ++i) {
            x = layer(i, x);
        }
        if (m_spec.layers.empty() && m_spec.pooling != Pooling::kMean) {
            x = m_pass.gather("gather", x);
        }
        head(x);
        return m_pass.take(m_cache.groups);
    }

private:
    ValueId embed() {
        ValueId x = m_pass.embed("embed", "token_embd.weight", m_spec.embeddingScale);
        if (m_spec.tokenTypes > 0) {
            const ValueId types = m_pass.embedTypes("embed.type", "token_types.weight");
            x = m_pass.add("embed.type.sum", x, types);
        }
        if (m_spec.hasPositionEmbedding) {
            const ValueId positions = m_pass.embedPositions(
                "embed.position", "position_embd.weight", m_spec.positionOffset);
            x = m_pass.add("embed.sum", x, positions);
        }
        return m_spec.hasEmbeddingNorm ? m_pass.norm("embed.norm", x, "token_embd_norm") : x;
    }

    ValueId layer(std::size_t index, ValueId x) {
        const LayerSpec& spec = m_spec.layers[index];
        const std::string name = layerName(index);
        const std::string tensor = tensorPrefix(index);
        ValueId attentionIn = x;
        if (spec.attentionNorms.hasPre) {
            attentionIn = m_pass.norm(name + "attn.norm", x, tensor + "attn_norm");
        }
        ValueId mixed = keepsState(spec) ? mixByState(spec.state,
                                                      {.pass = m_pass,
                                                       .name = name,
                                                       .tensor = tensor,
                                                       .group = m_cache.stateGroup,
                                                       .hidden = m_spec.hiddenSize},
                                                      attentionIn)
                                         : attention(index, attentionIn);
        if (index + 1 == m_spec.layers.size() && m_spec.pooling != Pooling::kMean) {
            mixed = m_pass.gather(name + "attn.gather", mixed);
            const bool isShared = attentionIn == x;
            x = m_pass.gather(name + "gather", x);
            if (spec.isParallel && !spec.mlpNorms.hasPre) {
                attentionIn = isShared ? x : m_pass.gather(name + "attn.norm.gather", attentionIn);
            }
        }
        const std::string outStem = keepsState(spec) ? stateOutputStem(spec.state) : "attn_output";
        const ValueId attended =
            m_pass.linear(name + "attn.out", mixed, tensor + outStem, m_spec.hiddenSize);
        const ValueId residual = leaveBlock(x, attended, spec.attentionNorms, name + "attn.",
                                            tensor + "post_attention_norm");
        if (!spec.hasMlp) {
            return residual;
        }

        ValueId mlpIn = spec.isParallel ? x : residual;
        if (spec.mlpNorms.hasPre) {
            mlpIn = m_pass.norm(name + "mlp.norm", mlpIn, tensor + "ffn_norm");
        } else if (spec.isParallel) {
            mlpIn = attentionIn;
        }
        const ValueId transformed =
            spec.experts.count > 0
                ? expertsBlock(m_pass, spec, m_spec.hiddenSize, name + "mlp.", tensor, mlpIn)
                : mlp(spec.mlp, name, tensor, mlpIn);
        return leaveBlock(residual, transformed, spec.mlpNorms, name + "mlp.",
                          tensor + "post_ffw_norm");
    }

    ValueId leaveBlock(ValueId x, ValueId made, const BlockNorms& norms, const std::string& name,
                       const std::string& normTensor) {
        const auto postNorm = [&](ValueId value) {
            return m_pass.norm(name + "postnorm", value, normTensor);
        };
        if (norms.hasPost && !norms.isPostOfSum) {
            made = postNorm(made);
        }
        made = m_pass.scale(name + "scale", made, m_spec.residualScale);
        const ValueId sum = m_pass.add(name + "residual", x, made);
        return norms.hasPost && norms.isPostOfSum ? postNorm(sum) : sum;
    }

    ValueId attention(std::size_t index, ValueId x) {
        const AttentionSpec& a = m_spec.layers[index].attention;
        const std::string name = layerName(index) + "attn.";
        const std::string tensor = tensorPrefix(index);
        if (a.latent.rank > 0) {
            const LatentContext context{
                .pass = m_pass, .spec = a, .name = name, .tensor = tensor, .rope = ropeOf(a)};
            const LatentParts parts = latentParts(context, x);
            return latentValues(context, attend(index, parts.query, parts.key, parts.value));
        }
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
        const ValueId mixed = attend(index, query, key, value);
        if (!a.hasOutputGate) {
            return mixed;
        }
        const ValueId gate =
            m_pass.linear(name + "gate", x, tensor + "attn_gate", a.heads * a.valueDim);
        const ValueId gated = m_pass.value(name + "gated", x, a.heads * a.valueDim);
        m_pass.emit(
            name + "gated",
            kernels::GluOp{
                .gate = gate, .up = mixed, .out = gated, .kind = kernels::Activation::kSigmoid});
        return gated;
    }

    /// Keeps a token's keys and values and mixes what is kept.
    ValueId attend(std::size_t index, ValueId query, ValueId key, ValueId value) {
        const AttentionSpec& a = m_spec.layers[index].attention;
        const std::string name = layerName(index) + "attn.";
        const std::string tensor = tensorPrefix(index);
        const std::int32_t kvLayer = m_cache.kvLayers[index];
        m_pass.emit(name + "write",
                    kernels::KvWriteOp{.key = key, .value = value, .kvLayer = kvLayer});
        const ValueId out = m_pass.value(name + "mix", query, a.heads * a.valueDim);
        const WeightId sinks =
            a.hasSinks ? m_pass.vector(tensor + "attn_sinks.weight", a.heads) : kNone;
        m_pass.emit(name + "mix",
                    kernels::AttentionOp{.query = query,
                                         .out = out,
                                         .kvLayer = kvLayer,
                                         .heads = a.heads,
                                         .scale = a.scale,
                                         .window = a.window,
                                         .sight = m_spec.isBidirectional ? kernels::Sight::kAll
                                                                         : kernels::Sight::kEarlier,
                                         .softcap = a.softcap,
                                         .sinks = sinks});
        return out;
    }

    void rope(const AttentionSpec& a, const std::string& name, ValueId inOut) {
        if (a.rope == kNone || m_pass.hasError()) {
            return;
        }
        kernels::RopeOp op = ropeOf(a);
        op.inOut = inOut;
        op.headDim = a.keyDim;
        m_pass.emit(name, op);
    }

    /// All but what is turned.
    kernels::RopeOp ropeOf(const AttentionSpec& a) const {
        const auto index = static_cast<std::size_t>(a.rope);
        return {.freqs = m_ropeFreqs[index],
                .layout = m_spec.ropes[index].layout,
                .magnitude = m_ropeMagnitudes[index]};
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
        if (m_spec.hasOutputNorm) {
            x = m_pass.norm("output.norm", x, "output_norm");
        }
        if (m_spec.pooling != Pooling::kNone) {
            x = m_spec.pooling == Pooling::kMean ? m_pass.gather("pool", x) : x;
            m_pass.setOutput(
                m_spec.scoreHead ? scoreRows(m_pass, *m_spec.scoreHead, m_spec.hiddenSize, x) : x);
            return;
        }
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
    CacheGroups m_cache;
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
