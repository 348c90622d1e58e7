#include "engine/formats/latent.h"

#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::TensorView;

// What the cache keeps takes the place of keys and values of heads.
void keepRows(Hyperparameters& parameters, double yarnScale) {
    const LatentSpec& latent = parameters.latent;
    parameters.kvHeads.assign(parameters.kvHeads.size(), 1);
    parameters.keyDim = latent.rank + latent.ropeDim;
    parameters.valueDim = latent.rank;
    parameters.rope.rotaryDim = latent.ropeDim;
    parameters.attentionScale =
        yarnScale * yarnScale / std::sqrt(static_cast<double>(latent.nopeDim + latent.ropeDim));
}

// Of each head's rows the first are its keys'; they are needed by column. Block formats have no
// columns to take out, so what is copied is float32, a small part of a model.
Status splitHeads(const LatentSpec& latent, std::int64_t heads, std::int64_t layer,
                  TensorTable& table) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    const std::string name = prefix + "attn_kv_b.weight";
    const auto both = table.find(name);
    if (!both) {
        return {};
    }
    const std::int64_t headRows = latent.nopeDim + latent.valueDim;
    if (both->shape.rank != 2 || both->shape.dims[0] != heads * headRows ||
        both->shape.dims[1] != latent.rank) {
        return fail(ErrorCode::kCorrupt, "tensor '" + name + "' has shape " +
                                             shapeText(both->shape) + "; [" +
                                             std::to_string(heads * headRows) + ", " +
                                             std::to_string(latent.rank) + "] was expected");
    }
    const auto rowBytes = kernels::rowBytes(both->type, latent.rank);
    if (!rowBytes) {
        return tl::unexpected<Error>(rowBytes.error());
    }
    const auto floats = static_cast<std::size_t>(heads * latent.rank * latent.nopeDim);
    auto* keys = reinterpret_cast<float*>(table.allocate(floats * sizeof(float)).data());
    std::vector<float> row(static_cast<std::size_t>(latent.rank));
    for (std::int64_t head = 0; head < heads; ++head) {
        for (std::int64_t key = 0; key < latent.nopeDim; ++key) {
            const std::span<const std::byte> bytes(both->data + (head * headRows + key) * *rowBytes,
                                                   static_cast<std::size_t>(*rowBytes));
            if (auto status = kernels::dequantize(both->type, bytes, row); !status) {
                return status;
            }
            float* to = keys + head * latent.rank * latent.nopeDim + key;
            for (const float value : row) {
                *to = value;
                to += latent.nopeDim;
            }
        }
        table.set(prefix + "attn_v_b." + std::to_string(head) + ".weight",
                  rowSlice(*both, head * headRows + latent.nopeDim, latent.valueDim));
    }
    table.set(prefix + "attn_k_b.weight",
              {.type = kernels::DType::kF32,
               .shape = {.dims = {heads, latent.rank, latent.nopeDim, 1}, .rank = 3},
               .data = reinterpret_cast<const std::byte*>(keys)});
    table.remove(name);
    return {};
}

}  // namespace

void readHfLatent(HfConfig& config, const Architecture& architecture, Hyperparameters& parameters) {
    if (!architecture.isLatent) {
        return;
    }
    parameters.latent = {.rank = config.required({"kv_lora_rank"}),
                         .queryRank = config.integerOr({"q_lora_rank"}, 0),
                         .nopeDim = config.required({"qk_nope_head_dim"}),
                         .ropeDim = config.required({"qk_rope_head_dim"}),
                         .valueDim = config.required({"v_head_dim"})};
    if (!config.booleanOr("rope_interleave", true)) {
        parameters.rope.layout = kernels::RopeLayout::kHalves;
    }
    const RopeSpec& rope = parameters.rope;
    const double all = rope.mscaleAllDim.value_or(0);
    const bool scales = rope.scaling == RopeSpec::Scaling::kYarn && all != 0 && rope.factor > 1;
    keepRows(parameters, scales ? 0.1 * all * std::log(rope.factor) + 1 : 1);
}

void readGgufLatent(GgufKeys& keys, const Architecture& architecture, Hyperparameters& parameters) {
    if (!architecture.isLatent) {
        return;
    }
    // Early files have a head's own lengths under the keys of the cache's.
    const std::int64_t keyDim =
        keys.integerOr("attention.key_length_mla", keys.integer("attention.key_length"));
    const std::int64_t valueDim =
        keys.integerOr("attention.value_length_mla", keys.integer("attention.value_length"));
    parameters.latent = {.rank = keys.integer("attention.kv_lora_rank"),
                         .queryRank = keys.integerOr("attention.q_lora_rank", 0),
                         .nopeDim = keyDim - parameters.rope.rotaryDim,
                         .ropeDim = parameters.rope.rotaryDim,
                         .valueDim = valueDim,
                         .normEps = parameters.normEps};
    RopeSpec& rope = parameters.rope;
    double yarnScale = 1;
    if (rope.scaling == RopeSpec::Scaling::kYarn && rope.factor > 1) {
        // The file's factor is a tenth of mscale_all_dim, which equals mscale in these models, so
        // that cosines and sines keep their magnitude.
        const double tenth = keys.numberOr("rope.scaling.yarn_log_multiplier", 0);
        yarnScale = tenth * std::log(rope.factor) + 1;
        if (tenth != 0) {
            rope.attentionFactor = 1;
        }
    }
    keepRows(parameters, yarnScale);
}

Status arrangeLatent(ReadModel& model) {
    const Hyperparameters& parameters = model.parameters;
    if (parameters.latent.rank == 0) {
        return {};
    }
    for (std::int64_t layer = 0; layer < parameters.layers(); ++layer) {
        if (auto status =
                splitHeads(parameters.latent, parameters.heads[static_cast<std::size_t>(layer)],
                           layer, *model.tensors);
            !status) {
            return status;
        }
    }
    return {};
}

}  // namespace quern::engine
