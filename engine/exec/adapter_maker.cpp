#include "engine/exec/adapter_maker.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/file_mapping.h"
#include "engine/formats/gguf_metadata.h"
#include "engine/formats/tensor_table.h"

namespace quern::engine {

namespace {

/// Matrices of a program by canonical name. A table that is also the head is "output.weight" here:
/// what an adapter adds to is the head.
struct Targets {
    std::map<std::string, kernels::WeightId> matrices;
    std::set<std::string> expertStems;  // "blk.0.ffn_up_exps"
};

Targets targetsOf(const kernels::OpList& ops) {
    Targets targets;
    const auto nameOf = [&](kernels::WeightId id) {
        return ops.weights[static_cast<std::size_t>(id)].name;
    };
    for (const kernels::Op& op : ops.ops) {
        if (const auto* matMul = std::get_if<kernels::MatMulOp>(&op.op)) {
            const std::string name = nameOf(matMul->weight);
            targets.matrices.emplace(name == "token_embd.weight" ? "output.weight" : name,
                                     matMul->weight);
        } else if (const auto* grouped = std::get_if<kernels::GroupedMatMulOp>(&op.op)) {
            const std::string name = nameOf(grouped->weights.front());
            targets.expertStems.insert(name.substr(0, name.rfind('.', name.rfind('.') - 1)));
        }
    }
    return targets;
}

tl::unexpected<Error> refuse(const AdapterMatrix& matrix, ErrorCode code, const std::string& why) {
    return fail(code, "the adapter adds to " + quotedName(matrix.name) + why);
}

// Everything of an error of shapes: what was given, what the model has, and for whom it was made.
tl::unexpected<Error> wrongShape(const AdapterMatrix& matrix, const kernels::Weight& weight,
                                 const AdapterInfo& info) {
    const std::int64_t rank = matrix.a.shape.rows();
    const std::string base = info.base.empty() ? "" : "; it was made for " + quotedName(info.base);
    return refuse(matrix, ErrorCode::kInvalidArgument,
                  " with A of shape " + shapeText(matrix.a.shape) + " and B of shape " +
                      shapeText(matrix.b.shape) + "; the model's matrix of [" +
                      std::to_string(weight.rows) + ", " + std::to_string(weight.cols) +
                      "] takes [" + std::to_string(rank) + ", " + std::to_string(weight.cols) +
                      "] and [" + std::to_string(weight.rows) + ", " + std::to_string(rank) + "]" +
                      base);
}

Result<std::vector<kernels::LowRank>> fit(const AdapterSource& source, const kernels::OpList& ops) {
    const Targets targets = targetsOf(ops);
    std::vector<kernels::LowRank> parts;
    for (const AdapterMatrix& matrix : source.matrices) {
        const auto target = targets.matrices.find(matrix.weight);
        if (target == targets.matrices.end()) {
            const std::string stem = matrix.weight.substr(0, matrix.weight.rfind(".weight"));
            const bool isOfExperts = targets.expertStems.contains(stem) ||
                                     targets.expertStems.contains(stem.substr(0, stem.rfind('.')));
            if (isOfExperts) {
                return refuse(matrix, ErrorCode::kUnsupported,
                              ": adapters of experts are not supported");
            }
            return refuse(matrix, ErrorCode::kInvalidArgument,
                          ", which is no matrix of the model that an adapter can add to");
        }
        const kernels::Weight& weight = ops.weights[static_cast<std::size_t>(target->second)];
        if (matrix.a.shape.cols() != weight.cols || matrix.b.shape.rows() != weight.rows) {
            return wrongShape(matrix, weight, source.info);
        }
        parts.push_back(
            {.weight = target->second, .a = matrix.a, .b = matrix.b, .scale = matrix.scale});
    }
    return parts;
}

}  // namespace

Result<MadeAdapter> AdapterMaker::make(const std::filesystem::path& path) const {
    const CutWatch watch;
    auto source = openAdapter(path, *m_layout);
    if (!source) {
        return forward(source);
    }
    auto parts = fit(*source, m_program->ops());
    if (!parts) {
        return forward(parts);
    }
    auto adapter = m_backend.makeAdapter(*m_program, *parts);
    if (!adapter) {
        return forward(adapter);
    }
    if (Status status = watch.check(path); !status) {
        return forward(status);
    }
    return MadeAdapter{.info = std::move(source->info), .adapter = std::move(*adapter)};
}

}  // namespace quern::engine
