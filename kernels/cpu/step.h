#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/cpu/memory.h"
#include "kernels/cpu/stages.h"
#include "kernels/cpu/thread_pool.h"

namespace quern::kernels::cpu {

class CpuAdapter;

/// Some neighbouring tokens of one sequence that attend together.
struct AttentionTile {
    std::int32_t sequence = 0;
    std::int32_t firstToken = 0;
    std::int32_t tokens = 0;
};

/// What one step computes with, set up by the calling thread before the workers start. The workers
/// only read it, but for the counters and the scratch.
struct StepContext {
    const ProgramImage* image = nullptr;
    ThreadPool* pool = nullptr;
    const StepInputs* inputs = nullptr;
    std::vector<std::byte*> groupData;          // [groups]
    std::vector<std::int64_t> groupBlockBytes;  // [groups]
    float* shared = nullptr;
    float* workers = nullptr;
    float* output = nullptr;
    std::int64_t tokens = 0;
    std::int64_t outputs = 0;
    bool isDecode = false;                 // each sequence has one token
    std::vector<std::int32_t> sequenceOf;  // [tokens]
    std::vector<AttentionTile> tiles;
    /// Next work item of each stage.
    std::unique_ptr<std::atomic<std::int64_t>[]> nextItem;
    /// Spans done of each attention unit that is split by spans; zero between stages.
    std::unique_ptr<std::atomic<std::int64_t>[]> spansDone;
    SystemMemory partials;                    // (max, sum, acc) of those spans
    std::vector<const CpuAdapter*> adapters;  // that the step's sequences have, each once
    std::int64_t lowRankFloats = 0;           // for one matrix of a row
    SystemMemory lowRank;  // [rows, ProgramImage::mostMatMuls, lowRankFloats]: A · in, scaled
};

/// One thread's view of a step.
struct Worker {
    const StepContext& step;
    std::int32_t index = 0;
    float* scratch = nullptr;
    /// Each worker makes prologue values for itself; worker 0 makes them where later stages look.
    bool isRepeating = false;
    /// The prologue runs for one head of one token, all its values in the worker's scratch.
    bool isByHead = false;

    [[nodiscard]] float* at(const Operand& operand, std::int64_t row) const {
        if (operand.privateOffset >= 0) {
            if (isByHead) {
                return scratch + operand.privateOffset;
            }
            if (isRepeating && index != 0) {
                return scratch + operand.privateOffset + row * operand.cols;
            }
        }
        switch (operand.place) {
            case Operand::Place::kShared:
                return step.shared + operand.offset + row * operand.cols;
            case Operand::Place::kLocal:
                return scratch + operand.offset;
            case Operand::Place::kOutput:
                return step.output + row * operand.cols;
            case Operand::Place::kNone:
                break;
        }
        return nullptr;
    }
    [[nodiscard]] std::int32_t count() const { return step.pool->threads(); }
    [[nodiscard]] std::int64_t rows(Rows rows) const {
        return rows == Rows::kTokens ? step.tokens : step.outputs;
    }
    [[nodiscard]] std::byte* block(std::int32_t group, std::int32_t sequence,
                                   std::int64_t index16) const {
        const BlockTables& table = step.inputs->tables[static_cast<std::size_t>(group)];
        const std::int32_t id =
            table.blocks[static_cast<std::size_t>(sequence * table.stride + index16)];
        return step.groupData[static_cast<std::size_t>(group)] +
               id * step.groupBlockBytes[static_cast<std::size_t>(group)];
    }
};

/// The rows [first, last) that are this worker's when `rows` are shared out evenly.
struct RowRange {
    std::int64_t first = 0;
    std::int64_t last = 0;
};
[[nodiscard]] inline RowRange ownRows(const Worker& worker, std::int64_t rows) {
    return {.first = rows * worker.index / worker.count(),
            .last = rows * (worker.index + 1) / worker.count()};
}

/// Columns [begin, end) of one row of an op. Norms take whole groups, ropes whole heads, KvWrite
/// and the others that aren't element-wise the whole row.
void runRowOp(const RowOp& op, const Worker& worker, std::int64_t row, std::int64_t begin,
              std::int64_t end);
/// All ops of a prologue on a row.
void runPrologue(const Stage& stage, const Worker& worker, std::int64_t row);
/// The keys and values of heads [begin, end) of one token.
void writeKv(const RowOp& op, const Worker& worker, std::int64_t row, std::int64_t begin,
             std::int64_t end);
/// Cosines and sines of the tokens [first, last) for every rope table.
void fillRopeTables(const StepContext& step, std::int64_t first, std::int64_t last);

/// The input rows of a stage's matrices.
struct MatMulInputs {
    bool hasLowRank = false;  // adapters add to results
    Q8Rows q8;
    const float* floats = nullptr;
    std::int64_t stride = 0;
};
/// Runs the prologue, quantizes rows of `in`, each in `pieces` equal pieces, and computes what
/// adapters make of them; ends with a barrier unless each worker did it all for itself
/// (isRepeating, which the caller puts back).
[[nodiscard]] MatMulInputs prepareInputs(const Stage& stage, Worker& worker, const Operand& in,
                                         bool needsQ8, std::int64_t pieces);

/// Each runs one stage on every worker, ending without a barrier.
void runRowStage(const Stage& stage, Worker& worker);
void runMatMulStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem);
void runGroupedStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem);
void runAttentionStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem);
void runScanStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem);

/// Barriers that a stage takes with `rows` rows, the one at its end included.
[[nodiscard]] std::int64_t stageBarriers(const Stage& stage, std::int64_t rows, bool isDecode);

/// Makes room for the partial results of attention that is split by spans. Grows, never shrinks;
/// called before the workers start.
[[nodiscard]] Status reservePartials(StepContext& step);

}  // namespace quern::kernels::cpu
