#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

#include "kernels/cpu/step.h"
#include "kernels/quant.h"

namespace quern::kernels::cpu {

namespace {

std::int64_t entryOf(const RowOp& op, const StepInputs& inputs, std::size_t token) {
    switch (op.index) {
        case EmbedIndex::kToken:
            return inputs.tokens[token];
        case EmbedIndex::kPosition:
            return inputs.positions[token] + op.positionOffset;
        case EmbedIndex::kTokenType:
            return inputs.tokenTypes.empty() ? 0 : inputs.tokenTypes[token];
    }
    return 0;
}

void runEmbed(const RowOp& op, const Worker& worker, std::int64_t row) {
    const EmbedTable& table = op.table;
    const StepInputs& inputs = *worker.step.inputs;
    const std::int64_t entry = entryOf(op, inputs, static_cast<std::size_t>(row));
    float* out = worker.at(op.out, row);
    if (table.packed != nullptr) {
        table.packed->unpackRow(entry, out);
    } else {
        // The type has a reader and the size fits: the table was checked when it was taken over.
        (void)dequantize(table.type,
                         std::span(table.data + entry * table.rowBytes,
                                   static_cast<std::size_t>(table.rowBytes)),
                         std::span(out, static_cast<std::size_t>(table.cols)));
    }
    if (op.factor != 1.0F) {
        worker.step.image->kernels->scale(out, op.factor, out, table.cols);
    }
}

void runNorm(const RowOp& op, const Worker& worker, std::int64_t row, std::int64_t begin,
             std::int64_t end) {
    NormArgs args = op.norm;
    args.groups = (end - begin) / args.groupCols;
    args.weight += args.weightStep > 0 ? begin : 0;
    args.bias += args.biasStep > 0 ? begin : 0;
    worker.step.image->kernels->norm(args, worker.at(op.in[0], row) + begin,
                                     worker.at(op.out, row) + begin);
}

void runRope(const RowOp& op, const Worker& worker, std::int64_t row, std::int64_t begin,
             std::int64_t end) {
    const RopeTable& table = worker.step.image->ropes[static_cast<std::size_t>(op.ropeTable)];
    RopeArgs args = op.rope;
    args.heads = (end - begin) / args.headDim;
    args.cos = worker.step.shared + table.cosOffset + row * table.half;
    args.sin = worker.step.shared + table.sinOffset + row * table.half;
    worker.step.image->kernels->rope(args, worker.at(op.in[0], row) + begin,
                                     worker.at(op.out, row) + begin);
}

void runSumSlots(const RowOp& op, const Worker& worker, std::int64_t row) {
    const TierKernels& kernels = *worker.step.image->kernels;
    const std::int64_t slots = op.in[1].cols / 2;
    const float* in = worker.at(op.in[0], row);
    const float* shares = worker.at(op.in[1], row) + slots;
    float* out = worker.at(op.out, row);
    kernels.scale(in, shares[0], out, op.out.cols);
    for (std::int64_t slot = 1; slot < slots; ++slot) {
        kernels.addScaled(in + slot * op.out.cols, shares[slot], out, op.out.cols);
    }
}

void runJoinHeads(const RowOp& op, const Worker& worker, std::int64_t row) {
    float* out = worker.at(op.out, row);
    for (std::int64_t head = 0; head < op.heads; ++head) {
        for (std::size_t i = 0; i < op.columns.size(); ++i) {
            const HeadColumns& part = op.columns[i];
            if (part.count > 0) {
                const float* in =
                    worker.at(op.in[i], row) + head * (op.in[i].cols / op.heads) + part.first;
                out = std::copy_n(in, part.count, out);
            }
        }
    }
}

void runGateRows(const RowOp& op, const Worker& worker, std::int64_t row) {
    const TierKernels& kernels = *worker.step.image->kernels;
    float gate = 0.0F;
    kernels.sigmoid(worker.at(op.in[1], row), &gate, 1);
    kernels.scale(worker.at(op.in[0], row), gate, worker.at(op.out, row), op.out.cols);
}

// The mean adds token by token, so that it depends on the sequence alone.
void runPool(const RowOp& op, const Worker& worker, std::int64_t row) {
    const StepInputs& inputs = *worker.step.inputs;
    const auto token = static_cast<std::size_t>(inputs.outputRows[static_cast<std::size_t>(row)]);
    const SequenceSlice& slice =
        inputs.sequences[static_cast<std::size_t>(worker.step.sequenceOf[token])];
    float* out = worker.at(op.out, row);
    std::memcpy(out, worker.at(op.in[0], slice.firstToken),
                static_cast<std::size_t>(op.out.cols) * sizeof(float));
    if (op.pool == PoolKind::kFirst) {
        return;
    }
    const TierKernels& kernels = *worker.step.image->kernels;
    for (std::int32_t t = 1; t < slice.tokenCount; ++t) {
        kernels.add(out, worker.at(op.in[0], slice.firstToken + t), out, op.out.cols);
    }
    kernels.scale(out, 1.0F / static_cast<float>(slice.tokenCount), out, op.out.cols);
}

}  // namespace

void runRowOp(const RowOp& op, const Worker& worker, std::int64_t row, std::int64_t begin,
              std::int64_t end) {
    const TierKernels& kernels = *worker.step.image->kernels;
    const std::int64_t count = end - begin;
    switch (op.kind) {
        case OpKind::kEmbed:
            return runEmbed(op, worker, row);
        case OpKind::kNorm:
            return runNorm(op, worker, row, begin, end);
        case OpKind::kRope:
            return runRope(op, worker, row, begin, end);
        case OpKind::kKvWrite:
            return writeKv(op, worker, row, 0, op.kv.kvHeads);
        case OpKind::kAdd:
            return kernels.add(worker.at(op.in[0], row) + begin, worker.at(op.in[1], row) + begin,
                               worker.at(op.out, row) + begin, count);
        case OpKind::kScale:
            return kernels.scale(worker.at(op.in[0], row) + begin, op.factor,
                                 worker.at(op.out, row) + begin, count);
        case OpKind::kActivation:
            return kernels.activate(op.activation, worker.at(op.in[0], row) + begin,
                                    worker.at(op.out, row) + begin, count);
        case OpKind::kGlu:
            return kernels.glu(op.activation, worker.at(op.in[0], row) + begin,
                               worker.at(op.in[1], row) + begin, worker.at(op.out, row) + begin,
                               count);
        case OpKind::kSoftcap:
            return kernels.softcap(worker.at(op.in[0], row) + begin, op.factor,
                                   worker.at(op.out, row) + begin, count);
        case OpKind::kGather: {
            const std::int64_t from = worker.step.inputs->outputRows[static_cast<std::size_t>(row)];
            std::memcpy(worker.at(op.out, row), worker.at(op.in[0], from),
                        static_cast<std::size_t>(op.out.cols) * sizeof(float));
            return;
        }
        case OpKind::kClampedGlu:
            return kernels.clampedGlu(op.alpha, op.factor, worker.at(op.in[0], row) + begin,
                                      worker.at(op.in[1], row) + begin,
                                      worker.at(op.out, row) + begin, count);
        case OpKind::kRoute:
            return route(op.route, kernels, worker.at(op.in[0], row),
                         worker.scratch + op.scratchOffset, worker.at(op.out, row));
        case OpKind::kSumSlots:
            return runSumSlots(op, worker, row);
        case OpKind::kJoinHeads:
            return runJoinHeads(op, worker, row);
        case OpKind::kGateRows:
            return runGateRows(op, worker, row);
        case OpKind::kPool:
            return runPool(op, worker, row);
        case OpKind::kMatMul:
        case OpKind::kGroupedMatMul:
        case OpKind::kAttention:
        case OpKind::kConv:
        case OpKind::kSsdScan:
        case OpKind::kDeltaRule:
            return;  // never part of a prologue
    }
}

void runPrologue(const Stage& stage, const Worker& worker, std::int64_t row) {
    for (const RowOp& op : stage.prologue) {
        if (op.kind == OpKind::kKvWrite && worker.isRepeating && worker.index != 0) {
            continue;  // the cache is shared: one writes
        }
        runRowOp(op, worker, row, 0, op.out.cols);
    }
}

void writeKv(const RowOp& op, const Worker& worker, std::int64_t row, std::int64_t begin,
             std::int64_t end) {
    const std::int64_t position = worker.step.inputs->positions[static_cast<std::size_t>(row)];
    const KvLayerLayout& kv = op.kv;
    std::byte* block = worker.block(kv.group, worker.step.sequenceOf[static_cast<std::size_t>(row)],
                                    position / kBlockTokens) +
                       kv.offsetBytes;
    KvWriteArgs args{.isF16 = worker.step.image->isKvF16,
                     .keyDim = kv.keyDim,
                     .valueDim = kv.isValueInKey ? 0 : kv.valueDim,
                     .paddedValueDim = kv.paddedValueDim,
                     .slot = static_cast<std::int32_t>(position % kBlockTokens)};
    for (std::int64_t head = begin; head < end; ++head) {
        args.keyBlock = block + head * kv.headBytes;
        args.valueBlock = args.keyBlock + kv.keyBytes;
        worker.step.image->kernels->kvWrite(args, worker.at(op.in[0], row) + head * kv.keyDim,
                                            worker.at(op.in[1], row) + head * kv.valueDim);
    }
}

void fillRopeTables(const StepContext& step, std::int64_t first, std::int64_t last) {
    for (const RopeTable& table : step.image->ropes) {
        for (std::int64_t row = first; row < last; ++row) {
            const auto position =
                static_cast<float>(step.inputs->positions[static_cast<std::size_t>(row)]);
            float* cos = step.shared + table.cosOffset + row * table.half;
            float* sin = step.shared + table.sinOffset + row * table.half;
            for (std::int64_t i = 0; i < table.half; ++i) {
                // The product is rounded to float32 as in the reference implementations: at far
                // positions its rounding is larger than all other errors.
                const double angle = static_cast<double>(position * table.freqs[i]);
                const double magnitude = static_cast<double>(table.magnitude);
                cos[i] = static_cast<float>(std::cos(angle) * magnitude);
                sin[i] = static_cast<float>(std::sin(angle) * magnitude);
            }
        }
    }
}

void runRowStage(const Stage& stage, Worker& worker) {
    const RowRange own = ownRows(worker, worker.rows(stage.rows));
    for (std::int64_t row = own.first; row < own.last; ++row) {
        runPrologue(stage, worker, row);
    }
}

}  // namespace quern::kernels::cpu
