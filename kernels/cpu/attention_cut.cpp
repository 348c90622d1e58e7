#include "kernels/cpu/attention_cut.h"

#include <algorithm>

namespace quern::kernels::cpu {

KeyRange keysOf(const StepContext& step, const AttentionPart& part, const AttentionTile& tile,
                std::int32_t token) {
    const std::int64_t position =
        step.inputs->positions[static_cast<std::size_t>(tile.firstToken + token)];
    const std::int64_t window = part.window;
    KeyRange range{.begin = window > 0 ? std::max<std::int64_t>(0, position - window + 1) : 0,
                   .end = position + 1};
    if (part.sight == Sight::kAll) {
        const SequenceSlice& slice =
            step.inputs->sequences[static_cast<std::size_t>(tile.sequence)];
        const std::int64_t last =
            step.inputs
                ->positions[static_cast<std::size_t>(slice.firstToken + slice.tokenCount - 1)];
        range.end = window > 0 ? std::min(last + 1, position + window) : last + 1;
    }
    return range;
}

KeySpans spansOf(const StepContext& step, const AttentionPart& part, const AttentionTile& tile) {
    const KeyRange first = keysOf(step, part, tile, 0);
    const KeyRange last = keysOf(step, part, tile, tile.tokens - 1);
    return {.first = first.begin / kSpanTokens, .last = (last.end - 1) / kSpanTokens + 1};
}

AttentionCut cutWork(const StepContext& step, const AttentionPart& part) {
    AttentionCut cut;
    cut.headsPerUnit =
        step.isDecode ? part.headsPerKv : std::min(part.headsPerKv, kTileRows / kTileTokens);
    cut.unitsPerKv = (part.headsPerKv + cut.headsPerUnit - 1) / cut.headsPerUnit;
    cut.unitsPerTile = part.kv.kvHeads * cut.unitsPerKv;
    cut.units = static_cast<std::int64_t>(step.tiles.size()) * cut.unitsPerTile;
    const std::int64_t threads = step.pool->threads();
    if (threads > 1 && cut.units < 4 * threads) {
        cut.isBySpan = std::any_of(step.tiles.begin(), step.tiles.end(), [&](const auto& tile) {
            return spansOf(step, part, tile).count() > 1;
        });
    }
    return cut;
}

std::int64_t unitFloats(const AttentionPart& part, const AttentionCut& cut,
                        const AttentionTile& tile) {
    return tile.tokens * cut.headsPerUnit * (2 + part.kv.paddedValueDim);
}

AttentionUnit unitAt(const AttentionPart& part, const AttentionCut& cut, const AttentionTile& tile,
                     std::int64_t inTile) {
    const std::int64_t kvHead = inTile / cut.unitsPerKv;
    const std::int64_t offset = inTile % cut.unitsPerKv * cut.headsPerUnit;
    return {.tile = &tile,
            .kvHead = kvHead,
            .firstHead = kvHead * part.headsPerKv + offset,
            .heads = std::min(cut.headsPerUnit, part.headsPerKv - offset)};
}

Status reservePartials(StepContext& step) {
    std::int64_t wanted = 0;
    for (const Stage& stage : step.image->stages) {
        if (!stage.attention) {
            continue;
        }
        const AttentionCut cut = cutWork(step, *stage.attention);
        if (!cut.isBySpan) {
            continue;
        }
        std::int64_t floats = 0;
        for (const AttentionTile& tile : step.tiles) {
            floats += spansOf(step, *stage.attention, tile).count() * cut.unitsPerTile *
                      unitFloats(*stage.attention, cut, tile);
        }
        wanted = std::max(wanted, floats);
    }
    const std::int64_t bytes = wanted * static_cast<std::int64_t>(sizeof(float));
    if (bytes <= step.partials.bytes()) {
        return {};
    }
    // Half as much again, so that a growing context doesn't come here at every span.
    auto memory = SystemMemory::create(bytes + bytes / 2, "attention over a long context");
    if (!memory) {
        return forward(memory);
    }
    step.partials = std::move(*memory);
    return {};
}

}  // namespace quern::kernels::cpu
