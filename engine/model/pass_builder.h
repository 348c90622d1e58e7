#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "engine/formats/model_source.h"
#include "engine/model/forward.h"
#include "engine/model/model_spec.h"
#include "kernels/ops.h"

namespace quern::engine {

/// Writes an op list: values, weights looked up and checked by shape, one method an op. The first
/// error stays and later calls do nothing, so a pass is written without a check a line; take()
/// returns it. Belongs to one thread; borrows what it was made from.
class PassBuilder {
public:
    PassBuilder(const ModelSpec& spec, const TensorSource& tensors)
        : m_spec(spec), m_tensors(tensors) {}

    [[nodiscard]] bool hasError() const { return m_error.has_value(); }
    void setError(Error error);

    /// A new value with as many rows as `like`.
    kernels::ValueId value(const std::string& name, kernels::ValueId like, std::int64_t cols);
    void emit(const std::string& name, kernels::OpVariant op);

    /// A matrix of the file, the same id each time it is asked for.
    kernels::WeightId matrix(const std::string& tensor, std::int64_t rows, std::int64_t cols);
    /// The matrices of `count` experts or heads: slices of `stem`.weight [count, rows, cols], or
    /// tensors of their own, `stem`.0.weight and on.
    std::vector<kernels::WeightId> matricesOfExperts(const std::string& stem, std::int64_t count,
                                                     std::int64_t rows, std::int64_t cols);
    /// A vector of the file, in F32. `elements` must be what it holds, in whatever shape.
    kernels::WeightId vector(const std::string& tensor, std::int64_t elements);
    /// kNone where the file has no such vector.
    kernels::WeightId optionalVector(const std::string& tensor, std::int64_t elements);
    kernels::WeightId ownedVector(const std::string& name, std::vector<float> data);
    /// A small matrix of the file, [cols, rows] in whatever shape, as F32 [rows, cols].
    kernels::WeightId transposed(const std::string& tensor, std::int64_t cols, std::int64_t rows);

    kernels::ValueId embed(const std::string& name, const std::string& tensor, float scale);
    /// Rows by position; kCorrupt when the table is shorter than the model's context.
    kernels::ValueId embedPositions(const std::string& name, const std::string& tensor,
                                    std::int64_t offset);
    /// Rows by token type.
    kernels::ValueId embedTypes(const std::string& name, const std::string& tensor);
    /// `stem`.weight [outputs, cols of in] and its bias, where there is one.
    kernels::ValueId linear(const std::string& name, kernels::ValueId in, const std::string& stem,
                            std::int64_t outputs);
    /// The model's norm over groups of columns (0: the row), weight and bias of `stem`.
    kernels::ValueId norm(const std::string& name, kernels::ValueId in, const std::string& stem,
                          std::int64_t groupCols = 0);
    /// RMS norms in models whose other norms may be of another kind, or add an offset to their
    /// weights: with an `eps` of their own, or with the model's.
    kernels::ValueId rmsNorm(float eps, const std::string& name, kernels::ValueId in,
                             const std::string& stem, std::int64_t groupCols = 0);
    kernels::ValueId plainNorm(const std::string& name, kernels::ValueId in,
                               const std::string& stem, std::int64_t groupCols);
    kernels::ValueId add(const std::string& name, kernels::ValueId a, kernels::ValueId b);
    /// The value itself when the factor is 1.
    kernels::ValueId scale(const std::string& name, kernels::ValueId in, float factor);
    /// From rows of tokens to rows of outputs: those that are asked for, or a text's pooled one.
    kernels::ValueId gather(const std::string& name, kernels::ValueId in);

    std::int32_t addKvLayer(kernels::KvLayer layer);
    std::int32_t addState(kernels::StateLayer state);
    void setOutput(kernels::ValueId value) { m_pass.ops.output = value; }

    /// The finished pass, or the first error.
    [[nodiscard]] Result<ForwardPass> take(std::vector<KvGroupSpec> groups);

private:
    kernels::ValueId normAs(const NormSpec& spec, const std::string& name, kernels::ValueId in,
                            const std::string& stem, std::int64_t groupCols);
    /// The values of a vector of the file; empty, with an error, when there is none of that size.
    std::vector<float> readVector(const std::string& tensor, std::int64_t elements);
    [[nodiscard]] std::int64_t cols(kernels::ValueId id) const;
    kernels::ValueId newValue(const std::string& name, kernels::Rows rows, std::int64_t cols);
    kernels::WeightId addWeight(kernels::Weight weight, kernels::TensorView data);
    std::optional<kernels::TensorView> require(const std::string& tensor);

    const ModelSpec& m_spec;
    const TensorSource& m_tensors;
    std::optional<Error> m_error;
    std::map<std::string, kernels::WeightId> m_weightIds;
    ForwardPass m_pass;
};

}  // namespace quern::engine
