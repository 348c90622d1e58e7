#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/formats/weight_scales.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine::convert {

/// The rows of a tensor that is to be written, made of a source's tensors when they are asked for.
/// Borrows those. Made by the functions below, which change what others made. Immutable; any
/// thread.
struct TensorRows {
    kernels::Shape shape;                        // of what is written
    kernels::DType type = kernels::DType::kF32;  // that the source holds them in
    /// Row `index` as float32, `out` [cols]. Errors as kernels::dequantize.
    std::function<Status(std::int64_t index, std::span<float> out)> read;
    /// The bytes of row `index` in `type`; null where rows have to be computed.
    std::function<void(std::int64_t index, std::span<std::byte> out)> copy;
};

/// A tensor as it is. Shape and data were checked when the file was opened.
[[nodiscard]] TensorRows rowsOf(const kernels::TensorView& view);
/// The same elements in another shape; of a type whose elements stand alone, if rows change length.
[[nodiscard]] TensorRows reshaped(const kernels::TensorView& view, const kernels::Shape& shape);
/// Columns first, first + step, … of a matrix of plain numbers, each as a row.
[[nodiscard]] TensorRows columnsOf(const kernels::TensorView& view, std::int64_t first,
                                   std::int64_t step);
/// Tensors of one shape, one after the other.
[[nodiscard]] TensorRows stacked(std::vector<TensorRows> parts, const kernels::Shape& shape);

/// Row i is `rows`' row from(i).
[[nodiscard]] TensorRows reordered(TensorRows rows, const kernels::Shape& shape,
                                   std::function<std::int64_t(std::int64_t)> from);
/// Element i of each row is that row's element from(i).
[[nodiscard]] TensorRows withColumns(TensorRows rows, const kernels::Shape& shape,
                                     std::function<std::int64_t(std::int64_t)> from);
/// Each element by itself.
[[nodiscard]] TensorRows mapped(TensorRows rows, std::function<float(float)> change);
/// The real weights of an 8-bit matrix. Borrows `scales`.
[[nodiscard]] TensorRows scaled(TensorRows rows, const WeightScales& scales);

}  // namespace quern::engine::convert
