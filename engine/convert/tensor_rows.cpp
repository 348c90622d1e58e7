#include "engine/convert/tensor_rows.h"

#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

using kernels::TensorView;

std::int64_t rowBytes(const TensorView& view) {
    const auto& traits = kernels::traits(view.type);
    return view.shape.cols() / traits.blockElements * traits.blockBytes;
}

Status readRow(const TensorView& view, std::int64_t row, std::span<float> out) {
    const std::int64_t bytes = rowBytes(view);
    return kernels::dequantize(view.type,
                               {view.data + row * bytes, static_cast<std::size_t>(bytes)}, out);
}

Status readColumn(const TensorView& view, std::int64_t column, std::span<float> out) {
    const auto size = static_cast<std::size_t>(kernels::traits(view.type).blockBytes);
    for (std::size_t row = 0; row < out.size(); ++row) {
        const auto at = static_cast<std::int64_t>(row) * view.shape.cols() + column;
        const std::byte* element = view.data + at * static_cast<std::int64_t>(size);
        if (auto status = kernels::dequantize(view.type, {element, size}, out.subspan(row, 1));
            !status) {
            return status;
        }
    }
    return {};
}

}  // namespace

Status TensorRows::read(std::int64_t index, std::span<float> out) const {
    const bool isVector = shape.rank == 1;
    std::int64_t row = sourceRow && !isVector ? sourceRow(index) : index;
    Status status;
    if (isTransposed) {
        status = readColumn(parts.front(), row, out);
    } else if (isVector && sourceRow) {
        std::vector<float> inOrder(out.size());
        status = readRow(parts.front(), 0, inOrder);
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = inOrder[static_cast<std::size_t>(sourceRow(static_cast<std::int64_t>(i)))];
        }
    } else {
        std::size_t part = 0;
        while (row >= parts[part].shape.rows()) {
            row -= parts[part].shape.rows();
            ++part;
        }
        status = readRow(parts[part], row, out);
    }
    if (scales != nullptr) {
        scales->apply(row, out);
    }
    if (offset != 0.0F) {
        for (float& value : out) {
            value += offset;
        }
    }
    return status;
}

std::optional<std::span<const std::byte>> TensorRows::bytesAs(kernels::DType type) const {
    const TensorView& view = parts.front();
    if (parts.size() != 1 || isTransposed || sourceRow || scales != nullptr || offset != 0.0F ||
        view.type != type) {
        return std::nullopt;
    }
    return std::span(view.data, static_cast<std::size_t>(rowBytes(view) * shape.rows()));
}

TensorRows rowsOf(const TensorView& view) {
    TensorRows rows;
    rows.shape = view.shape;
    rows.parts.push_back(view);
    return rows;
}

}  // namespace quern::engine::convert
