#include "engine/model/check_spec.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>

#include "engine/model/experts.h"
#include "engine/model/latent_attention.h"

namespace quern::engine {

namespace {

using kernels::kNone;

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
Status checkAttention(const ModelSpec& spec, const AttentionSpec& a, const std::string& at) {
    for (const auto& [what, size] :
         {std::pair{"attention heads", a.heads}, std::pair{"key/value heads", a.kvHeads},
          std::pair{"key dimension", a.keyDim}, std::pair{"value dimension", a.valueDim}}) {
        if (auto status = checkSize(at + what, size); !status) {
            return status;
        }
    }
    if (a.heads % a.kvHeads != 0) {
        return fail(ErrorCode::kCorrupt, at + std::to_string(a.heads) +
                                             " attention heads cannot share " +
                                             std::to_string(a.kvHeads) + " key/value heads evenly");
    }
    if (a.latent.rank != 0) {
        if (auto status = checkLatent(a, at); !status) {
            return status;
        }
    }
    if (a.window < 0) {
        return fail(ErrorCode::kCorrupt, at + "window is " + std::to_string(a.window));
    }
    if (!std::isfinite(a.scale) || a.scale == 0) {
        return fail(ErrorCode::kCorrupt, at + "attention scale is " + std::to_string(a.scale) +
                                             "; a finite number but 0 was expected");
    }
    if (!(a.softcap >= 0) || !std::isfinite(a.softcap)) {
        return fail(ErrorCode::kCorrupt, at + "attention softcap is " + std::to_string(a.softcap) +
                                             "; a finite number of at least 0 was expected");
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

/// Numbers that a pass multiplies by: what is not finite makes every result none.
Status checkNumbers(const ModelSpec& spec) {
    if (!(spec.norm.eps > 0) || !(spec.norm.eps < 1)) {
        return fail(ErrorCode::kCorrupt, "the norms' epsilon is " + std::to_string(spec.norm.eps) +
                                             "; above 0 and below 1 is allowed");
    }
    for (const auto& [what, scale] : {std::pair{"embedding scale", spec.embeddingScale},
                                      std::pair{"residual scale", spec.residualScale},
                                      std::pair{"logit scale", spec.logitScale}}) {
        if (!std::isfinite(scale) || scale == 0) {
            return fail(ErrorCode::kCorrupt, std::string(what) + " is " + std::to_string(scale) +
                                                 "; a finite number but 0 was expected");
        }
    }
    if (!(spec.logitSoftcap >= 0) || !std::isfinite(spec.logitSoftcap)) {
        return fail(ErrorCode::kCorrupt, "logit softcap is " + std::to_string(spec.logitSoftcap) +
                                             "; a finite number of at least 0 was expected");
    }
    return {};
}

Status checkLayer(const ModelSpec& spec, std::size_t index) {
    const LayerSpec& layer = spec.layers[index];
    const std::string at = "layer " + std::to_string(index) + ": ";
    if (layer.hasMlp) {
        if (auto status = checkSize(at + "intermediate size", layer.mlp.intermediate); !status) {
            return status;
        }
    }
    if (layer.experts.count != 0) {
        if (auto status = checkExperts(layer.experts, at); !status) {
            return status;
        }
    }
    return !std::holds_alternative<std::monostate>(layer.state)
               ? checkState(layer.state, at)
               : checkAttention(spec, layer.attention, at);
}

}  // namespace

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
    if (auto status = checkSize("token types", spec.tokenTypes, 0); !status) {
        return status;
    }
    if (spec.scoreHead) {
        if (auto status = checkSize("scores", spec.scoreHead->outputs); !status) {
            return status;
        }
    }
    if (auto status = checkNumbers(spec); !status) {
        return status;
    }
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
        if (auto status = checkLayer(spec, i); !status) {
            return status;
        }
    }
    return {};
}

}  // namespace quern::engine
