#include "kernels/cpu/low_rank.h"

#include <algorithm>
#include <array>
#include <utility>

#include "kernels/cpu/adapter.h"
#include "kernels/cpu/memory.h"

namespace quern::kernels::cpu {

namespace {

// Rows of A that one worker computes at once, where they are shared out: whole panels.
constexpr std::int64_t kSharedRows = 8;
// A piece of a tile that B adds to at once.
constexpr std::int64_t kPieceRows = 8;
constexpr std::int64_t kPieceCols = 128;

const CpuAdapter* adapterOf(const StepContext& step, Rows rows, std::int64_t row) {
    const std::int64_t token =
        rows == Rows::kTokens ? row : step.inputs->outputRows[static_cast<std::size_t>(row)];
    const std::int32_t sequence = step.sequenceOf[static_cast<std::size_t>(token)];
    return static_cast<const CpuAdapter*>(
        step.inputs->adapters[static_cast<std::size_t>(sequence)]);
}

std::int64_t rowFloats(const StepContext& step) {
    return step.image->mostMatMuls * step.lowRankFloats;
}

float* projected(const StepContext& step, std::int64_t row, std::int32_t slot) {
    return reinterpret_cast<float*>(step.lowRank.data()) + row * rowFloats(step) +
           slot * step.lowRankFloats;
}

}  // namespace

Status prepareAdapters(StepContext& step) {
    step.adapters.clear();
    std::int64_t rank = 0;
    for (const Adapter* adapter : step.inputs->adapters) {
        const auto* own = static_cast<const CpuAdapter*>(adapter);
        if (own != nullptr && std::ranges::find(step.adapters, own) == step.adapters.end()) {
            step.adapters.push_back(own);
            rank = std::max(rank, own->mostRank());
        }
    }
    step.lowRankFloats = (rank + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
    const std::int64_t bytes = std::max(step.tokens, step.outputs) * rowFloats(step) *
                               static_cast<std::int64_t>(sizeof(float));
    if (bytes <= step.lowRank.bytes()) {
        return {};
    }
    auto memory = SystemMemory::create(bytes, "what adapters add to a step's rows");
    if (!memory) {
        return forward(memory);
    }
    step.lowRank = std::move(*memory);
    return {};
}

bool hasLowRank(const Stage& stage, const StepContext& step) {
    return stage.matMul && std::ranges::any_of(step.adapters, [&](const CpuAdapter* adapter) {
               return std::ranges::any_of(stage.matMul->bundles, [&](const Bundle& bundle) {
                   return std::ranges::any_of(bundle.matMuls, [&](const MatMulStep& matrix) {
                       return adapter->of(matrix.id) != nullptr;
                   });
               });
           });
}

void projectRow(const Stage& stage, const Worker& worker, const float* in, std::int64_t row) {
    const CpuAdapter* adapter = adapterOf(worker.step, stage.rows, row);
    if (adapter == nullptr) {
        return;
    }
    std::int64_t share = 0;
    for (const Bundle& bundle : stage.matMul->bundles) {
        for (const MatMulStep& matrix : bundle.matMuls) {
            const LowRankPart* part = adapter->of(matrix.id);
            if (part == nullptr) {
                continue;
            }
            const std::int64_t rank = part->a->outputs();
            const std::int64_t inputs = part->a->inputs();
            const std::int64_t count = worker.isRepeating ? kSharedRows : rank;
            float* out = projected(worker.step, row, matrix.slot);
            for (std::int64_t begin = 0; begin < rank; begin += count) {
                const std::int64_t end = std::min(begin + count, rank);
                if (worker.isRepeating && share++ % worker.count() != worker.index) {
                    continue;
                }
                part->a->multiplyF32(in, 1, inputs, begin, end, out, rank);
                worker.step.image->kernels->scale(out + begin, part->scale, out + begin,
                                                  end - begin);
            }
        }
    }
}

void addLowRank(const MatMulStep& matrix, Rows rows, const Worker& worker, std::int64_t firstRow,
                std::int64_t lastRow, std::int64_t begin, std::int64_t end) {
    alignas(64) std::array<float, kPieceRows * kPieceCols> piece;
    const std::int64_t stride = matrix.out.cols;
    std::int64_t last = firstRow;
    for (std::int64_t row = firstRow; row < lastRow; row = last) {
        const CpuAdapter* adapter = adapterOf(worker.step, rows, row);
        last = row + 1;
        while (last < lastRow && last - row < kPieceRows &&
               adapterOf(worker.step, rows, last) == adapter) {
            ++last;
        }
        const LowRankPart* part = adapter == nullptr ? nullptr : adapter->of(matrix.id);
        if (part == nullptr) {
            continue;
        }
        float* out = worker.at(matrix.out, row);
        const float* in = projected(worker.step, row, matrix.slot);
        for (std::int64_t col = begin; col < end; col += kPieceCols) {
            const std::int64_t to = std::min(col + kPieceCols, end);
            for (std::int64_t r = 0; r < last - row; ++r) {
                std::copy(out + r * stride + col, out + r * stride + to,
                          piece.data() + r * kPieceCols);
            }
            part->b->multiplyF32(in, last - row, rowFloats(worker.step), col, to, out, stride);
            for (std::int64_t r = 0; r < last - row; ++r) {
                float* at = out + r * stride + col;
                worker.step.image->kernels->add(piece.data() + r * kPieceCols, at, at, to - col);
            }
        }
    }
}

}  // namespace quern::kernels::cpu
