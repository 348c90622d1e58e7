#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine {

class TensorTable;

/// The scales of an 8-bit float matrix: the real weights are its elements, each times the scale of
/// the tile it is in. One for all, one a row, or one a tile of rows and columns. Borrows the file.
class WeightScales {
public:
    /// `tileRows`, `tileCols`: of a tile, where `scales` is a matrix of more than one column.
    /// kCorrupt when the scales do not fit a matrix of that shape, naming both shapes.
    [[nodiscard]] static Result<WeightScales> create(const kernels::TensorView& scales,
                                                     const kernels::Shape& matrix,
                                                     std::int64_t tileRows, std::int64_t tileCols);
    /// Multiplies the elements of row `row`.
    void apply(std::int64_t row, std::span<float> values) const;

private:
    std::vector<float> m_values;  // [tiles down, tiles across]
    std::int64_t m_across = 1;
    std::int64_t m_tileRows = 1;
    std::int64_t m_tileCols = 1;
};

/// Scales by the canonical name of their matrix.
using ScaleMap = std::map<std::string, WeightScales, std::less<>>;

/// Replaces scaled matrices of `table` by the real weights: in BF16 where that holds them all
/// exactly, else in F32. Copies.
[[nodiscard]] Status applyScales(const ScaleMap& scales, TensorTable& table);

}  // namespace quern::engine
