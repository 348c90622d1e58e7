#include <cstring>
#include <string>

#include "engine/formats/arrange_experts.h"
#include "engine/formats/latent.h"
#include "engine/formats/read_model.h"
#include "engine/formats/state_tensors.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

// A copy of an [in, out] matrix as [out, in].
Status transpose(TensorTable& table, const std::string& name, const kernels::TensorView& view) {
    const auto& traits = kernels::traits(view.type);
    if (view.shape.rank != 2 || traits.blockElements != 1) {
        return fail(ErrorCode::kCorrupt,
                    "tensor '" + name + "' has shape " + shapeText(view.shape) + " and type " +
                        std::string(traits.name) + "; a matrix of plain numbers was expected");
    }
    const auto size = static_cast<std::size_t>(traits.blockBytes);
    const auto rows = static_cast<std::size_t>(view.shape.dims[0]);
    const auto cols = static_cast<std::size_t>(view.shape.dims[1]);
    const std::span<std::byte> memory = table.allocate(rows * cols * size);
    for (std::size_t row = 0; row < rows; ++row) {
        for (std::size_t col = 0; col < cols; ++col) {
            std::memcpy(memory.data() + (col * rows + row) * size,
                        view.data + (row * cols + col) * size, size);
        }
    }
    table.set(name, {.type = view.type,
                     .shape = {.dims = {view.shape.dims[1], view.shape.dims[0], 1, 1}, .rank = 2},
                     .data = memory.data()});
    return {};
}

}  // namespace

Status arrangeTensors(ReadModel& model) {
    if (auto status = applyScales(model.scales, *model.tensors); !status) {
        return status;
    }
    for (std::int64_t layer = 0; model.isTransposed && layer < model.parameters.layers(); ++layer) {
        for (const char* matrix : {"attn_qkv", "attn_output", "ffn_up", "ffn_down"}) {
            const std::string name = "blk." + std::to_string(layer) + "." + matrix + ".weight";
            const auto view = model.tensors->find(name);
            if (!view) {
                continue;
            }
            if (auto status = transpose(*model.tensors, name, *view); !status) {
                return status;
            }
        }
    }
    if (auto status = arrangeState(*model.architecture, model.parameters, *model.tensors);
        !status) {
        return status;
    }
    if (auto status = splitFused(model.parameters, *model.tensors); !status) {
        return status;
    }
    if (auto status = arrangeLatent(model); !status) {
        return status;
    }
    return arrangeExperts(model);
}

}  // namespace quern::engine
