#include "engine/formats/rewritten.h"

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "kernels/quant.h"

namespace quern::engine {

namespace {

constexpr std::int64_t kFloatBytes = sizeof(float);
constexpr std::string_view kWithScales = "with scales";
constexpr std::string_view kLatentKeys = "of keys, by head";

struct Sum {
    std::int64_t fileBytes = 0;
    std::int64_t bytes = 0;
};
using Sums = std::map<std::pair<kernels::DType, std::string_view>, Sum>;

// `elements` of the tensor, whole blocks.
void add(Sums& sums, const kernels::TensorView& view, std::int64_t elements, std::string_view why) {
    Sum& sum = sums[{view.type, why}];
    sum.fileBytes += kernels::rowBytes(view.type, elements).value_or(0);
    sum.bytes += elements * kFloatBytes;
}

}  // namespace

std::vector<Rewritten> rewrittenWeights(const ReadModel& model) {
    Sums sums;
    for (const auto& [name, scales] : model.scales) {
        if (const auto view = model.tensors->find(name)) {
            add(sums, *view, view->shape.elements(), kWithScales);
        }
    }
    const LatentSpec& latent = model.parameters.latent;
    const std::int64_t layers = latent.rank > 0 ? model.parameters.layers() : 0;
    for (std::int64_t layer = 0; layer < layers; ++layer) {
        const std::string name = "blk." + std::to_string(layer) + ".attn_kv_b.weight";
        const auto view = model.tensors->find(name);
        if (view && view->type != kernels::DType::kF32 && !model.scales.contains(name)) {
            const std::int64_t heads = model.parameters.heads[static_cast<std::size_t>(layer)];
            add(sums, *view, heads * latent.nopeDim * latent.rank, kLatentKeys);
        }
    }
    std::vector<Rewritten> rows;
    for (const auto& [key, sum] : sums) {
        rows.push_back({.from = key.first,
                        .why = std::string(key.second),
                        .fileBytes = sum.fileBytes,
                        .bytes = sum.bytes});
    }
    return rows;
}

}  // namespace quern::engine
