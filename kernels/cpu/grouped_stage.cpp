#include <algorithm>
#include <span>

#include "kernels/cpu/step.h"

namespace quern::kernels::cpu {

namespace {

/// Some slots of rows that one matrix multiplies, and the columns that are wanted.
struct Tile {
    const GroupedBundle& bundle;
    std::int64_t matrix;
    std::span<const std::int32_t> entries;
    std::int64_t begin;
    std::int64_t end;

    /// A single row is read and written where it lies; more are copied side by side.
    [[nodiscard]] bool isCopied() const { return entries.size() > 1; }
    [[nodiscard]] std::int64_t rows() const { return std::ssize(entries); }
};

/// A grouped stage on one worker. Slots of rows ("entries": row · slots + slot) are sorted by the
/// matrix that they take. Every worker sorts for itself, which is cheaper than another barrier.
class GroupedRunner {
public:
    GroupedRunner(const GroupedPart& part, const Worker& worker, const MatMulInputs& in,
                  std::int64_t rows)
        : m_part(part), m_worker(worker), m_in(in), m_rows(rows) {
        float* base = worker.scratch + worker.step.image->workerGroupedOffset;
        const GroupedScratch& scratch = part.scratch;
        m_starts = reinterpret_cast<std::int32_t*>(base + scratch.starts);
        m_entries = reinterpret_cast<std::int32_t*>(base + scratch.entries);
        m_q8 = reinterpret_cast<Q8Block*>(base + scratch.q8);
        m_floats = base + scratch.inputs;
        m_results = base + scratch.results;
    }

    void run(std::atomic<std::int64_t>& nextItem) {
        sortEntries();
        std::int64_t matrix = 0;
        std::int64_t before = 0;  // items of earlier matrices
        for (;;) {
            const std::int64_t item = nextItem.fetch_add(1, std::memory_order_relaxed);
            while (matrix < m_part.matrices && item >= before + itemsOf(matrix)) {
                before += itemsOf(matrix);
                ++matrix;
            }
            if (matrix == m_part.matrices) {
                return;
            }
            runItem(matrix, item - before);
        }
    }

private:
    std::int64_t matrixOf(std::int64_t row, std::int64_t slot) const {
        return m_part.routing.place == Operand::Place::kNone
                   ? slot
                   : static_cast<std::int64_t>(m_worker.at(m_part.routing, row)[slot]);
    }

    // A counting sort; rows ascend within a matrix.
    void sortEntries() {
        std::fill_n(m_starts, m_part.matrices + 1, 0);
        for (std::int64_t row = 0; row < m_rows; ++row) {
            for (std::int64_t slot = 0; slot < m_part.slots; ++slot) {
                ++m_starts[matrixOf(row, slot)];
            }
        }
        std::int32_t end = 0;
        for (std::int64_t matrix = 0; matrix <= m_part.matrices; ++matrix) {
            end += m_starts[matrix];
            m_starts[matrix] = end;
        }
        for (std::int64_t entry = m_rows * m_part.slots - 1; entry >= 0; --entry) {
            const std::int64_t matrix = matrixOf(entry / m_part.slots, entry % m_part.slots);
            m_entries[--m_starts[matrix]] = static_cast<std::int32_t>(entry);
        }
    }

    std::int64_t countOf(std::int64_t matrix) const {
        return m_starts[matrix + 1] - m_starts[matrix];
    }
    std::int64_t tilesOf(std::int64_t matrix) const {
        return (countOf(matrix) + kGroupedRows - 1) / kGroupedRows;
    }
    std::int64_t itemsOf(std::int64_t matrix) const { return tilesOf(matrix) * m_part.chunks; }

    // Tiles of the same columns follow each other, so that the weights stay in the cache.
    void runItem(std::int64_t matrix, std::int64_t item) {
        const std::int64_t tiles = tilesOf(matrix);
        const std::int64_t count = countOf(matrix);
        const std::int64_t first = count * (item % tiles) / tiles;
        const std::int64_t last = count * (item % tiles + 1) / tiles;
        std::int64_t chunk = item / tiles;
        for (const GroupedBundle& bundle : m_part.bundles) {
            if (chunk < bundle.chunks) {
                const std::int64_t begin = chunk * bundle.chunkOutputs;
                runTile({.bundle = bundle,
                         .matrix = matrix,
                         .entries = {m_entries + m_starts[matrix] + first,
                                     static_cast<std::size_t>(last - first)},
                         .begin = begin,
                         .end = std::min(begin + bundle.chunkOutputs, bundle.outputs)});
                return;
            }
            chunk -= bundle.chunks;
        }
    }

    void runTile(const Tile& tile) {
        const Q8Rows q8 = m_part.needsQ8 ? q8Rows(tile) : Q8Rows{};
        const float* floats = m_part.needsFloats ? floatRows(tile) : nullptr;
        for (const GroupedStep& step : tile.bundle.steps) {
            const PackedWeight& weight = *step.weights[static_cast<std::size_t>(tile.matrix)];
            // Kernels count columns from output 0. At least that many floats lie before m_results.
            float* out = tile.isCopied() ? m_results - tile.begin
                                         : destination(tile, step, tile.entries.front());
            const std::int64_t stride =
                tile.isCopied() ? tile.bundle.chunkOutputs : tile.bundle.outputs;
            if (weight.takesQ8()) {
                weight.multiply(q8, tile.begin, tile.end, out, stride);
            } else {
                weight.multiplyF32(floats, tile.rows(), m_part.inputs, tile.begin, tile.end, out,
                                   stride);
            }
            finish(tile, step);
        }
        for (const std::int32_t entry : tile.entries) {
            const std::int64_t first = entry % m_part.slots * tile.bundle.outputs;
            for (const RowOp& op : tile.bundle.epilogue) {
                runRowOp(op, m_worker, entry / m_part.slots, first + tile.begin, first + tile.end);
            }
        }
    }

    float* destination(const Tile& tile, const GroupedStep& step, std::int32_t entry) const {
        return m_worker.at(step.out, entry / m_part.slots) +
               entry % m_part.slots * tile.bundle.outputs;
    }

    /// Which of the input's pieces of `inputs` columns an entry reads.
    std::int64_t inputOf(std::int32_t entry) const {
        return m_part.isBySlot ? entry : entry / m_part.slots;
    }

    Q8Rows q8Rows(const Tile& tile) {
        const std::int64_t blocks = m_part.inputs / 32;
        const auto at = [&](std::int32_t entry) {
            return m_in.q8.blocks + inputOf(entry) * blocks;
        };
        Q8Rows rows{.rows = tile.rows(), .cols = m_part.inputs, .blocks = m_q8};
        if (!tile.isCopied()) {
            rows.blocks = at(tile.entries.front());
            return rows;
        }
        Q8Block* to = m_q8;
        for (const std::int32_t entry : tile.entries) {
            to = std::copy_n(at(entry), blocks, to);
        }
        return rows;
    }

    const float* floatRows(const Tile& tile) {
        const auto at = [&](std::int32_t entry) {
            return m_in.floats + inputOf(entry) * m_part.inputs;
        };
        if (!tile.isCopied()) {
            return at(tile.entries.front());
        }
        float* to = m_floats;
        for (const std::int32_t entry : tile.entries) {
            to = std::copy_n(at(entry), m_part.inputs, to);
        }
        return m_floats;
    }

    // Puts a tile's results where they belong and adds the bias.
    void finish(const Tile& tile, const GroupedStep& step) {
        if (!tile.isCopied() && step.bias == nullptr) {
            return;
        }
        const std::int64_t count = tile.end - tile.begin;
        const float* row = m_results;
        for (const std::int32_t entry : tile.entries) {
            float* to = destination(tile, step, entry) + tile.begin;
            const float* from = tile.isCopied() ? row : to;
            if (step.bias != nullptr) {
                const float* bias = step.bias + tile.matrix * tile.bundle.outputs + tile.begin;
                m_worker.step.image->kernels->add(from, bias, to, count);
            } else {
                std::copy_n(from, count, to);
            }
            row += tile.bundle.chunkOutputs;
        }
    }

    const GroupedPart& m_part;
    const Worker& m_worker;
    const MatMulInputs& m_in;
    std::int64_t m_rows;
    std::int32_t* m_starts = nullptr;   // [matrices + 1]
    std::int32_t* m_entries = nullptr;  // [rows · slots], by matrix
    Q8Block* m_q8 = nullptr;
    float* m_floats = nullptr;
    float* m_results = nullptr;
};

// A step with one row gives each thread some items; one with many rows gives pieces that stay in
// the second-level cache.
void cutColumns(GroupedPart& part, std::int32_t threads) {
    constexpr std::int64_t kChunksPerThread = 6;
    constexpr std::int64_t kMaxChunkOutputs = 128;
    std::int64_t outputs = 0;
    for (const GroupedBundle& bundle : part.bundles) {
        outputs += part.slots * bundle.outputs;
    }
    const std::int64_t wanted =
        std::clamp<std::int64_t>(outputs / (threads * kChunksPerThread), 1, kMaxChunkOutputs);
    for (GroupedBundle& bundle : part.bundles) {
        std::int64_t panel = 1;
        for (const GroupedStep& step : bundle.steps) {
            panel = std::max(panel, step.weights.front()->panelOutputs());
        }
        bundle.chunkOutputs = std::max<std::int64_t>(1, wanted / panel) * panel;
        bundle.chunks = (bundle.outputs + bundle.chunkOutputs - 1) / bundle.chunkOutputs;
        part.chunks += bundle.chunks;
    }
}

GroupedScratch layOut(const GroupedPart& part, std::int64_t maxRows) {
    GroupedScratch scratch;
    const auto take = [&](std::int64_t floats) {
        const std::int64_t at = scratch.floats;
        scratch.floats += (floats + 15) / 16 * 16;
        return at;
    };
    scratch.starts = take(part.matrices + 1);
    scratch.entries = take(maxRows * part.slots);
    const std::int64_t rows = std::min(kGroupedRows, maxRows);
    if (part.needsQ8) {
        scratch.q8 = take((Q8Rows::bytes(rows, part.inputs) + 3) / 4);
    }
    if (part.needsFloats) {
        scratch.inputs = take(rows * part.inputs);
    }
    std::int64_t outputs = 0;
    std::int64_t chunkOutputs = 0;
    for (const GroupedBundle& bundle : part.bundles) {
        outputs = std::max(outputs, bundle.outputs);
        chunkOutputs = std::max(chunkOutputs, bundle.chunkOutputs);
    }
    (void)take(std::max<std::int64_t>(0, outputs - scratch.floats));  // see runTile
    scratch.results = take(rows * chunkOutputs);
    return scratch;
}

}  // namespace

void cutGrouped(GroupedPart& part, std::int32_t threads, std::int64_t maxRows) {
    cutColumns(part, threads);
    part.scratch = layOut(part, maxRows);
}

void runGroupedStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem) {
    const GroupedPart& part = *stage.grouped;
    const std::int64_t rows = worker.rows(stage.rows);
    const MatMulInputs in =
        prepareInputs(stage, worker, part.in, part.needsQ8, part.isBySlot ? part.slots : 1);
    GroupedRunner(part, worker, in, rows).run(nextItem);
    worker.isRepeating = false;
}

}  // namespace quern::kernels::cpu
