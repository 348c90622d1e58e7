#include "engine/formats/head_norms.h"

#include <cstring>
#include <string>

#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::TensorView;

Status joinOne(const std::string& stem, std::int64_t heads, std::int64_t keyDim,
               TensorTable& table) {
    const auto first = table.find(stem + ".0.weight");
    if (!first || heads < 1 || keyDim < 1) {  // such sizes are refused elsewhere
        return {};
    }
    const auto rowBytes = kernels::rowBytes(first->type, keyDim);
    if (!rowBytes) {
        return tl::unexpected<Error>(rowBytes.error());
    }
    for (std::int64_t head = 0; head < heads; ++head) {
        const std::string name = stem + "." + std::to_string(head) + ".weight";
        const auto view = table.find(name);
        if (!view || view->type != first->type || view->shape.rank != 1 ||
            view->shape.dims[0] != keyDim) {
            return fail(ErrorCode::kCorrupt,
                        "tensor '" + name + "' " +
                            (view ? "has shape " + shapeText(view->shape) + "; [" +
                                        std::to_string(keyDim) + "] of one type was expected"
                                  : "is missing"));
        }
    }
    const auto bytes = static_cast<std::size_t>(*rowBytes);
    std::byte* joined = table.allocate(static_cast<std::size_t>(heads) * bytes).data();
    for (std::int64_t head = 0; head < heads; ++head) {
        const std::string name = stem + "." + std::to_string(head) + ".weight";
        std::memcpy(joined + static_cast<std::size_t>(head) * bytes, table.find(name)->data, bytes);
        table.remove(name);
    }
    table.set(
        stem + ".weight",
        {.type = first->type, .shape = {.dims = {heads, keyDim, 1, 1}, .rank = 2}, .data = joined});
    return {};
}

}  // namespace

Status joinHeadNorms(const Hyperparameters& parameters, TensorTable& table) {
    for (std::size_t layer = 0; layer < parameters.heads.size(); ++layer) {
        const std::string prefix = "blk." + std::to_string(layer) + ".";
        auto status =
            joinOne(prefix + "attn_q_norm", parameters.heads[layer], parameters.keyDim, table);
        if (status) {
            status = joinOne(prefix + "attn_k_norm", parameters.kvHeads[layer], parameters.keyDim,
                             table);
        }
        if (!status) {
            return status;
        }
    }
    return {};
}

}  // namespace quern::engine
