#include "engine/convert/named_rows.h"

#include "engine/formats/gguf_metadata.h"
#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

Result<kernels::TensorView> find(const ReadModel& model, const std::string& canonical,
                                 const kernels::Shape& shape) {
    const auto view = model.tensors->find(canonical);
    if (!view) {
        return fail(ErrorCode::kCorrupt, "tensor " + quotedName(canonical) + " is missing");
    }
    if (view->shape != shape) {
        return fail(ErrorCode::kCorrupt, "tensor " + quotedName(canonical) + " has shape " +
                                             shapeText(view->shape) +
                                             " where the model's header wants " + shapeText(shape));
    }
    return *view;
}

}  // namespace

std::string layerPrefix(std::int64_t layer) {
    return "blk." + std::to_string(layer) + ".";
}

Result<TensorRows> rowsOfTensor(const ReadModel& model, const std::string& canonical,
                                const kernels::Shape& shape) {
    auto view = find(model, canonical, shape);
    if (!view) {
        return forward(view);
    }
    const auto scales = model.scales.find(canonical);
    return scales == model.scales.end() ? rowsOf(*view) : scaled(rowsOf(*view), scales->second);
}

Result<kernels::TensorView> plainTensor(const ReadModel& model, const std::string& canonical,
                                        const kernels::Shape& shape) {
    auto view = find(model, canonical, shape);
    if (view &&
        (kernels::traits(view->type).blockElements != 1 || model.scales.contains(canonical))) {
        return fail(ErrorCode::kUnsupported,
                    "tensor " + quotedName(canonical) + " has type " +
                        std::string(kernels::traits(view->type).name) +
                        "; plain numbers without scales can be written in GGUF's order");
    }
    return view;
}

kernels::Shape shapeOf(std::initializer_list<std::int64_t> dims) {
    kernels::Shape shape;
    for (const std::int64_t dim : dims) {
        shape.dims[static_cast<std::size_t>(shape.rank++)] = dim;
    }
    return shape;
}

}  // namespace quern::engine::convert
