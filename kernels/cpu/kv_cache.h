#pragma once

#include <cstdint>
#include <vector>

#include "kernels/cpu/memory.h"
#include "kernels/kernels.h"

namespace quern::kernels::cpu {

/// Where one attention layer's part lies inside a block of its group, and how. For each KV head in
/// turn: keys transposed [keyDim][16], then values [16][paddedValueDim]. Transposed keys let one
/// vector hold the scores of many keys, so that no horizontal sums are needed.
struct KvLayerLayout {
    std::int32_t group = 0;
    std::int64_t kvHeads = 0;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
    std::int64_t paddedValueDim = 0;  // a multiple of 16; the padding stays zero
    bool isValueInKey = false;        // as in KvLayer: there are keys only
    std::int64_t offsetBytes = 0;     // of the layer in a block
    std::int64_t keyBytes = 0;        // of one head's keys
    std::int64_t headBytes = 0;       // of one head's keys and values
};

/// Where one op's state lies inside a block of its group.
struct StateLayout {
    std::int32_t group = 0;
    std::int64_t offsetBytes = 0;
};

struct KvBlockLayout {
    DType type = DType::kF16;
    std::vector<KvLayerLayout> layers;     // as KvLayout::layers
    std::vector<StateLayout> states;       // as KvLayout::states
    std::vector<bool> isState;             // [groups]
    std::vector<std::int64_t> blockBytes;  // [groups]
};

/// kInvalidArgument names the layer that is out of range, kUnsupported a type there are no kernels
/// for.
[[nodiscard]] Result<KvBlockLayout> planKvBlocks(const KvLayout& layout);

/// One memory a group, touched lazily.
class CpuKvCache final : public KvCache {
public:
    [[nodiscard]] static Result<std::unique_ptr<CpuKvCache>> create(
        const KvLayout& layout, std::span<const std::int64_t> blocks);

    [[nodiscard]] const KvLayout& layout() const override { return m_layout; }
    [[nodiscard]] std::int64_t blocks(std::int32_t group) const override;
    [[nodiscard]] std::int64_t blockBytes(std::int32_t group) const override;

    [[nodiscard]] std::byte* groupData(std::int32_t group) const;
    [[nodiscard]] Status copyBlock(std::int32_t group, std::int32_t from, std::int32_t to);

private:
    KvLayout m_layout;
    KvBlockLayout m_plan;
    std::vector<std::int64_t> m_blocks;
    std::vector<SystemMemory> m_memory;
};

}  // namespace quern::kernels::cpu
