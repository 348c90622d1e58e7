#pragma once

#include <string>

#include "engine/model/model_spec.h"
#include "engine/model/pass_builder.h"
#include "kernels/ops.h"
#include "kernels/result.h"

namespace quern::engine {

/// What the tensors' shapes can't tell of latent attention. `at`: "layer 3: ".
[[nodiscard]] Status checkLatentSizes(const LatentSpec& latent, const std::string& at);
[[nodiscard]] Status checkLatent(const AttentionSpec& spec, const std::string& at);

/// Where one layer's ops and tensors are named, and how its positions enter.
struct LatentContext {
    PassBuilder& pass;
    const AttentionSpec& spec;
    std::string name;      // "layer 3 / attn."
    std::string tensor;    // "blk.3."
    kernels::RopeOp rope;  // all but inOut and headDim
};

/// What attention is taken over: queries, and the row that the cache keeps of a token.
struct LatentParts {
    kernels::ValueId query = kernels::kNone;  // [T, heads · keyDim]
    kernels::ValueId key = kernels::kNone;    // [T, keyDim]: a key with the position, then …
    kernels::ValueId value = kernels::kNone;  // [T, rank]: … what it ends with
};

/// Multi-head latent attention (DeepSeek-V2, section 2.1): keys and values of all heads are made of
/// one row of `rank` columns, and that row is what the cache keeps, beside a key with the position
/// that all heads share. What would make keys of it is applied to the queries, what would make
/// values of it to the result: a product of three matrices may be grouped either way.
[[nodiscard]] LatentParts latentParts(const LatentContext& context, kernels::ValueId x);

/// From the mixed rows [T, heads · rank] to the heads' values [T, heads · latent.valueDim].
[[nodiscard]] kernels::ValueId latentValues(const LatentContext& context, kernels::ValueId mixed);

}  // namespace quern::engine
