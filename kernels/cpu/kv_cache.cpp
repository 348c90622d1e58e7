#include "kernels/cpu/kv_cache.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "kernels/quant.h"

namespace quern::kernels {

std::int64_t kvBlockBytes(const KvLayout& layout, std::int32_t group) {
    std::int64_t elements = 0;
    for (const KvLayer& layer : layout.layers) {
        if (layer.group == group) {
            elements += layer.kvHeads * (layer.keyDim + (layer.isValueInKey ? 0 : layer.valueDim));
        }
    }
    std::int64_t floats = 0;
    for (const StateLayer& state : layout.states) {
        floats += state.group == group ? state.floats : 0;
    }
    return elements * kBlockTokens * traits(layout.type).blockBytes +
           floats * static_cast<std::int64_t>(sizeof(float));
}

bool holdsStates(const KvLayout& layout, std::int32_t group) {
    return std::ranges::any_of(layout.states,
                               [&](const StateLayer& state) { return state.group == group; });
}

namespace cpu {

namespace {

constexpr std::int64_t kMaxDim = 1 << 16;
constexpr std::int64_t kMaxStateFloats = std::int64_t{1} << 32;
constexpr std::int64_t kCacheLine = 64;

Status planStates(const KvLayout& layout, KvBlockLayout& plan) {
    plan.isState.resize(static_cast<std::size_t>(layout.groups), false);
    for (std::size_t i = 0; i < layout.states.size(); ++i) {
        const StateLayer& state = layout.states[i];
        const bool isInRange = state.group >= 0 && state.group < layout.groups &&
                               state.floats >= 1 && state.floats <= kMaxStateFloats;
        if (!isInRange) {
            return fail(ErrorCode::kInvalidArgument,
                        "state " + std::to_string(i) + " has group " + std::to_string(state.group) +
                            " of " + std::to_string(layout.groups) + " and " +
                            std::to_string(state.floats) + " floats; it must have 1 to " +
                            std::to_string(kMaxStateFloats));
        }
        if (std::ranges::any_of(layout.layers,
                                [&](const KvLayer& layer) { return layer.group == state.group; })) {
            return fail(ErrorCode::kInvalidArgument,
                        "KV group " + std::to_string(state.group) +
                            " has states and layers of attention; it must have one of them");
        }
        const auto group = static_cast<std::size_t>(state.group);
        plan.isState[group] = true;
        plan.states.push_back({.group = state.group, .offsetBytes = plan.blockBytes[group]});
        const std::int64_t bytes = state.floats * static_cast<std::int64_t>(sizeof(float));
        plan.blockBytes[group] += (bytes + kCacheLine - 1) / kCacheLine * kCacheLine;
    }
    return {};
}

}  // namespace

Result<KvBlockLayout> planKvBlocks(const KvLayout& layout) {
    if (layout.type != DType::kF16 && layout.type != DType::kF32) {
        return fail(ErrorCode::kUnsupported, "the CPU's KV cache takes F16 or F32, not " +
                                                 std::string(traits(layout.type).name));
    }
    if (layout.groups < 1) {
        return fail(ErrorCode::kInvalidArgument,
                    "a KV layout with " + std::to_string(layout.groups) + " groups; it needs 1");
    }
    const std::int64_t size = traits(layout.type).blockBytes;
    KvBlockLayout plan{.type = layout.type};
    plan.blockBytes.resize(static_cast<std::size_t>(layout.groups), 0);
    for (std::size_t i = 0; i < layout.layers.size(); ++i) {
        const KvLayer& layer = layout.layers[i];
        const bool isInRange = layer.group >= 0 && layer.group < layout.groups &&
                               layer.kvHeads >= 1 && layer.kvHeads <= kMaxDim &&
                               layer.keyDim >= 1 && layer.keyDim <= kMaxDim &&
                               layer.valueDim >= 1 && layer.valueDim <= kMaxDim &&
                               (!layer.isValueInKey || layer.valueDim <= layer.keyDim);
        if (!isInRange) {
            return fail(ErrorCode::kInvalidArgument,
                        "KV layer " + std::to_string(i) + " has group " +
                            std::to_string(layer.group) + " of " + std::to_string(layout.groups) +
                            ", " + std::to_string(layer.kvHeads) + " heads, key dimension " +
                            std::to_string(layer.keyDim) + ", value dimension " +
                            std::to_string(layer.valueDim) + "; each dimension must be 1 to " +
                            std::to_string(kMaxDim));
        }
        std::int64_t& blockBytes = plan.blockBytes[static_cast<std::size_t>(layer.group)];
        KvLayerLayout& out = plan.layers.emplace_back();
        out.group = layer.group;
        out.kvHeads = layer.kvHeads;
        out.keyDim = layer.keyDim;
        out.valueDim = layer.valueDim;
        out.paddedValueDim = (layer.valueDim + 15) / 16 * 16;
        out.isValueInKey = layer.isValueInKey;
        out.offsetBytes = blockBytes;
        out.keyBytes = layer.keyDim * kBlockTokens * size;
        const std::int64_t valueBytes = out.paddedValueDim * kBlockTokens * size;
        out.headBytes = out.keyBytes + (out.isValueInKey ? 0 : valueBytes);
        blockBytes += layer.kvHeads * out.headBytes;
    }
    if (auto status = planStates(layout, plan); !status) {
        return forward(status);
    }
    return plan;
}

Result<std::unique_ptr<CpuKvCache>> CpuKvCache::create(const KvLayout& layout,
                                                       std::span<const std::int64_t> blocks) {
    Result<KvBlockLayout> plan = planKvBlocks(layout);
    if (!plan) {
        return forward(plan);
    }
    if (blocks.size() != static_cast<std::size_t>(layout.groups)) {
        return fail(ErrorCode::kInvalidArgument,
                    "block counts for " + std::to_string(blocks.size()) +
                        " groups; the KV layout has " + std::to_string(layout.groups));
    }
    auto cache = std::make_unique<CpuKvCache>();
    cache->m_layout = layout;
    cache->m_plan = std::move(*plan);
    for (std::size_t group = 0; group < blocks.size(); ++group) {
        std::int64_t bytes = 0;
        if (blocks[group] < 0 || blocks[group] > INT32_MAX ||
            __builtin_mul_overflow(blocks[group], cache->m_plan.blockBytes[group], &bytes)) {
            return fail(
                ErrorCode::kInvalidArgument,
                std::to_string(blocks[group]) + " blocks for KV group " + std::to_string(group));
        }
        Result<SystemMemory> memory = SystemMemory::create(bytes, "the KV cache");
        if (!memory) {
            return forward(memory);
        }
        cache->m_blocks.push_back(blocks[group]);
        cache->m_memory.push_back(std::move(*memory));
    }
    return cache;
}

std::int64_t CpuKvCache::blocks(std::int32_t group) const {
    return m_blocks.at(static_cast<std::size_t>(group));
}

std::int64_t CpuKvCache::blockBytes(std::int32_t group) const {
    return m_plan.blockBytes.at(static_cast<std::size_t>(group));
}

std::byte* CpuKvCache::groupData(std::int32_t group) const {
    return m_memory[static_cast<std::size_t>(group)].data();
}

Status CpuKvCache::copyBlock(std::int32_t group, std::int32_t from, std::int32_t to) {
    if (group < 0 || group >= m_layout.groups) {
        return fail(ErrorCode::kInvalidArgument,
                    "KV group " + std::to_string(group) + " of " + std::to_string(m_layout.groups));
    }
    const std::int64_t count = blocks(group);
    if (from < 0 || from >= count || to < 0 || to >= count) {
        return fail(ErrorCode::kInvalidArgument,
                    "copy of KV block " + std::to_string(from) + " to " + std::to_string(to) +
                        "; group " + std::to_string(group) + " has " + std::to_string(count));
    }
    if (from != to) {
        const std::int64_t bytes = blockBytes(group);
        std::memcpy(groupData(group) + bytes * to, groupData(group) + bytes * from,
                    static_cast<std::size_t>(bytes));
    }
    return {};
}

}  // namespace cpu
}  // namespace quern::kernels
