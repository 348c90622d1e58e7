#include "kernels/cpu/adapter.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace quern::kernels::cpu {

namespace {

std::string sizes(std::int64_t rows, std::int64_t cols) {
    return "[" + std::to_string(rows) + ", " + std::to_string(cols) + "]";
}

std::string shapeText(const TensorView& view) {
    return view.shape.rank == 2 ? sizes(view.shape.dims[0], view.shape.dims[1])
                                : std::to_string(view.shape.rank) + " dimensions";
}

tl::unexpected<Error> wrong(const Weight& weight, const std::string& what) {
    return fail(ErrorCode::kInvalidArgument, "adapter of weight '" + weight.name + "': " + what);
}

bool isMultiplied(const OpList& ops, WeightId weight) {
    return std::any_of(ops.ops.begin(), ops.ops.end(), [&](const Op& op) {
        const auto* matMul = std::get_if<MatMulOp>(&op.op);
        return matMul != nullptr && matMul->weight == weight;
    });
}

}  // namespace

Result<std::unique_ptr<CpuAdapter>> CpuAdapter::create(std::uint64_t programId, const OpList& ops,
                                                       std::span<const LowRank> parts,
                                                       const GemmKernels& gemm) {
    auto adapter = std::make_unique<CpuAdapter>();
    adapter->m_programId = programId;
    adapter->m_indices.assign(ops.weights.size(), -1);
    for (const LowRank& part : parts) {
        if (part.weight < 0 || static_cast<std::size_t>(part.weight) >= ops.weights.size()) {
            return fail(ErrorCode::kInvalidArgument,
                        "adapter of weight " + std::to_string(part.weight) + "; the program has " +
                            std::to_string(ops.weights.size()));
        }
        if (auto status = adapter->add(ops, part, gemm); !status) {
            return forward(status);
        }
    }
    return adapter;
}

Status CpuAdapter::add(const OpList& ops, const LowRank& part, const GemmKernels& gemm) {
    const Weight& weight = ops.weights[static_cast<std::size_t>(part.weight)];
    std::int32_t& index = m_indices[static_cast<std::size_t>(part.weight)];
    if (index >= 0) {
        return wrong(weight, "it is there twice");
    }
    if (!isMultiplied(ops, part.weight)) {
        return fail(ErrorCode::kUnsupported,
                    "an adapter can add to matrices only, not to weight '" + weight.name + "'");
    }
    const std::int64_t rank = part.a.shape.dims[0];
    if (part.a.shape.rank != 2 || rank < 1 || part.a.shape.dims[1] != weight.cols) {
        return wrong(weight, "A has " + shapeText(part.a) + " where [rank, " +
                                 std::to_string(weight.cols) + "] is expected");
    }
    if (part.b.shape.rank != 2 || part.b.shape.dims[0] != weight.rows ||
        part.b.shape.dims[1] != rank) {
        return wrong(weight, "B has " + shapeText(part.b) + " where " + sizes(weight.rows, rank) +
                                 " is expected");
    }
    if (!std::isfinite(part.scale)) {
        return wrong(weight, "its scale is not finite");
    }
    LowRankPart made{.a = {}, .b = {}, .scale = part.scale};
    for (auto [from, to] : {std::pair(&part.a, &made.a), std::pair(&part.b, &made.b)}) {
        auto packed = gemm.pack(*from, ActivationType::kF32, m_memory, {});
        if (!packed) {
            return wrong(weight, packed.error().message);
        }
        *to = std::move(*packed);
    }
    m_mostRank = std::max(m_mostRank, rank);
    index = static_cast<std::int32_t>(m_parts.size());
    m_parts.push_back(std::move(made));
    return {};
}

}  // namespace quern::kernels::cpu
