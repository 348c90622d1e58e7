#include "engine/model/pass_builder.h"

#include <span>
#include <utility>

#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::kNone;
using kernels::Rows;
using kernels::ValueId;
using kernels::WeightId;

std::string shapeText(const kernels::Shape& shape) {
    std::string text = "[";
    for (int i = 0; i < shape.rank; ++i) {
        text += (i == 0 ? "" : ", ") + std::to_string(shape.dims[static_cast<std::size_t>(i)]);
    }
    return text + "]";
}

Error wrongShape(const std::string& tensor, const kernels::Shape& found,
                 const std::string& wanted) {
    return {.code = ErrorCode::kCorrupt,
            .message = "tensor '" + tensor + "' has shape " + shapeText(found) +
                       " where the model's header wants " + wanted};
}

}  // namespace

void PassBuilder::setError(Error error) {
    if (!m_error) {
        m_error = std::move(error);
    }
}

std::int64_t PassBuilder::cols(ValueId id) const {
    return id == kNone ? 0 : m_pass.ops.values[static_cast<std::size_t>(id)].cols;
}

ValueId PassBuilder::newValue(const std::string& name, Rows rows, std::int64_t cols) {
    m_pass.ops.values.push_back({.name = name, .rows = rows, .cols = cols});
    return static_cast<ValueId>(m_pass.ops.values.size() - 1);
}

ValueId PassBuilder::value(const std::string& name, ValueId like, std::int64_t cols) {
    if (hasError()) {
        return kNone;
    }
    return newValue(name, m_pass.ops.values[static_cast<std::size_t>(like)].rows, cols);
}

void PassBuilder::emit(const std::string& name, kernels::OpVariant op) {
    if (!hasError()) {
        m_pass.ops.ops.push_back({.name = name, .op = std::move(op)});
    }
}

std::optional<kernels::TensorView> PassBuilder::require(const std::string& tensor) {
    auto view = m_tensors.find(tensor);
    if (!view) {
        setError({.code = ErrorCode::kCorrupt, .message = "tensor '" + tensor + "' is missing"});
    }
    return view;
}

WeightId PassBuilder::addWeight(kernels::Weight weight, kernels::TensorView data) {
    const auto id = static_cast<WeightId>(m_pass.ops.weights.size());
    m_weightIds.emplace(weight.name, id);
    m_pass.ops.weights.push_back(std::move(weight));
    m_pass.weights.push_back(data);
    return id;
}

WeightId PassBuilder::matrix(const std::string& tensor, std::int64_t rows, std::int64_t cols) {
    if (hasError()) {
        return kNone;
    }
    const auto view = require(tensor);
    if (!view) {
        return kNone;
    }
    if (view->shape.rank != 2 || view->shape.rows() != rows || view->shape.cols() != cols) {
        setError(wrongShape(tensor, view->shape,
                            "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]"));
        return kNone;
    }
    if (const auto known = m_weightIds.find(tensor); known != m_weightIds.end()) {
        return known->second;
    }
    return addWeight({.name = tensor, .type = view->type, .rows = rows, .cols = cols}, *view);
}

std::vector<WeightId> PassBuilder::matricesOfExperts(const std::string& stem, std::int64_t count,
                                                     std::int64_t rows, std::int64_t cols) {
    std::vector<WeightId> ids;
    const auto stacked = hasError() ? std::nullopt : m_tensors.find(stem + ".weight");
    if (!stacked) {
        for (std::int64_t expert = 0; expert < count && !hasError(); ++expert) {
            ids.push_back(matrix(stem + "." + std::to_string(expert) + ".weight", rows, cols));
        }
        return ids;
    }
    const kernels::Shape wanted{.dims = {count, rows, cols, 1}, .rank = 3};
    if (!(stacked->shape == wanted)) {
        setError(wrongShape(stem + ".weight", stacked->shape, shapeText(wanted)));
        return ids;
    }
    const auto rowBytes = kernels::rowBytes(stacked->type, cols);
    if (!rowBytes) {
        setError(rowBytes.error());
        return ids;
    }
    for (std::int64_t expert = 0; expert < count; ++expert) {
        const kernels::TensorView slice{.type = stacked->type,
                                        .shape = {.dims = {rows, cols, 1, 1}, .rank = 2},
                                        .data = stacked->data + expert * rows * *rowBytes};
        ids.push_back(addWeight({.name = stem + "." + std::to_string(expert) + ".weight",
                                 .type = stacked->type,
                                 .rows = rows,
                                 .cols = cols},
                                slice));
    }
    return ids;
}

std::vector<float> PassBuilder::readVector(const std::string& tensor, std::int64_t elements) {
    const auto view = hasError() ? std::nullopt : require(tensor);
    if (!view) {
        return {};
    }
    if (view->shape.elements() != elements) {
        setError(wrongShape(tensor, view->shape, "[" + std::to_string(elements) + "]"));
        return {};
    }
    std::vector<float> data(static_cast<std::size_t>(elements));
    const auto bytes = kernels::rowBytes(view->type, elements);
    if (!bytes) {
        setError(bytes.error());
        return {};
    }
    const std::span<const std::byte> raw(view->data, static_cast<std::size_t>(*bytes));
    if (auto status = kernels::dequantize(view->type, raw, data); !status) {
        setError({.code = status.error().code,
                  .message = "tensor '" + tensor + "': " + status.error().message});
        return {};
    }
    return data;
}

WeightId PassBuilder::vector(const std::string& tensor, std::int64_t elements) {
    std::vector<float> data = readVector(tensor, elements);
    if (hasError()) {
        return kNone;
    }
    if (const auto known = m_weightIds.find(tensor); known != m_weightIds.end()) {
        return known->second;
    }
    return ownedVector(tensor, std::move(data));
}

WeightId PassBuilder::transposed(const std::string& tensor, std::int64_t cols, std::int64_t rows) {
    const std::vector<float> data = readVector(tensor, cols * rows);
    if (hasError()) {
        return kNone;
    }
    std::vector<float> turned(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
        const std::size_t col = i / static_cast<std::size_t>(rows);
        const std::size_t row = i % static_cast<std::size_t>(rows);
        turned[row * static_cast<std::size_t>(cols) + col] = data[i];
    }
    const WeightId id = ownedVector(tensor, std::move(turned));
    m_pass.ops.weights[static_cast<std::size_t>(id)].rows = rows;
    m_pass.ops.weights[static_cast<std::size_t>(id)].cols = cols;
    m_pass.weights[static_cast<std::size_t>(id)].shape = {.dims = {rows, cols, 1, 1}, .rank = 2};
    return id;
}

WeightId PassBuilder::optionalVector(const std::string& tensor, std::int64_t elements) {
    return !hasError() && m_tensors.find(tensor) ? vector(tensor, elements) : kNone;
}

WeightId PassBuilder::ownedVector(const std::string& name, std::vector<float> data) {
    // Moving a vector of vectors leaves the inner data where it is, so views stay good.
    m_pass.owned.push_back(std::move(data));
    const std::vector<float>& kept = m_pass.owned.back();
    const auto elements = static_cast<std::int64_t>(kept.size());
    return addWeight({.name = name, .type = kernels::DType::kF32, .rows = 1, .cols = elements},
                     {.type = kernels::DType::kF32,
                      .shape = {.dims = {elements, 1, 1, 1}, .rank = 1},
                      .data = std::as_bytes(std::span(kept)).data()});
}

ValueId PassBuilder::embed(const std::string& name, const std::string& tensor, float scale) {
    const WeightId table = matrix(tensor, m_spec.vocabSize, m_spec.hiddenSize);
    if (hasError()) {
        return kNone;
    }
    const ValueId out = newValue(name, Rows::kTokens, m_spec.hiddenSize);
    emit(name, kernels::EmbedOp{.table = table, .out = out, .scale = scale});
    return out;
}

ValueId PassBuilder::embedPositions(const std::string& name, const std::string& tensor,
                                    std::int64_t offset) {
    const auto view = hasError() ? std::nullopt : require(tensor);
    if (!view) {
        return kNone;
    }
    const std::int64_t rows = view->shape.rows();
    if (rows - offset < m_spec.contextTokens) {
        setError({.code = ErrorCode::kCorrupt,
                  .message = "tensor '" + tensor + "' has " + std::to_string(rows) +
                             " positions; a context of " + std::to_string(m_spec.contextTokens) +
                             " needs " + std::to_string(m_spec.contextTokens + offset)});
        return kNone;
    }
    const WeightId table = matrix(tensor, rows, m_spec.hiddenSize);
    if (hasError()) {
        return kNone;
    }
    const ValueId out = newValue(name, Rows::kTokens, m_spec.hiddenSize);
    emit(
        name,
        kernels::EmbedOp{
            .table = table, .out = out, .index = kernels::EmbedIndex::kPosition, .offset = offset});
    return out;
}

ValueId PassBuilder::embedTypes(const std::string& name, const std::string& tensor) {
    const WeightId table = matrix(tensor, m_spec.tokenTypes, m_spec.hiddenSize);
    if (hasError()) {
        return kNone;
    }
    const ValueId out = newValue(name, Rows::kTokens, m_spec.hiddenSize);
    emit(name,
         kernels::EmbedOp{.table = table, .out = out, .index = kernels::EmbedIndex::kTokenType});
    return out;
}

ValueId PassBuilder::linear(const std::string& name, ValueId in, const std::string& stem,
                            std::int64_t outputs) {
    const WeightId weight = matrix(stem + ".weight", outputs, cols(in));
    // The embedding's name has no bias of a head: a tied head keeps its own under "output".
    const std::string biasStem = stem == "token_embd" ? "output" : stem;
    const WeightId bias = optionalVector(biasStem + ".bias", outputs);
    const ValueId out = value(name, in, outputs);
    emit(name, kernels::MatMulOp{.in = in, .weight = weight, .bias = bias, .out = out});
    return out;
}

std::int32_t PassBuilder::addKvLayer(kernels::KvLayer layer) {
    m_pass.kv.layers.push_back(layer);
    return static_cast<std::int32_t>(m_pass.kv.layers.size()) - 1;
}

std::int32_t PassBuilder::addState(kernels::StateLayer state) {
    m_pass.kv.states.push_back(state);
    return static_cast<std::int32_t>(m_pass.kv.states.size()) - 1;
}

ValueId PassBuilder::norm(const std::string& name, ValueId in, const std::string& stem,
                          std::int64_t groupCols) {
    return normAs(m_spec.norm, name, in, stem, groupCols);
}

ValueId PassBuilder::plainNorm(const std::string& name, ValueId in, const std::string& stem,
                               std::int64_t groupCols) {
    return rmsNorm(m_spec.norm.eps, name, in, stem, groupCols);
}

ValueId PassBuilder::rmsNorm(float eps, const std::string& name, ValueId in,
                             const std::string& stem, std::int64_t groupCols) {
    return normAs({.kind = kernels::NormKind::kRms, .eps = eps}, name, in, stem, groupCols);
}

ValueId PassBuilder::normAs(const NormSpec& spec, const std::string& name, ValueId in,
                            const std::string& stem, std::int64_t groupCols) {
    std::int64_t elements = groupCols == 0 ? cols(in) : groupCols;
    if (const auto view = m_tensors.find(stem + ".weight");
        view && view->shape.elements() == cols(in)) {
        elements = cols(in);  // each group has a weight of its own
    }
    const WeightId weight = vector(stem + ".weight", elements);
    const WeightId bias = optionalVector(stem + ".bias", elements);
    const ValueId out = value(name, in, cols(in));
    emit(name, kernels::NormOp{.in = in,
                               .out = out,
                               .kind = spec.kind,
                               .weight = weight,
                               .bias = bias,
                               .eps = spec.eps,
                               .weightOffset = spec.weightOffset,
                               .groupCols = groupCols});
    return out;
}

ValueId PassBuilder::add(const std::string& name, ValueId a, ValueId b) {
    const ValueId out = value(name, a, cols(a));
    emit(name, kernels::AddOp{.a = a, .b = b, .out = out});
    return out;
}

ValueId PassBuilder::scale(const std::string& name, ValueId in, float factor) {
    if (factor == 1.0F) {
        return in;
    }
    const ValueId out = value(name, in, cols(in));
    emit(name, kernels::ScaleOp{.in = in, .out = out, .factor = factor});
    return out;
}

ValueId PassBuilder::gather(const std::string& name, ValueId in) {
    if (hasError()) {
        return kNone;
    }
    const ValueId out = newValue(name, Rows::kOutputs, cols(in));
    switch (m_spec.pooling) {
        case Pooling::kMean:
            emit(name, kernels::PoolOp{.in = in, .out = out, .kind = kernels::PoolKind::kMean});
            break;
        case Pooling::kFirst:
            emit(name, kernels::PoolOp{.in = in, .out = out, .kind = kernels::PoolKind::kFirst});
            break;
        case Pooling::kNone:
        case Pooling::kLast:
            emit(name, kernels::GatherOutputsOp{.in = in, .out = out});
            break;
    }
    return out;
}

Result<ForwardPass> PassBuilder::take(std::vector<KvGroupSpec> groups) {
    if (m_error) {
        return tl::unexpected<Error>(std::move(*m_error));
    }
    m_pass.kv.groups = static_cast<std::int32_t>(groups.size());
    m_pass.groups = std::move(groups);
    return std::move(m_pass);
}

}  // namespace quern::engine
