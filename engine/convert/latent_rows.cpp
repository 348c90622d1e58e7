#include "engine/convert/latent_rows.h"

#include <utility>

namespace quern::engine::convert {

Status addLatentRows(const ReadModel& model, std::int64_t layer, std::vector<NamedRows>& tensors) {
    const LatentSpec& latent = model.parameters.latent;
    const std::int64_t heads = model.parameters.heads[static_cast<std::size_t>(layer)];
    const std::int64_t headRows = latent.nopeDim + latent.valueDim;
    const std::string prefix = layerPrefix(layer);
    const std::string name = prefix + "attn_kv_b.weight";
    const kernels::Shape shape = shapeOf({heads * headRows, latent.rank});
    auto both = plainTensor(model, name, shape);
    if (!both) {
        return forward(both);
    }
    std::vector<TensorRows> keys;
    for (std::int64_t head = 0; head < heads; ++head) {
        keys.push_back(columnsOf(rowSlice(*both, head * headRows, latent.nopeDim), 0, 1));
    }
    tensors.push_back(
        {.name = prefix + "attn_k_b.weight",
         .rows = stacked(std::move(keys), shapeOf({heads, latent.rank, latent.nopeDim}))});
    tensors.push_back(
        {.name = prefix + "attn_v_b.weight",
         .rows = reordered(rowsOf(*both), shapeOf({heads, latent.valueDim, latent.rank}),
                           [latent, headRows](std::int64_t row) {
                               return row / latent.valueDim * headRows + latent.nopeDim +
                                      row % latent.valueDim;
                           })});
    return {};
}

}  // namespace quern::engine::convert
