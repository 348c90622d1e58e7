#include "engine/formats/weight_scales.h"

#include <algorithm>
#include <bit>

#include "engine/formats/tensor_table.h"
#include "kernels/quant.h"
#include "kernels/quantize.h"

namespace quern::engine {

namespace {

using kernels::DType;
using kernels::TensorView;

std::int64_t tiles(std::int64_t size, std::int64_t tile) {
    return (size + tile - 1) / tile;
}

// The rows of a scaled matrix, as float32.
class ScaledRows {
public:
    ScaledRows(const TensorView& view, const WeightScales& scales)
        : m_view(view),
          m_scales(scales),
          m_rowBytes(kernels::rowBytes(view.type, view.shape.cols()).value_or(0)),
          m_row(static_cast<std::size_t>(view.shape.cols())) {}

    [[nodiscard]] Result<std::span<const float>> read(std::int64_t row) {
        const std::span bytes(m_view.data + row * m_rowBytes, static_cast<std::size_t>(m_rowBytes));
        if (auto status = kernels::dequantize(m_view.type, bytes, m_row); !status) {
            return forward(status);
        }
        m_scales.apply(row, m_row);
        return std::span<const float>(m_row);
    }

private:
    const TensorView& m_view;
    const WeightScales& m_scales;
    std::int64_t m_rowBytes;
    std::vector<float> m_row;
};

bool fitsBf16(float value) {
    return (std::bit_cast<std::uint32_t>(value) & 0xFFFFU) == 0;
}

Result<TensorView> realWeights(const TensorView& view, const WeightScales& scales,
                               TensorTable& table) {
    ScaledRows rows(view, scales);
    DType type = DType::kBF16;
    for (std::int64_t i = 0; i < view.shape.rows() && type == DType::kBF16; ++i) {
        auto row = rows.read(i);
        if (!row) {
            return forward(row);
        }
        type = std::all_of(row->begin(), row->end(), fitsBf16) ? DType::kBF16 : DType::kF32;
    }
    const auto rowBytes =
        static_cast<std::size_t>(kernels::rowBytes(type, view.shape.cols()).value_or(0));
    const std::span<std::byte> memory =
        table.allocate(rowBytes * static_cast<std::size_t>(view.shape.rows()));
    for (std::int64_t i = 0; i < view.shape.rows(); ++i) {
        auto row = rows.read(i);
        if (!row) {
            return forward(row);
        }
        const auto out = memory.subspan(static_cast<std::size_t>(i) * rowBytes, rowBytes);
        if (auto status = kernels::quantize(type, *row, out); !status) {
            return forward(status);
        }
    }
    return TensorView{.type = type, .shape = view.shape, .data = memory.data()};
}

}  // namespace

Result<WeightScales> WeightScales::create(const TensorView& scales, const kernels::Shape& matrix,
                                          std::int64_t tileRows, std::int64_t tileCols) {
    const auto wrong = [&] {
        return fail(ErrorCode::kCorrupt, "its scales have shape " + shapeText(scales.shape) +
                                             ", which does not fit a matrix of shape " +
                                             shapeText(matrix));
    };
    if (matrix.rank != 2 || scales.shape.rank > 2 || tileRows < 1 || tileCols < 1) {
        return wrong();
    }
    const std::int64_t rows = matrix.dims[0];
    const std::int64_t cols = matrix.dims[1];
    WeightScales made;
    const std::int64_t count = scales.shape.elements();
    const bool isTiled = scales.shape.rank == 2 && scales.shape.dims[0] == tiles(rows, tileRows) &&
                         scales.shape.dims[1] == tiles(cols, tileCols);
    if (count == 1) {
        made.m_tileRows = rows;
        made.m_tileCols = cols;
    } else if (isTiled) {
        made.m_across = scales.shape.dims[1];
        made.m_tileRows = tileRows;
        made.m_tileCols = tileCols;
    } else if (count == rows && (scales.shape.rank == 1 || scales.shape.dims[1] == 1)) {
        made.m_tileCols = cols;
    } else {
        return wrong();
    }
    made.m_values.resize(static_cast<std::size_t>(count));
    const auto bytes = kernels::rowBytes(scales.type, count);
    if (!bytes) {
        return wrong();
    }
    if (auto status = kernels::dequantize(
            scales.type, {scales.data, static_cast<std::size_t>(*bytes)}, made.m_values);
        !status) {
        return forward(status);
    }
    return made;
}

void WeightScales::apply(std::int64_t row, std::span<float> values) const {
    const float* scales = m_values.data() + row / m_tileRows * m_across;
    for (std::size_t i = 0; i < values.size(); ++i) {
        values[i] *= scales[static_cast<std::int64_t>(i) / m_tileCols];
    }
}

Status applyScales(const ScaleMap& scales, TensorTable& table) {
    for (const auto& [name, grid] : scales) {
        const auto view = table.find(name);
        if (!view) {
            continue;
        }
        auto real = realWeights(*view, grid, table);
        if (!real) {
            real.error().message = "tensor '" + name + "': " + real.error().message;
            return forward(real);
        }
        table.set(name, *real);
    }
    return {};
}

}  // namespace quern::engine
