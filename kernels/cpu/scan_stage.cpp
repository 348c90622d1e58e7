#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/cpu/step.h"

namespace quern::kernels::cpu {

namespace {

/// The part of a sequence's state that one unit owns, in the blocks of its group.
class UnitState {
public:
    UnitState(const ScanPart& part, const Worker& worker, std::int32_t sequence,
              std::int64_t offset, std::int64_t floats)
        : m_part(part),
          m_worker(worker),
          m_sequence(sequence),
          m_offset(offset),
          m_floats(floats) {}

    /// The state before token `first`, in the block where it is left after token `last`.
    [[nodiscard]] float* open(std::int64_t first, std::int64_t last) const {
        float* state = at(last / kBlockTokens);
        if (first == 0) {
            std::fill_n(state, m_floats, 0.0F);
        } else if (const float* before = at((first - 1) / kBlockTokens); before != state) {
            copy(before, state);
        }
        return state;
    }

    /// Leaves a snapshot behind a block's last token, where one is wanted.
    void passed(std::int64_t position, std::int64_t last, const float* state) const {
        const std::int64_t block = position / kBlockTokens;
        if ((position + 1) % kBlockTokens == 0 && position != last && isHeld(block)) {
            copy(state, at(block));
        }
    }

private:
    [[nodiscard]] bool isHeld(std::int64_t block) const {
        const BlockTables& table =
            m_worker.step.inputs->tables[static_cast<std::size_t>(m_part.state.group)];
        return table.blocks[static_cast<std::size_t>(m_sequence * table.stride + block)] >= 0;
    }
    [[nodiscard]] float* at(std::int64_t block) const {
        return reinterpret_cast<float*>(m_worker.block(m_part.state.group, m_sequence, block) +
                                        m_part.state.offsetBytes) +
               m_offset;
    }
    void copy(const float* from, float* to) const {
        std::memcpy(to, from, static_cast<std::size_t>(m_floats) * sizeof(float));
    }

    const ScanPart& m_part;
    const Worker& m_worker;
    std::int32_t m_sequence;
    std::int64_t m_offset;
    std::int64_t m_floats;
};

/// log(1 + e^x), which is x where e^x is all.
double softplus(double x) {
    constexpr double kLinear = 20.0;
    return x > kLinear ? x : std::log1p(std::exp(x));
}

/// Each computes one token of one unit.
void runConv(const ScanPart& part, const Worker& worker, std::int64_t row, std::int64_t unit,
             float* state) {
    const std::int64_t first = unit * kConvCols;
    ConvArgs args = part.conv;
    args.cols = std::min(kConvCols, part.conv.cols - first);
    args.weight += first;
    args.bias = args.bias == nullptr ? nullptr : args.bias + first;
    worker.step.image->kernels->conv(args, worker.at(part.in[0], row) + first, state,
                                     worker.at(part.out, row) + first);
}

void runSsd(const ScanPart& part, const Worker& worker, std::int64_t row, std::int64_t head,
            float* state) {
    const SsdScanOp& op = part.ssd;
    const float* x = worker.at(part.in[0], row);
    const float* b = x + op.heads * op.headDim + head / (op.heads / op.groups) * op.stateSize;
    const double dt =
        softplus(double{worker.at(part.in[1], row)[head]} + double{part.dtBias[head]});
    const double step = std::clamp(dt, double{op.stepMin}, double{op.stepMax});
    const SsdArgs args{.headDim = op.headDim,
                       .stateSize = op.stateSize,
                       .x = x + head * op.headDim,
                       .b = b,
                       .c = b + op.groups * op.stateSize,
                       .decay = static_cast<float>(std::exp(step * double{part.decay[head]})),
                       .step = static_cast<float>(step),
                       .skip = part.skip[head]};
    worker.step.image->kernels->ssd(args, state, worker.at(part.out, row) + head * op.headDim);
}

void runDelta(const ScanPart& part, const Worker& worker, std::int64_t row, std::int64_t head,
              float* state) {
    const DeltaRuleOp& op = part.delta;
    const std::int64_t keyHead = head / (op.valueHeads / op.keyHeads);
    const std::int64_t keys = op.keyHeads * op.keyDim;
    const float* qkv = worker.at(part.in[0], row);
    const double a = double{worker.at(part.in[1], row)[head]} + double{part.dtBias[head]};
    const double b = worker.at(part.in[2], row)[head];
    const DeltaArgs args{
        .keyDim = op.keyDim,
        .valueDim = op.valueDim,
        .query = qkv + keyHead * op.keyDim,
        .key = qkv + keys + keyHead * op.keyDim,
        .value = qkv + 2 * keys + head * op.valueDim,
        .decay = static_cast<float>(std::exp(double{part.decay[head]} * softplus(a))),
        .beta = static_cast<float>(1.0 / (1.0 + std::exp(-b))),
        .scale = op.scale,
        .eps = op.eps};
    worker.step.image->kernels->delta(args, state, worker.at(part.out, row) + head * op.valueDim);
}

using RunToken = void (*)(const ScanPart&, const Worker&, std::int64_t row, std::int64_t unit,
                          float* state);

RunToken tokenOf(OpKind kind) {
    switch (kind) {
        case OpKind::kSsdScan:
            return runSsd;
        case OpKind::kDeltaRule:
            return runDelta;
        default:
            return runConv;
    }
}

/// One unit through all tokens of a sequence, which come one after the other.
void runUnit(const ScanPart& part, const Worker& worker, std::int32_t sequence, std::int64_t unit) {
    const StepInputs& inputs = *worker.step.inputs;
    const SequenceSlice& slice = inputs.sequences[static_cast<std::size_t>(sequence)];
    const std::int64_t first = inputs.positions[static_cast<std::size_t>(slice.firstToken)];
    const std::int64_t last = first + slice.tokenCount - 1;
    const std::int64_t offset = unit * part.unitFloats;
    std::int64_t floats = part.unitFloats;
    if (part.kind == OpKind::kConv) {
        floats = (part.conv.rows - 1) * std::min(kConvCols, part.conv.cols - unit * kConvCols);
    }
    const UnitState place(part, worker, sequence, offset, floats);
    const RunToken runToken = tokenOf(part.kind);
    float* state = place.open(first, last);
    for (std::int32_t i = 0; i < slice.tokenCount; ++i) {
        runToken(part, worker, slice.firstToken + i, unit, state);
        place.passed(first + i, last, state);
    }
}

}  // namespace

void runScanStage(const Stage& stage, Worker& worker, std::atomic<std::int64_t>& nextItem) {
    const ScanPart& part = *stage.scan;
    if (!stage.prologue.empty()) {
        runRowStage(stage, worker);
        worker.step.pool->barrier();
    }
    const auto sequences = static_cast<std::int64_t>(worker.step.inputs->sequences.size());
    for (;;) {
        const std::int64_t item = nextItem.fetch_add(1, std::memory_order_relaxed);
        if (item >= sequences * part.units) {
            return;
        }
        runUnit(part, worker, static_cast<std::int32_t>(item / part.units), item % part.units);
    }
}

}  // namespace quern::kernels::cpu
