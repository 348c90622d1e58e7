#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "engine/formats/weight_scales.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine::convert {

/// The rows of a tensor that is to be written, made of a source's tensors when they are asked for:
/// read, put in another order, transposed, with a number added. Views are borrowed. Immutable; any
/// thread.
struct TensorRows {
    kernels::Shape shape;  // of what is written
    /// What the rows are taken from, one part after the other; all of one row length. A transposed
    /// source is one part, whose columns are the rows.
    std::vector<kernels::TensorView> parts;
    bool isTransposed = false;
    /// The source's row (of a vector: element) that belongs at one; empty: all in their order.
    std::function<std::int64_t(std::int64_t)> sourceRow;
    const WeightScales* scales = nullptr;  // of the first part's rows, which is the only one then
    float offset = 0.0F;                   // added to each element

    /// Row `index` as float32, `out` [cols]. Errors as kernels::dequantize.
    [[nodiscard]] Status read(std::int64_t index, std::span<float> out) const;
    /// The bytes of all rows where they are just those of one source tensor of this type.
    [[nodiscard]] std::optional<std::span<const std::byte>> bytesAs(kernels::DType type) const;
};

/// A tensor as it is. Shape and data were checked when the file was opened.
[[nodiscard]] TensorRows rowsOf(const kernels::TensorView& view);

}  // namespace quern::engine::convert
