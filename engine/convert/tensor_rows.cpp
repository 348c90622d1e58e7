#include "engine/convert/tensor_rows.h"

#include <cstring>
#include <memory>
#include <utility>

#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

using kernels::TensorView;

std::size_t rowBytes(const TensorView& view) {
    const auto& traits = kernels::traits(view.type);
    return static_cast<std::size_t>(view.shape.cols() / traits.blockElements * traits.blockBytes);
}

}  // namespace

TensorRows rowsOf(const TensorView& view) {
    const std::size_t bytes = rowBytes(view);
    const auto rowAt = [view, bytes](std::int64_t index) {
        return std::span(view.data + static_cast<std::size_t>(index) * bytes, bytes);
    };
    return {.shape = view.shape,
            .type = view.type,
            .read =
                [view, rowAt](std::int64_t index, std::span<float> out) {
                    return kernels::dequantize(view.type, rowAt(index), out);
                },
            .copy =
                [rowAt](std::int64_t index, std::span<std::byte> out) {
                    std::memcpy(out.data(), rowAt(index).data(), out.size());
                }};
}

TensorRows reshaped(const TensorView& view, const kernels::Shape& shape) {
    TensorView other = view;
    other.shape = shape;
    return rowsOf(other);
}

TensorRows columnsOf(const TensorView& view, std::int64_t first, std::int64_t step) {
    const auto size = static_cast<std::size_t>(kernels::traits(view.type).blockBytes);
    const std::int64_t rows = view.shape.rows();
    const std::int64_t cols = view.shape.cols();
    const auto copy = [=](std::int64_t index, std::span<std::byte> out) {
        const std::byte* from = view.data + static_cast<std::size_t>(first + index * step) * size;
        for (std::int64_t row = 0; row < rows; ++row) {
            std::memcpy(out.data() + static_cast<std::size_t>(row) * size,
                        from + static_cast<std::size_t>(row * cols) * size, size);
        }
    };
    return {.shape = {.dims = {(cols - first + step - 1) / step, rows, 1, 1}, .rank = 2},
            .type = view.type,
            .read =
                [=](std::int64_t index, std::span<float> out) {
                    std::vector<std::byte> column(out.size() * size);
                    copy(index, column);
                    return kernels::dequantize(view.type, column, out);
                },
            .copy = copy};
}

TensorRows stacked(std::vector<TensorRows> parts, const kernels::Shape& shape) {
    const auto all = std::make_shared<const std::vector<TensorRows>>(std::move(parts));
    bool canCopy = true;
    for (const TensorRows& part : *all) {
        canCopy = canCopy && part.copy && part.type == all->front().type;
    }
    const std::int64_t each = all->front().shape.rows();
    TensorRows rows{.shape = shape,
                    .type = all->front().type,
                    .read =
                        [all, each](std::int64_t index, std::span<float> out) {
                            const auto part = static_cast<std::size_t>(index / each);
                            return (*all)[part].read(index % each, out);
                        },
                    .copy = nullptr};
    if (canCopy) {
        rows.copy = [all, each](std::int64_t index, std::span<std::byte> out) {
            (*all)[static_cast<std::size_t>(index / each)].copy(index % each, out);
        };
    }
    return rows;
}

TensorRows reordered(TensorRows rows, const kernels::Shape& shape,
                     std::function<std::int64_t(std::int64_t)> from) {
    rows.shape = shape;
    rows.read = [read = std::move(rows.read), from](std::int64_t index, std::span<float> out) {
        return read(from(index), out);
    };
    if (rows.copy) {
        rows.copy = [copy = std::move(rows.copy), from = std::move(from)](
                        std::int64_t index, std::span<std::byte> out) { copy(from(index), out); };
    }
    return rows;
}

TensorRows withColumns(TensorRows rows, const kernels::Shape& shape,
                       std::function<std::int64_t(std::int64_t)> from) {
    const auto all = static_cast<std::size_t>(rows.shape.cols());
    rows.shape = shape;
    rows.read = [read = std::move(rows.read), from = std::move(from), all](std::int64_t index,
                                                                           std::span<float> out) {
        std::vector<float> row(all);
        Status status = read(index, row);
        for (std::size_t i = 0; i < out.size(); ++i) {
            out[i] = row[static_cast<std::size_t>(from(static_cast<std::int64_t>(i)))];
        }
        return status;
    };
    rows.copy = nullptr;
    return rows;
}

TensorRows mapped(TensorRows rows, std::function<float(float)> change) {
    rows.read = [read = std::move(rows.read), change = std::move(change)](std::int64_t index,
                                                                          std::span<float> out) {
        Status status = read(index, out);
        for (float& value : out) {
            value = change(value);
        }
        return status;
    };
    rows.copy = nullptr;
    return rows;
}

TensorRows scaled(TensorRows rows, const WeightScales& scales) {
    rows.read = [read = std::move(rows.read), &scales](std::int64_t index, std::span<float> out) {
        Status status = read(index, out);
        scales.apply(index, out);
        return status;
    };
    rows.copy = nullptr;
    return rows;
}

}  // namespace quern::engine::convert
