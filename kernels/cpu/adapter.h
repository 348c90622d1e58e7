#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/kernels.h"

namespace quern::kernels::cpu {

/// What an adapter adds to one matrix: out += b · (scale · (a · in)).
struct LowRankPart {
    std::unique_ptr<PackedWeight> a;  // [rank, inputs], both multiplied in float32
    std::unique_ptr<PackedWeight> b;  // [outputs, rank]
    float scale = 1.0F;
};

/// An adapter of one program, its matrices packed as a model's are, in the types of their file.
/// Immutable once made; any thread.
class CpuAdapter final : public Adapter {
public:
    /// `programId`: whose matrices `ops` names. Errors as Backend::makeAdapter.
    [[nodiscard]] static Result<std::unique_ptr<CpuAdapter>> create(std::uint64_t programId,
                                                                    const OpList& ops,
                                                                    std::span<const LowRank> parts,
                                                                    const GemmKernels& gemm);

    [[nodiscard]] std::int64_t bytes() const override { return m_memory.bytes(); }
    [[nodiscard]] std::uint64_t programId() const { return m_programId; }
    /// Null where nothing is added to that weight.
    [[nodiscard]] const LowRankPart* of(WeightId weight) const {
        const std::int32_t index = m_indices[static_cast<std::size_t>(weight)];
        return index < 0 ? nullptr : &m_parts[static_cast<std::size_t>(index)];
    }
    [[nodiscard]] std::int64_t mostRank() const { return m_mostRank; }

private:
    Status add(const OpList& ops, const LowRank& part, const GemmKernels& gemm);

    WeightMemory m_memory;
    std::uint64_t m_programId = 0;
    std::vector<LowRankPart> m_parts;
    std::vector<std::int32_t> m_indices;  // [weights] into m_parts; −1: none
    std::int64_t m_mostRank = 0;
};

}  // namespace quern::kernels::cpu
