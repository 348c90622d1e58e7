#pragma once

#include <cstdint>
#include <vector>

#include "engine/model/pass_builder.h"

namespace quern::engine {

[[nodiscard]] bool keepsState(const LayerSpec& layer);

/// Where a model's layers keep what they keep.
struct CacheGroups {
    std::vector<KvGroupSpec> groups;
    std::vector<std::int32_t> kvLayers;  // [layers]; kNone where a state is kept
    std::int32_t stateGroup = 0;
};

/// Adds the KV layers to the pass. Layers with the same window share block tables; those that see
/// everything come first, all that keep a state last. Where tokens see each other in both
/// directions nothing of a layer's keys outlives it: layers of one shape write over each other's.
[[nodiscard]] CacheGroups groupLayers(const ModelSpec& spec, PassBuilder& pass);

}  // namespace quern::engine
