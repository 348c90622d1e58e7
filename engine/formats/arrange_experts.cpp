#include "engine/formats/arrange_experts.h"

#include <array>
#include <cstring>
#include <string>

#include "engine/formats/mxfp4_blocks.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::DType;
using kernels::Shape;
using kernels::TensorView;

Shape shapeOf(std::initializer_list<std::int64_t> dims) {
    Shape shape;
    for (const std::int64_t dim : dims) {
        shape.dims[static_cast<std::size_t>(shape.rank++)] = dim;
    }
    return shape;
}

/// The tensors of one layer of experts.
class LayerOfExperts {
public:
    LayerOfExperts(TensorTable& table, const ExpertsSpec& spec, std::int64_t hidden,
                   bool isInterleaved, std::int64_t layer)
        : m_table(table),
          m_spec(spec),
          m_hidden(hidden),
          m_isInterleaved(isInterleaved),
          m_prefix("blk." + std::to_string(layer) + ".") {}

    Status arrange() {
        if (!m_isInterleaved) {
            return splitGateUp();
        }
        for (const auto step : {&LayerOfExperts::joinBlocks, &LayerOfExperts::transposeGateUp,
                                &LayerOfExperts::transposeDown, &LayerOfExperts::splitBias}) {
            if (auto status = (this->*step)(); !status) {
                return status;
            }
        }
        return {};
    }

private:
    static Status checkShape(const std::string& name, const TensorView& view, const Shape& wanted) {
        if (view.shape == wanted) {
            return {};
        }
        return fail(ErrorCode::kCorrupt, "tensor '" + name + "' has shape " +
                                             shapeText(view.shape) + " where the model's header " +
                                             "wants " + shapeText(wanted));
    }

    static Status checkPlain(const std::string& name, const TensorView& view) {
        if (kernels::traits(view.type).blockElements == 1) {
            return {};
        }
        return fail(ErrorCode::kCorrupt, "tensor '" + name + "' has type " +
                                             std::string(kernels::traits(view.type).name) +
                                             "; plain numbers were expected");
    }

    std::byte* make(const std::string& stem, DType type, const Shape& shape) {
        const auto& traits = kernels::traits(type);
        const std::int64_t bytes = shape.elements() / traits.blockElements * traits.blockBytes;
        std::byte* data = m_table.allocate(static_cast<std::size_t>(bytes)).data();
        m_table.set(m_prefix + stem, {.type = type, .shape = shape, .data = data});
        return data;
    }

    // Gate's rows, then up's, of each expert.
    Status splitGateUp() {
        const std::string name = m_prefix + "ffn_gate_up_exps.weight";
        const auto fused = m_table.find(name);
        if (!fused) {
            return {};
        }
        const std::int64_t half = m_spec.intermediate;
        if (auto status = checkShape(name, *fused, shapeOf({m_spec.count, 2 * half, m_hidden}));
            !status) {
            return status;
        }
        TensorView rows = *fused;
        rows.shape = shapeOf({m_spec.count * 2 * half, m_hidden});
        for (std::int64_t expert = 0; expert < m_spec.count; ++expert) {
            const std::string end = "." + std::to_string(expert) + ".weight";
            m_table.set(m_prefix + "ffn_gate_exps" + end, rowSlice(rows, 2 * expert * half, half));
            m_table.set(m_prefix + "ffn_up_exps" + end,
                        rowSlice(rows, (2 * expert + 1) * half, half));
        }
        m_table.remove(name);
        return {};
    }

    // [experts, hidden, 2 · intermediate], columns of gate and up in turns.
    Status transposeGateUp() {
        const std::string name = m_prefix + "ffn_gate_up_exps.weight";
        const auto fused = m_table.find(name);
        if (!fused) {
            return {};
        }
        const std::int64_t half = m_spec.intermediate;
        auto status = checkShape(name, *fused, shapeOf({m_spec.count, m_hidden, 2 * half}));
        if (status) {
            status = checkPlain(name, *fused);
        }
        if (!status) {
            return status;
        }
        const Shape shape = shapeOf({m_spec.count, half, m_hidden});
        transpose(*fused, 2, 0, make("ffn_gate_exps.weight", fused->type, shape));
        transpose(*fused, 2, 1, make("ffn_up_exps.weight", fused->type, shape));
        m_table.remove(name);
        return {};
    }

    // [experts, intermediate, hidden]
    Status transposeDown() {
        const std::string name = m_prefix + "ffn_down_exps.weight";
        const auto view = m_table.find(name);
        if (!view || view->type == DType::kMXFP4) {
            return {};
        }
        auto status =
            checkShape(name, *view, shapeOf({m_spec.count, m_spec.intermediate, m_hidden}));
        if (status) {
            status = checkPlain(name, *view);
        }
        if (!status) {
            return status;
        }
        const Shape shape = shapeOf({m_spec.count, m_hidden, m_spec.intermediate});
        transpose(*view, 1, 0, make("ffn_down_exps.weight", view->type, shape));
        return {};
    }

    /// Columns first, first + step, … of [experts, in, columns] become rows.
    static void transpose(const TensorView& from, std::int64_t step, std::int64_t first,
                          std::byte* to) {
        const auto size = static_cast<std::size_t>(kernels::traits(from.type).blockBytes);
        const std::int64_t inputs = from.shape.dims[1];
        const std::int64_t columns = from.shape.dims[2];
        for (std::int64_t expert = 0; expert < from.shape.dims[0]; ++expert) {
            const std::int64_t base = expert * inputs * columns;
            for (std::int64_t column = first; column < columns; column += step) {
                for (std::int64_t i = 0; i < inputs; ++i) {
                    const auto at = static_cast<std::size_t>(base + i * columns + column);
                    std::memcpy(to, from.data + at * size, size);
                    to += size;
                }
            }
        }
    }

    // A bias [experts, 2 · intermediate], of gate and up in turns.
    Status splitBias() {
        const std::string name = m_prefix + "ffn_gate_up_exps.bias";
        const auto fused = m_table.find(name);
        if (!fused) {
            return {};
        }
        const std::int64_t half = m_spec.intermediate;
        auto status = checkShape(name, *fused, shapeOf({m_spec.count, 2 * half}));
        if (status) {
            status = checkPlain(name, *fused);
        }
        if (!status) {
            return status;
        }
        TensorView asMatrices = *fused;
        asMatrices.shape = shapeOf({m_spec.count, 1, 2 * half});
        const Shape shape = shapeOf({m_spec.count, half});
        transpose(asMatrices, 2, 0, make("ffn_gate_exps.bias", fused->type, shape));
        transpose(asMatrices, 2, 1, make("ffn_up_exps.bias", fused->type, shape));
        m_table.remove(name);
        return {};
    }

    // MXFP4 in two tensors.
    Status joinBlocks() {
        const std::string gateUp = m_prefix + "ffn_gate_up_exps";
        const std::string down = m_prefix + "ffn_down_exps";
        if (m_table.has(gateUp + ".blocks")) {
            const std::int64_t half = m_spec.intermediate;
            const auto blocks = Mxfp4Blocks::find(
                m_table, gateUp, {.experts = m_spec.count, .rows = 2 * half, .cols = m_hidden});
            if (!blocks) {
                return tl::unexpected<Error>(blocks.error());
            }
            const Shape shape = shapeOf({m_spec.count, half, m_hidden});
            join(*blocks, 2, 0, shape, "ffn_gate_exps.weight");
            join(*blocks, 2, 1, shape, "ffn_up_exps.weight");
            removeBlocks(gateUp);
        }
        if (m_table.has(down + ".blocks")) {
            const auto blocks = Mxfp4Blocks::find(
                m_table, down,
                {.experts = m_spec.count, .rows = m_hidden, .cols = m_spec.intermediate});
            if (!blocks) {
                return tl::unexpected<Error>(blocks.error());
            }
            join(*blocks, 1, 0, shapeOf({m_spec.count, m_hidden, m_spec.intermediate}),
                 "ffn_down_exps.weight");
            removeBlocks(down);
        }
        return {};
    }

    void removeBlocks(const std::string& stem) {
        m_table.remove(stem + ".blocks");
        m_table.remove(stem + ".scales");
    }

    /// Rows first, first + step, … of every expert.
    void join(const Mxfp4Blocks& blocks, std::int64_t step, std::int64_t first, const Shape& shape,
              const std::string& stem) {
        std::byte* to = make(stem, DType::kMXFP4, shape);
        const std::size_t bytes = blocks.rowBytes();
        for (std::int64_t row = 0; row < shape.rows(); ++row, to += bytes) {
            blocks.copyRow(row * step + first, {to, bytes});
        }
    }

    TensorTable& m_table;
    const ExpertsSpec& m_spec;
    std::int64_t m_hidden;
    bool m_isInterleaved;
    std::string m_prefix;
};

}  // namespace

Status arrangeExperts(ReadModel& model) {
    const Hyperparameters& parameters = model.parameters;
    for (std::size_t layer = 0; layer < parameters.hasExperts.size(); ++layer) {
        if (!parameters.hasExperts[layer]) {
            continue;
        }
        LayerOfExperts tensors(*model.tensors, parameters.experts, parameters.hiddenSize,
                               model.areExpertsInterleaved, static_cast<std::int64_t>(layer));
        if (auto status = tensors.arrange(); !status) {
            return status;
        }
    }
    return {};
}

}  // namespace quern::engine
