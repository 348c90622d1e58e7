#include "engine/model/cache_groups.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace quern::engine {

namespace {

kernels::KvLayer kvLayerOf(const AttentionSpec& a, std::int32_t group) {
    return {.group = group,
            .kvHeads = a.kvHeads,
            .keyDim = a.keyDim,
            .valueDim = a.valueDim,
            .isValueInKey = a.latent.rank > 0};
}

CacheGroups shareLayers(const ModelSpec& spec, PassBuilder& pass) {
    CacheGroups cache{.groups = {{.window = 0}}, .kvLayers = {}};
    std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int32_t> known;
    for (const LayerSpec& layer : spec.layers) {
        const AttentionSpec& a = layer.attention;
        const auto [entry, isNew] = known.try_emplace({a.kvHeads, a.keyDim, a.valueDim}, 0);
        if (isNew) {
            entry->second = pass.addKvLayer(kvLayerOf(a, 0));
        }
        cache.kvLayers.push_back(entry->second);
    }
    return cache;
}

}  // namespace

bool keepsState(const LayerSpec& layer) {
    return !std::holds_alternative<std::monostate>(layer.state);
}

CacheGroups groupLayers(const ModelSpec& spec, PassBuilder& pass) {
    if (spec.isBidirectional) {
        return shareLayers(spec, pass);
    }
    CacheGroups cache;
    std::map<std::int64_t, std::int32_t> groupOfWindow;
    for (const LayerSpec& layer : spec.layers) {
        if (!keepsState(layer)) {
            groupOfWindow.emplace(layer.attention.window, 0);
        }
    }
    for (auto& [window, group] : groupOfWindow) {
        group = static_cast<std::int32_t>(cache.groups.size());
        cache.groups.push_back({.window = window});
    }
    cache.stateGroup = static_cast<std::int32_t>(cache.groups.size());
    if (std::ranges::any_of(spec.layers, keepsState)) {
        cache.groups.push_back({.isState = true});
    }
    for (const LayerSpec& layer : spec.layers) {
        const AttentionSpec& a = layer.attention;
        cache.kvLayers.push_back(keepsState(layer)
                                     ? kernels::kNone
                                     : pass.addKvLayer(kvLayerOf(a, groupOfWindow.at(a.window))));
    }
    return cache;
}

}  // namespace quern::engine
