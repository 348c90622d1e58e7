#include <algorithm>
#include <cstring>

#include "kernels/cpu/attention_cut.h"

namespace quern::kernels::cpu {

namespace {

constexpr std::int64_t kSpanBlocks = kSpanTokens / kBlockTokens;

/// Pieces of a worker's scratch, for items of at most `maxRows` rows.
struct Scratch {
    float* scores = nullptr;   // [maxRows, 256]
    float* convert = nullptr;  // [16 · max(keyDim, paddedValueDim)]
    float* max = nullptr;      // state [maxRows]
    float* sum = nullptr;
    float* acc = nullptr;      // [maxRows, paddedValueDim]
    float* spanMax = nullptr;  // the span at hand, likewise
    float* spanSum = nullptr;
    float* spanAcc = nullptr;
    std::int64_t floats = 0;
};

Scratch layOut(float* memory, const KvLayerLayout& kv, std::int64_t headsPerKv) {
    const std::int64_t maxRows = std::max(kTileRows, headsPerKv);
    Scratch s;
    const auto take = [&](std::int64_t floats) {
        float* at = memory == nullptr ? nullptr : memory + s.floats;
        s.floats += (floats + 15) / 16 * 16;
        return at;
    };
    s.scores = take(maxRows * kSpanTokens);
    s.convert = take(kBlockTokens * std::max(kv.keyDim, kv.paddedValueDim));
    s.max = take(maxRows);
    s.sum = take(maxRows);
    s.acc = take(maxRows * kv.paddedValueDim);
    s.spanMax = take(maxRows);
    s.spanSum = take(maxRows);
    s.spanAcc = take(maxRows * kv.paddedValueDim);
    return s;
}

/// Computes items of one attention stage on one worker.
class Attender {
public:
    Attender(const Stage& stage, Worker& worker)
        : m_stage(stage),
          m_part(*stage.attention),
          m_worker(worker),
          m_step(worker.step),
          m_kernels(*worker.step.image->kernels),
          m_scratch(layOut(worker.scratch + worker.step.image->workerAttentionOffset,
                           stage.attention->kv, stage.attention->headsPerKv)) {}

    void runUnit(const AttentionUnit& unit) {
        prepare(unit, true);
        const KeySpans spans = spansOf(m_step, m_part, *unit.tile);
        std::fill_n(m_scratch.sum, unit.rows(), 0.0F);
        for (std::int64_t span = spans.first; span < spans.last; ++span) {
            std::fill_n(m_scratch.spanSum, unit.rows(), 0.0F);
            attend(unit, span, m_scratch.spanMax, m_scratch.spanSum, m_scratch.spanAcc);
            merge(unit, m_scratch.spanMax, m_scratch.spanSum, m_scratch.spanAcc);
        }
        finish(unit);
    }

    /// `partials` is the unit's memory, one piece of `pieceFloats` a span.
    void runSpan(const AttentionUnit& unit, std::int64_t span, float* partials,
                 std::int64_t pieceFloats, std::atomic<std::int64_t>& done) {
        const KeySpans spans = spansOf(m_step, m_part, *unit.tile);
        prepare(unit, span + 1 == spans.last);
        float* piece = partials + (span - spans.first) * pieceFloats;
        std::fill_n(piece + unit.rows(), unit.rows(), 0.0F);
        attend(unit, span, piece, piece + unit.rows(), piece + 2 * unit.rows());
        // Whoever ends last has all the spans before it and merges them in order.
        if (done.fetch_add(1, std::memory_order_acq_rel) + 1 < spans.count()) {
            return;
        }
        done.store(0, std::memory_order_relaxed);
        std::fill_n(m_scratch.sum, unit.rows(), 0.0F);
        for (std::int64_t i = 0; i < spans.count(); ++i) {
            float* at = partials + i * pieceFloats;
            merge(unit, at, at + unit.rows(), at + 2 * unit.rows());
        }
        finish(unit);
    }

private:
    /// By head: turns and writes what belongs to this unit's KV head, for itself.
    void prepare(const AttentionUnit& unit, bool writesKv) {
        if (!m_worker.isByHead) {
            return;
        }
        const std::int64_t row = unit.tile->firstToken;
        for (const RowOp& op : m_stage.prologue) {
            if (op.kind == OpKind::kKvWrite) {
                if (writesKv) {
                    writeKv(op, m_worker, row, unit.kvHead, unit.kvHead + 1);
                }
                continue;
            }
            if (op.lane != Lane::kQuery && !writesKv) {
                continue;
            }
            const std::int64_t width = op.lane == Lane::kQuery
                                           ? m_part.headsPerKv * m_part.kv.keyDim
                                       : op.lane == Lane::kKey ? m_part.kv.keyDim
                                                               : m_part.kv.valueDim;
            runRowOp(op, m_worker, row, unit.kvHead * width, (unit.kvHead + 1) * width);
        }
    }

    void attend(const AttentionUnit& unit, std::int64_t span, float* max, float* sum, float* acc) {
        const AttentionTile& tile = *unit.tile;
        const KvLayerLayout& kv = m_part.kv;
        std::int32_t begin[kTileTokens];
        std::int32_t end[kTileTokens];
        std::int64_t firstKey = kSpanTokens;
        std::int64_t lastKey = 0;
        for (std::int32_t t = 0; t < tile.tokens; ++t) {
            const KeyRange seen = keysOf(m_step, m_part, tile, t);
            const auto inSpan = [&](std::int64_t key) {
                return std::clamp<std::int64_t>(key - span * kSpanTokens, 0, kSpanTokens);
            };
            const std::int64_t b = inSpan(seen.begin);
            const std::int64_t e = inSpan(seen.end);
            begin[t] = static_cast<std::int32_t>(b);
            end[t] = static_cast<std::int32_t>(e);
            if (b < e) {
                firstKey = std::min(firstKey, b);
                lastKey = std::max(lastKey, e);
            }
        }
        const std::byte* keys[kSpanBlocks] = {};
        const std::byte* values[kSpanBlocks] = {};
        for (std::int64_t i = firstKey / kBlockTokens; i * kBlockTokens < lastKey; ++i) {
            const std::byte* block =
                m_worker.block(kv.group, tile.sequence, span * kSpanBlocks + i) + kv.offsetBytes +
                unit.kvHead * kv.headBytes;
            keys[i] = block;
            values[i] = kv.isValueInKey ? block : block + kv.keyBytes;
        }
        const SpanArgs args{
            .tokens = tile.tokens,
            .heads = unit.heads,
            .query = m_worker.at(m_part.query, tile.firstToken) + unit.firstHead * kv.keyDim,
            .queryStride = m_part.query.cols,
            .isF16 = m_step.image->isKvF16,
            .keyDim = kv.keyDim,
            .valueDim = kv.valueDim,
            .paddedValueDim = kv.paddedValueDim,
            .isValueInKey = kv.isValueInKey,
            .keyBlocks = keys,
            .valueBlocks = values,
            .begin = begin,
            .end = end,
            .scale = m_part.scale,
            .softcap = m_part.softcap,
            .scores = m_scratch.scores,
            .convert = m_scratch.convert,
            .max = max,
            .sum = sum,
            .acc = acc,
        };
        m_kernels.attendSpan(args);
    }

    /// A sum of 0 stands for a row that saw nothing: any key adds e^0 at the maximum.
    void merge(const AttentionUnit& unit, const float* max, const float* sum, const float* acc) {
        const std::int64_t dim = m_part.kv.paddedValueDim;
        for (std::int64_t row = 0; row < unit.rows(); ++row) {
            if (sum[row] == 0.0F) {
                continue;
            }
            float* state = m_scratch.acc + row * dim;
            if (m_scratch.sum[row] == 0.0F) {
                m_scratch.max[row] = max[row];
                m_scratch.sum[row] = sum[row];
                std::memcpy(state, acc + row * dim, static_cast<std::size_t>(dim) * sizeof(float));
            } else {
                m_kernels.mergeSpan(max[row], sum[row], acc + row * dim, m_scratch.max + row,
                                    m_scratch.sum + row, state, dim);
            }
        }
    }

    void finish(const AttentionUnit& unit) {
        const std::int64_t dim = m_part.kv.paddedValueDim;
        for (std::int64_t row = 0; row < unit.rows(); ++row) {
            const std::int64_t token = unit.tile->firstToken + row / unit.heads;
            const std::int64_t head = unit.firstHead + row % unit.heads;
            float* state = m_scratch.acc + row * dim;
            if (m_part.sinks != nullptr) {
                m_kernels.mergeSink(m_part.sinks[head], m_scratch.max + row, m_scratch.sum + row,
                                    state, dim);
            }
            m_kernels.scale(state, 1.0F / m_scratch.sum[row],
                            m_worker.at(m_part.out, token) + head * m_part.kv.valueDim,
                            m_part.kv.valueDim);
        }
    }

    const Stage& m_stage;
    const AttentionPart& m_part;
    Worker& m_worker;
    const StepContext& m_step;
    const TierKernels& m_kernels;
    Scratch m_scratch;
};

void runUnits(const AttentionPart& part, const StepContext& step, const AttentionCut& cut,
              Attender& attender, std::atomic<std::int64_t>& nextItem) {
    for (;;) {
        const std::int64_t item = nextItem.fetch_add(1, std::memory_order_relaxed);
        if (item >= cut.units) {
            return;
        }
        // The last tiles of a prompt see the most keys: they go first, so that workers end
        // together.
        const std::int64_t unit = cut.units - 1 - item;
        const AttentionTile& tile = step.tiles[static_cast<std::size_t>(unit / cut.unitsPerTile)];
        attender.runUnit(unitAt(part, cut, tile, unit % cut.unitsPerTile));
    }
}

void runSpans(const AttentionPart& part, const StepContext& step, const AttentionCut& cut,
              Attender& attender, std::atomic<std::int64_t>& nextItem) {
    auto* memory = reinterpret_cast<float*>(step.partials.data());
    // Items only grow, so a worker walks the few tiles once.
    std::int64_t item = nextItem.fetch_add(1, std::memory_order_relaxed);
    std::int64_t itemsBefore = 0;
    std::int64_t unitsBefore = 0;
    for (const AttentionTile& tile : step.tiles) {
        const KeySpans spans = spansOf(step, part, tile);
        const std::int64_t pieceFloats = unitFloats(part, cut, tile);
        const std::int64_t items = spans.count() * cut.unitsPerTile;
        while (item < itemsBefore + items) {
            const std::int64_t inTile = (item - itemsBefore) / spans.count();
            const std::int64_t span = spans.first + (item - itemsBefore) % spans.count();
            attender.runSpan(unitAt(part, cut, tile, inTile), span,
                             memory + inTile * spans.count() * pieceFloats, pieceFloats,
                             step.spansDone[static_cast<std::size_t>(unitsBefore + inTile)]);
            item = nextItem.fetch_add(1, std::memory_order_relaxed);
        }
        itemsBefore += items;
        unitsBefore += cut.unitsPerTile;
        memory += items * pieceFloats;
    }
}

}  // namespace

std::int64_t attentionScratchFloats(const KvLayerLayout& kv, std::int64_t headsPerKv) {
    return layOut(nullptr, kv, headsPerKv).floats;
}

void runAttentionStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem) {
    const AttentionPart& part = *stage.attention;
    const StepContext& step = worker.step;
    if (stage.isByHead && step.isDecode) {
        worker.isByHead = true;
    } else if (!stage.prologue.empty()) {
        runRowStage(stage, worker);
        step.pool->barrier();
    }
    const AttentionCut cut = cutWork(step, part);
    Attender attender(stage, worker);
    if (cut.isBySpan) {
        runSpans(part, step, cut, attender, nextItem);
    } else {
        runUnits(part, step, cut, attender, nextItem);
    }
    worker.isByHead = false;
}

}  // namespace quern::kernels::cpu
