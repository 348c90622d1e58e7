#include "engine/convert/expert_rows.h"

#include <utility>

#include "engine/formats/mxfp4_blocks.h"
#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

using kernels::Shape;

/// A matrix each expert has, and where it lies in a tensor that holds two of them.
struct Part {
    const char* stem;
    std::int64_t rows;
    std::int64_t cols;
    const char* fused;   // the tensor that holds this and another …
    std::int64_t phase;  // … as its first or second part
};

class LayerOfExperts {
public:
    LayerOfExperts(const ReadModel& model, std::int64_t layer, std::vector<NamedRows>& tensors)
        : m_model(model),
          m_count(model.parameters.experts.count),
          m_prefix(layerPrefix(layer)),
          m_tensors(tensors) {}

    Status add(const Part& part) {
        auto matrix = matrixOf(part);
        if (!matrix) {
            return forward(matrix);
        }
        m_tensors.push_back({.name = m_prefix + part.stem + ".weight", .rows = std::move(*matrix)});
        const std::string own = std::string(part.stem) + ".bias";
        const std::string fused = std::string(part.fused) + ".bias";
        const Shape shape = shapeOf({m_count, part.rows});
        if (has(own)) {
            return push(own, rowsOfTensor(m_model, m_prefix + own, shape));
        }
        if (has(fused)) {
            // Gate's and up's in turns.
            auto both = rowsOfTensor(m_model, m_prefix + fused, shapeOf({m_count, 2 * part.rows}));
            if (!both) {
                return forward(both);
            }
            return push(own, withColumns(std::move(*both), shape,
                                         [phase = part.phase](std::int64_t column) {
                                             return 2 * column + phase;
                                         }));
        }
        return {};
    }

private:
    [[nodiscard]] bool has(const std::string& stem) const {
        return m_model.tensors->has(m_prefix + stem);
    }

    Status push(const std::string& stem, Result<TensorRows> rows) {
        if (!rows) {
            return forward(rows);
        }
        m_tensors.push_back({.name = m_prefix + stem, .rows = std::move(*rows)});
        return {};
    }

    Result<TensorRows> matrixOf(const Part& part) const {
        const std::string stem(part.stem);
        const Shape shape = shapeOf({m_count, part.rows, part.cols});
        if (has(stem + ".0.weight")) {
            return ofEach(part, shape);
        }
        if (has(std::string(part.fused) + ".blocks")) {
            return ofBlocks(part.fused, 2, part, shape);
        }
        if (has(stem + ".blocks")) {
            return ofBlocks(part.stem, 1, part, shape);
        }
        if (has(std::string(part.fused) + ".weight")) {
            return ofFused(part, shape);
        }
        if (!m_model.areExpertsInterleaved) {
            return rowsOfTensor(m_model, m_prefix + stem + ".weight", shape);
        }
        return ofColumns(stem + ".weight", part.rows, 1, part, shape);
    }

    /// A tensor an expert.
    Result<TensorRows> ofEach(const Part& part, const Shape& shape) const {
        std::vector<TensorRows> experts;
        for (std::int64_t expert = 0; expert < m_count; ++expert) {
            auto rows = rowsOfTensor(
                m_model, m_prefix + part.stem + "." + std::to_string(expert) + ".weight",
                shapeOf({part.rows, part.cols}));
            if (!rows) {
                return rows;
            }
            experts.push_back(std::move(*rows));
        }
        return stacked(std::move(experts), shape);
    }

    /// Of each expert gate's rows, then up's; or, where matrices are [in, out], their columns in
    /// turns.
    Result<TensorRows> ofFused(const Part& part, const Shape& shape) const {
        const std::string name = std::string(part.fused) + ".weight";
        if (m_model.areExpertsInterleaved) {
            return ofColumns(name, 2 * part.rows, 2, part, shape);
        }
        auto both =
            rowsOfTensor(m_model, m_prefix + name, shapeOf({m_count, 2 * part.rows, part.cols}));
        if (!both) {
            return both;
        }
        return reordered(std::move(*both), shape,
                         [rows = part.rows, phase = part.phase](std::int64_t row) {
                             return (2 * (row / rows) + phase) * rows + row % rows;
                         });
    }

    Result<TensorRows> ofColumns(const std::string& stem, std::int64_t columns, std::int64_t step,
                                 const Part& part, const Shape& shape) const {
        auto view = plainTensor(m_model, m_prefix + stem, shapeOf({m_count, part.cols, columns}));
        if (!view) {
            return forward(view);
        }
        kernels::TensorView matrix = *view;
        matrix.shape = shapeOf({m_count * part.cols, columns});
        std::vector<TensorRows> experts;
        for (std::int64_t expert = 0; expert < m_count; ++expert) {
            experts.push_back(
                columnsOf(rowSlice(matrix, expert * part.cols, part.cols), part.phase, step));
        }
        return stacked(std::move(experts), shape);
    }

    /// Rows phase, phase + step, … of MXFP4 in two tensors.
    Result<TensorRows> ofBlocks(const std::string& stem, std::int64_t step, const Part& part,
                                const Shape& shape) const {
        auto blocks =
            Mxfp4Blocks::find(*m_model.tensors, m_prefix + stem,
                              {.experts = m_count, .rows = step * part.rows, .cols = part.cols});
        if (!blocks) {
            return forward(blocks);
        }
        return mxfp4Rows(*blocks, shape, [step, phase = part.phase](std::int64_t row) {
            return row * step + phase;
        });
    }

    static TensorRows mxfp4Rows(const Mxfp4Blocks& blocks, const Shape& shape,
                                std::function<std::int64_t(std::int64_t)> from) {
        const auto copy = [blocks, from = std::move(from)](std::int64_t row,
                                                           std::span<std::byte> out) {
            blocks.copyRow(from(row), out);
        };
        return {.shape = shape,
                .type = kernels::DType::kMXFP4,
                .read =
                    [copy, bytes = blocks.rowBytes()](std::int64_t row, std::span<float> out) {
                        std::vector<std::byte> packed(bytes);
                        copy(row, packed);
                        return kernels::dequantize(kernels::DType::kMXFP4, packed, out);
                    },
                .copy = copy};
    }

    const ReadModel& m_model;
    std::int64_t m_count;
    std::string m_prefix;
    std::vector<NamedRows>& m_tensors;
};

}  // namespace

Status addExpertRows(const ReadModel& model, std::int64_t layer, std::vector<NamedRows>& tensors) {
    const std::int64_t half = model.parameters.experts.intermediate;
    const std::int64_t hidden = model.parameters.hiddenSize;
    LayerOfExperts experts(model, layer, tensors);
    const Part parts[] = {{"ffn_gate_exps", half, hidden, "ffn_gate_up_exps", 0},
                          {"ffn_up_exps", half, hidden, "ffn_gate_up_exps", 1},
                          {"ffn_down_exps", hidden, half, "", 0}};
    for (const Part& part : parts) {
        if (auto status = experts.add(part); !status) {
            return status;
        }
    }
    return {};
}

bool isOfExperts(std::string_view stem) {
    return stem.find("_exps") != std::string_view::npos;
}

}  // namespace quern::engine::convert
