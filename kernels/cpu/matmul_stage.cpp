#include <algorithm>

#include "kernels/cpu/low_rank.h"
#include "kernels/cpu/step.h"

namespace quern::kernels::cpu {

namespace {

// Up to this many rows the weights' way from memory is all the work, the same for every panel, and
// each worker gets one range. Above, work items are handed out one by one.
constexpr std::int64_t kStaticRows = 8;
constexpr std::int64_t kMinRowTile = 32;

std::byte* bytesAt(float* floats) {
    return reinterpret_cast<std::byte*>(floats);
}

/// Rows [firstRow, lastRow) × outputs [begin, end) of a bundle and what follows them.
void runTile(const Bundle& bundle, Rows kind, const Worker& worker, const MatMulInputs& in,
             std::int64_t firstRow, std::int64_t lastRow, std::int64_t begin, std::int64_t end) {
    const std::int64_t rows = lastRow - firstRow;
    for (const MatMulStep& step : bundle.matMuls) {
        float* out = worker.at(step.out, firstRow);
        const std::int64_t stride = step.out.cols;
        if (step.weight->takesQ8()) {
            const Q8Rows part{.rows = rows,
                              .cols = in.q8.cols,
                              .blocks = in.q8.blocks + firstRow * (in.q8.cols / 32)};
            step.weight->multiply(part, begin, end, out, stride);
        } else {
            step.weight->multiplyF32(in.floats + firstRow * in.stride, rows, in.stride, begin, end,
                                     out, stride);
        }
        if (step.bias != nullptr) {
            for (std::int64_t row = 0; row < rows; ++row) {
                float* at = out + row * stride + begin;
                worker.step.image->kernels->add(at, step.bias + begin, at, end - begin);
            }
        }
        if (in.hasLowRank) {
            addLowRank(step, kind, worker, firstRow, lastRow, begin, end);
        }
    }
    for (std::int64_t row = firstRow; row < lastRow; ++row) {
        for (const RowOp& op : bundle.epilogue) {
            runRowOp(op, worker, row, begin, end);
        }
    }
}

/// One range of panels a worker, cut where the weights' bytes are shared out evenly.
void runStatic(const Stage& stage, const Worker& worker, const MatMulInputs& in,
               std::int64_t rows) {
    const MatMulPart& part = *stage.matMul;
    const std::int64_t from = part.cost * worker.index / worker.count();
    const std::int64_t to = part.cost * (worker.index + 1) / worker.count();
    std::int64_t before = 0;
    for (const Bundle& bundle : part.bundles) {
        const auto panelAt = [&](std::int64_t cost) {
            return std::clamp<std::int64_t>(
                (cost - before + bundle.panelCost / 2) / bundle.panelCost, 0, bundle.panels);
        };
        const std::int64_t begin = panelAt(from) * bundle.panel;
        const std::int64_t end = std::min(panelAt(to) * bundle.panel, bundle.outputs);
        if (begin < end) {
            runTile(bundle, stage.rows, worker, in, 0, rows, begin, end);
        }
        before += bundle.panels * bundle.panelCost;
    }
}

void runDynamic(const Stage& stage, const Worker& worker, const MatMulInputs& in, std::int64_t rows,
                std::atomic<std::int64_t>& nextItem) {
    const MatMulPart& part = *stage.matMul;
    // Few chunks of columns for many workers: cut the rows as well.
    const std::int64_t wantedTiles = (3 * worker.count() + part.chunks - 1) / part.chunks;
    const std::int64_t tiles =
        std::clamp<std::int64_t>(wantedTiles, 1, std::max<std::int64_t>(1, rows / kMinRowTile));
    const std::int64_t items = part.chunks * tiles;
    for (;;) {
        const std::int64_t item = nextItem.fetch_add(1, std::memory_order_relaxed);
        if (item >= items) {
            return;
        }
        std::int64_t chunk = item / tiles;
        const std::int64_t tile = item % tiles;
        for (const Bundle& bundle : part.bundles) {
            if (chunk < bundle.chunks) {
                const std::int64_t begin = chunk * bundle.chunkPanels * bundle.panel;
                const std::int64_t end =
                    std::min(begin + bundle.chunkPanels * bundle.panel, bundle.outputs);
                runTile(bundle, stage.rows, worker, in, rows * tile / tiles,
                        rows * (tile + 1) / tiles, begin, end);
                break;
            }
            chunk -= bundle.chunks;
        }
    }
}

bool isRepeated(const Stage& stage, std::int64_t rows) {
    return stage.mayRepeat && rows <= kRepeatRows;
}

bool hasPreparation(const Stage& stage) {
    return !stage.prologue.empty() || (stage.matMul && stage.matMul->needsQ8) ||
           (stage.grouped && stage.grouped->needsQ8);
}

}  // namespace

MatMulInputs prepareInputs(const Stage& stage, Worker& worker, const Operand& in, bool needsQ8,
                           std::int64_t pieces) {
    const ProgramImage& image = *worker.step.image;
    const std::int64_t rows = worker.rows(stage.rows);
    const std::int64_t cols = in.cols / pieces;
    worker.isRepeating = isRepeated(stage, rows);
    MatMulInputs inputs;
    if (needsQ8) {
        float* memory = worker.isRepeating ? worker.scratch + image.workerQ8Offset
                                           : worker.step.shared + image.q8Offset;
        inputs.q8 = Q8Rows::place(bytesAt(memory), rows * pieces, cols);
    }
    inputs.hasLowRank = hasLowRank(stage, worker.step);
    if (hasPreparation(stage) || inputs.hasLowRank) {
        const RowRange own =
            worker.isRepeating ? RowRange{.first = 0, .last = rows} : ownRows(worker, rows);
        for (std::int64_t row = own.first; row < own.last; ++row) {
            runPrologue(stage, worker, row);
            for (std::int64_t piece = 0; needsQ8 && piece < pieces; ++piece) {
                image.gemm->quantizeRow(worker.at(in, row) + piece * cols, inputs.q8,
                                        row * pieces + piece);
            }
            if (inputs.hasLowRank) {
                projectRow(stage, worker, worker.at(in, row), row);
            }
        }
        if (!worker.isRepeating || inputs.hasLowRank) {
            worker.step.pool->barrier();
        }
    }
    inputs.floats = worker.at(in, 0);
    inputs.stride = in.cols;
    return inputs;
}

void runMatMulStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem) {
    const MatMulPart& part = *stage.matMul;
    const std::int64_t rows = worker.rows(stage.rows);
    const MatMulInputs in = prepareInputs(stage, worker, part.in, part.needsQ8, 1);
    if (rows <= kStaticRows) {
        runStatic(stage, worker, in, rows);
    } else {
        runDynamic(stage, worker, in, rows, nextItem);
    }
    worker.isRepeating = false;
}

std::int64_t stageBarriers(const Stage& stage, std::int64_t rows, bool isDecode) {
    if (stage.matMul || stage.grouped) {
        return hasPreparation(stage) && !isRepeated(stage, rows) ? 2 : 1;
    }
    if (stage.attention) {
        return stage.prologue.empty() || (isDecode && stage.isByHead) ? 1 : 2;
    }
    if (stage.scan) {
        return stage.prologue.empty() ? 1 : 2;
    }
    return 1;
}

}  // namespace quern::kernels::cpu
