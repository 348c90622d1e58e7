#include "engine/formats/arrange_experts.h"

#include <array>
#include <cstring>
#include <string>

#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::DType;
using kernels::Shape;
using kernels::TensorView;

constexpr std::int64_t kGroup = 32;  // elements of an MXFP4 block
constexpr std::int64_t kCodeBytes = kGroup / 2;

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

    // MXFP4 in two tensors: blocks [experts, rows, groups, 16] and scales [experts, rows, groups].
    Status joinBlocks() {
        const std::string gateUp = m_prefix + "ffn_gate_up_exps";
        const std::string down = m_prefix + "ffn_down_exps";
        if (m_table.has(gateUp + ".blocks")) {
            const std::int64_t half = m_spec.intermediate;
            if (auto status = checkBlocks(gateUp, 2 * half, m_hidden); !status) {
                return status;
            }
            const Shape shape = shapeOf({m_spec.count, half, m_hidden});
            join(gateUp, 2, 0, make("ffn_gate_exps.weight", DType::kMXFP4, shape));
            join(gateUp, 2, 1, make("ffn_up_exps.weight", DType::kMXFP4, shape));
            removeBlocks(gateUp);
        }
        if (m_table.has(down + ".blocks")) {
            if (auto status = checkBlocks(down, m_hidden, m_spec.intermediate); !status) {
                return status;
            }
            const Shape shape = shapeOf({m_spec.count, m_hidden, m_spec.intermediate});
            join(down, 1, 0, make("ffn_down_exps.weight", DType::kMXFP4, shape));
            removeBlocks(down);
        }
        return {};
    }

    void removeBlocks(const std::string& stem) {
        m_table.remove(stem + ".blocks");
        m_table.remove(stem + ".scales");
    }

    Status checkBlocks(const std::string& stem, std::int64_t rows, std::int64_t cols) const {
        const auto scales = m_table.find(stem + ".scales");
        if (!scales) {
            return fail(ErrorCode::kCorrupt, "tensor '" + stem + ".scales' is missing");
        }
        if (cols % kGroup != 0) {
            return fail(ErrorCode::kCorrupt,
                        "tensor '" + stem + ".blocks': rows of " + std::to_string(cols) +
                            " elements are no whole blocks of " + std::to_string(kGroup));
        }
        const std::int64_t groups = cols / kGroup;
        if (auto status =
                checkShape(stem + ".scales", *scales, shapeOf({m_spec.count, rows, groups}));
            !status) {
            return status;
        }
        return checkShape(stem + ".blocks", *m_table.find(stem + ".blocks"),
                          shapeOf({m_spec.count, rows, groups, kCodeBytes}));
    }

    /// Rows first, first + step, … of every expert in blocks of the GGML format: the scale, then
    /// codes of elements i and i + 16 in one byte, where the checkpoint has 2i and 2i + 1.
    void join(const std::string& stem, std::int64_t step, std::int64_t first, std::byte* to) const {
        const TensorView blocks = *m_table.find(stem + ".blocks");
        const TensorView scales = *m_table.find(stem + ".scales");
        const std::int64_t groups = blocks.shape.dims[2];
        const std::int64_t rows = blocks.shape.dims[0] * blocks.shape.dims[1];
        for (std::int64_t row = first; row < rows; row += step) {
            for (std::int64_t group = row * groups; group < (row + 1) * groups; ++group) {
                *to++ = scales.data[group];
                const std::byte* codes = blocks.data + group * kCodeBytes;
                const auto code = [&](std::int64_t element) {
                    return codes[element / 2] >> (element % 2 * 4) & std::byte{15};
                };
                for (std::int64_t i = 0; i < kCodeBytes; ++i) {
                    *to++ = code(i) | code(i + kCodeBytes) << 4;
                }
            }
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
