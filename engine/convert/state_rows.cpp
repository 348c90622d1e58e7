#include "engine/convert/state_rows.h"

#include <cmath>
#include <utility>

namespace quern::engine::convert {

namespace {

using kernels::Shape;
using kernels::TensorView;

/// Rows of a fused tensor that belong together, `count` of every `stride` from `offset` on.
struct Run {
    std::int64_t offset = 0;
    std::int64_t count = 0;
};

class StateRows {
public:
    StateRows(const ReadModel& model, std::int64_t layer, std::vector<NamedRows>& tensors)
        : m_model(model),
          m_hidden(model.parameters.hiddenSize),
          m_prefix(layerPrefix(layer)),
          m_tensors(tensors) {}

    Status add(std::monostate /*none*/) { return {}; }

    Status add(const ShortConvSpec& spec) {
        matrix("shortconv_in", "shortconv.in_proj", 3 * m_hidden, m_hidden);
        convolution("shortconv_conv", "shortconv.conv", m_hidden, spec.rows);
        matrix("shortconv_out", "shortconv.out_proj", m_hidden, m_hidden);
        return std::move(m_status);
    }

    Status add(const Mamba2Spec& spec) {
        const std::int64_t inner = innerOf(spec);
        const std::int64_t columns = convCols(spec);
        matrix("ssm_in", "ssm_in", inner + columns + spec.heads, m_hidden);
        convolution("ssm_conv1d", "ssm_conv1d", columns, spec.rows);
        const Shape perHead = shapeOf({spec.heads, 1});
        decay(perHead);
        vector("ssm_d.weight", "ssm_d", spec.heads, perHead);
        vector("ssm_dt_bias.weight", "ssm_dt.bias", spec.heads, shapeOf({spec.heads}));
        vector("ssm_norm.weight", "ssm_norm.weight", inner,
               shapeOf({spec.groups, inner / spec.groups}));
        matrix("ssm_out", "ssm_out", m_hidden, inner);
        return std::move(m_status);
    }

    /// A folder has each key head's rows together: its query, its key, the values of its value
    /// heads, and the gates of those.
    Status add(const DeltaNetSpec& spec) {
        const std::int64_t values = spec.valueHeads / spec.keyHeads * spec.valueDim;
        const std::int64_t stride = 2 * spec.keyDim + 2 * values;
        const Run query{.offset = 0, .count = spec.keyDim};
        const Run key{.offset = spec.keyDim, .count = spec.keyDim};
        const Run value{.offset = 2 * spec.keyDim, .count = values};
        const Run gate{.offset = 2 * spec.keyDim + values, .count = values};
        fused("attn_qkv", {query, key, value}, spec.keyHeads, stride);
        fused("attn_gate", {gate}, spec.keyHeads, stride);
        matrix("ssm_ba", "ssm_ba", 2 * spec.valueHeads, m_hidden);
        convolution("ssm_conv1d", "ssm_conv1d", convCols(spec), spec.rows);
        decay(shapeOf({spec.valueHeads}));
        vector("ssm_dt_bias.weight", "ssm_dt.bias", spec.valueHeads, shapeOf({spec.valueHeads}));
        vector("ssm_norm.weight", "ssm_norm.weight", spec.valueDim, shapeOf({spec.valueDim}));
        matrix("ssm_out", "ssm_out", m_hidden, innerOf(spec));
        return std::move(m_status);
    }

private:
    void push(const std::string& name, Result<TensorRows> rows) {
        if (rows) {
            m_tensors.push_back({.name = m_prefix + name, .rows = std::move(*rows)});
        } else if (m_status) {
            m_status = forward(rows);
        }
    }

    void bias(const std::string& from, const std::string& to, std::int64_t rows) {
        if (m_model.tensors->has(m_prefix + from + ".bias")) {
            push(to + ".bias", rowsOfTensor(m_model, m_prefix + from + ".bias", shapeOf({rows})));
        }
    }

    void matrix(const std::string& from, const std::string& to, std::int64_t rows,
                std::int64_t cols) {
        push(to + ".weight",
             rowsOfTensor(m_model, m_prefix + from + ".weight", shapeOf({rows, cols})));
        bias(from, to, rows);
    }

    /// [columns, 1, rows] loses its middle.
    void convolution(const std::string& from, const std::string& to, std::int64_t columns,
                     std::int64_t rows) {
        const auto view =
            plainTensor(m_model, m_prefix + from + ".weight", shapeOf({columns, 1, rows}));
        push(to + ".weight", view ? Result<TensorRows>(reshaped(*view, shapeOf({columns, rows})))
                                  : tl::unexpected<Error>(view.error()));
        bias(from, to, columns);
    }

    void vector(const std::string& from, const std::string& to, std::int64_t elements,
                const Shape& shape) {
        const auto view = plainTensor(m_model, m_prefix + from, shapeOf({elements}));
        push(to, view ? Result<TensorRows>(reshaped(*view, shape))
                      : tl::unexpected<Error>(view.error()));
    }

    /// A folder keeps the logarithm of A's size.
    void decay(const Shape& shape) {
        const auto view =
            plainTensor(m_model, m_prefix + "ssm_a_log.weight", shapeOf({shape.dims[0]}));
        push("ssm_a", view ? Result<TensorRows>(mapped(reshaped(*view, shape),
                                                       [](float log) { return -std::exp(log); }))
                           : tl::unexpected<Error>(view.error()));
    }

    /// All heads' first runs, then all their second ones, …
    void fused(const std::string& to, const std::vector<Run>& runs, std::int64_t heads,
               std::int64_t stride) {
        auto all =
            rowsOfTensor(m_model, m_prefix + "ssm_in.weight", shapeOf({heads * stride, m_hidden}));
        if (!all) {
            push(to, std::move(all));
            return;
        }
        std::int64_t rows = 0;
        for (const Run& run : runs) {
            rows += heads * run.count;
        }
        push(to + ".weight", reordered(std::move(*all), shapeOf({rows, m_hidden}),
                                       [runs, heads, stride](std::int64_t row) {
                                           auto run = runs.begin();
                                           for (; row >= heads * run->count; ++run) {
                                               row -= heads * run->count;
                                           }
                                           return row / run->count * stride + run->offset +
                                                  row % run->count;
                                       }));
    }

    const ReadModel& m_model;
    std::int64_t m_hidden;
    std::string m_prefix;
    std::vector<NamedRows>& m_tensors;
    Status m_status;
};

}  // namespace

Status addStateRows(const ReadModel& model, std::int64_t layer, std::vector<NamedRows>& tensors) {
    StateRows rows(model, layer, tensors);
    return std::visit([&](const auto& spec) { return rows.add(spec); }, model.parameters.state);
}

bool isOfState(std::string_view stem) {
    return stem.starts_with("ssm_") || stem.starts_with("shortconv_");
}

}  // namespace quern::engine::convert
