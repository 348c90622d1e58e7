#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/kernels.h"

namespace quern::kernels::cpu {

/// Rows that are looked up by token: a packed matrix that is also multiplied with, or plain data.
struct EmbedTable {
    const PackedWeight* packed = nullptr;
    DType type = DType::kF32;
    const std::byte* data = nullptr;
    std::int64_t rowBytes = 0;
    std::int64_t rows = 0;
    std::int64_t cols = 0;
};

/// The weights that an op multiplies with; none for most.
[[nodiscard]] std::span<const WeightId> matricesOf(const OpVariant& op);

/// A program's weights, taken over once: matrices packed, tables copied, vectors in float32. What
/// is used twice is kept once. Immutable once made; any thread.
class WeightStore {
public:
    /// `ops` has passed checkOps. kUnsupported names a weight whose type has no kernel.
    [[nodiscard]] static Result<std::unique_ptr<WeightStore>> create(
        const OpList& ops, std::span<const TensorView> views, const GemmKernels& gemm,
        const CompileOptions& options);

    /// A weight that a MatMul or a GroupedMatMul uses.
    [[nodiscard]] const PackedWeight& packed(WeightId id) const;
    /// A weight that an Embed uses.
    [[nodiscard]] const EmbedTable& table(WeightId id) const;
    /// A vector's elements with `offset` added to each; null for kNone.
    [[nodiscard]] const float* vector(WeightId id, float offset = 0.0F) const;
    [[nodiscard]] std::int64_t elements(WeightId id) const;
    [[nodiscard]] std::int64_t bytes() const;

private:
    Status take(const OpList& ops, std::span<const TensorView> views, const GemmKernels& gemm,
                const CompileOptions& options);
    Status takeVectors(const OpList& ops, std::span<const TensorView> views);
    Status addVector(const OpList& ops, std::span<const TensorView> views, WeightId id,
                     float offset);
    Status copyTable(const Weight& weight, const TensorView& view, EmbedTable& table);

    WeightMemory m_memory;  // of the matrices and tables
    std::vector<std::unique_ptr<PackedWeight>> m_matrices;
    std::vector<const PackedWeight*> m_packed;  // [weights]
    std::vector<EmbedTable> m_tables;           // [weights]
    std::vector<std::int64_t> m_elements;       // [weights]
    std::map<std::pair<WeightId, float>, std::vector<float>> m_vectors;
};

}  // namespace quern::kernels::cpu
