#include "engine/formats/state_tensors.h"

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/formats/gguf_metadata.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

using kernels::TensorView;

std::string prefixOf(std::size_t layer) {
    return "blk." + std::to_string(layer) + ".";
}

void rename(TensorTable& table, const std::string& from, const std::string& to) {
    if (const auto view = table.find(from); view && !table.has(to)) {
        table.set(to, *view);
        table.remove(from);
    }
}

/// Runs of rows that make one tensor.
struct Part {
    std::string_view stem;
    std::vector<RowRun> runs;
};

/// Replaces a tensor by parts of its rows: views where a part is one run, else copies.
Status splitInto(TensorTable& table, const std::string& prefix, std::string_view stem,
                 const std::vector<Part>& parts) {
    std::int64_t rows = 0;
    for (const Part& part : parts) {
        for (const RowRun& run : part.runs) {
            rows += run.count;
        }
    }
    for (const std::string_view suffix : {".weight", ".bias"}) {
        const std::string name = prefix + std::string(stem) + std::string(suffix);
        const auto fused = table.find(name);
        if (!fused) {
            continue;
        }
        if (fused->shape.rank < 1 || fused->shape.rank > 2 || fused->shape.dims[0] != rows) {
            return fail(ErrorCode::kCorrupt, "tensor " + quotedName(name) + " has shape " +
                                                 shapeText(fused->shape) + "; " +
                                                 std::to_string(rows) + " rows were expected");
        }
        table.remove(name);
        for (const Part& part : parts) {
            const RowRun first = part.runs.front();
            table.set(prefix + std::string(part.stem) + std::string(suffix),
                      part.runs.size() == 1 ? rowSlice(*fused, first.first, first.count)
                                            : gatherRows(table, *fused, part.runs));
        }
    }
    return {};
}

/// A Hugging Face folder keeps the logarithm of A's size.
Status decayFromLog(TensorTable& table, const std::string& prefix, std::int64_t heads) {
    const std::string name = prefix + "ssm_a_log.weight";
    const auto log = table.find(name);
    if (!log) {
        return {};
    }
    if (log->shape.elements() != heads) {
        return fail(ErrorCode::kCorrupt, "tensor " + quotedName(name) + " has shape " +
                                             shapeText(log->shape) + "; " + std::to_string(heads) +
                                             " elements were expected");
    }
    std::vector<float> values(static_cast<std::size_t>(heads));
    auto bytes = kernels::rowBytes(log->type, heads);
    if (!bytes) {
        return forward(bytes);
    }
    const std::span raw(log->data, static_cast<std::size_t>(*bytes));
    if (auto status = kernels::dequantize(log->type, raw, values); !status) {
        return status;
    }
    const std::span<std::byte> memory = table.allocate(values.size() * sizeof(float));
    auto* decay = reinterpret_cast<float*>(memory.data());
    for (std::size_t i = 0; i < values.size(); ++i) {
        decay[i] = -std::exp(values[i]);
    }
    table.remove(name);
    table.set(prefix + "ssm_a.weight", {.type = kernels::DType::kF32,
                                        .shape = {.dims = {heads, 1, 1, 1}, .rank = 1},
                                        .data = memory.data()});
    return {};
}

Status arrange(const ShortConvSpec& /*as wide as a row*/, std::int64_t hidden,
               const std::string& prefix, TensorTable& table) {
    return splitInto(table, prefix, "shortconv_in",
                     {{"shortconv_b", {{0, hidden}}},
                      {"shortconv_c", {{hidden, hidden}}},
                      {"shortconv_x", {{2 * hidden, hidden}}}});
}

Status arrange(const Mamba2Spec& spec, std::int64_t /*hidden*/, const std::string& prefix,
               TensorTable& table) {
    const std::int64_t inner = innerOf(spec);
    const std::int64_t conv = convCols(spec);
    if (auto status = splitInto(table, prefix, "ssm_in",
                                {{"ssm_z", {{0, inner}}},
                                 {"ssm_xbc", {{inner, conv}}},
                                 {"ssm_dt_in", {{inner + conv, spec.heads}}}});
        !status) {
        return status;
    }
    return decayFromLog(table, prefix, spec.heads);
}

/// Each key head's rows lie together: its query, its key, the values of its value heads, and the
/// gates z of those.
Status arrange(const DeltaNetSpec& spec, std::int64_t /*hidden*/, const std::string& prefix,
               TensorTable& table) {
    const std::int64_t shared = spec.valueHeads / spec.keyHeads;
    const std::int64_t values = shared * spec.valueDim;
    const std::int64_t stride = 2 * spec.keyDim + 2 * values;
    Part qkv{.stem = "ssm_qkv", .runs = {}};
    Part z{.stem = "ssm_z", .runs = {}};
    Part beta{.stem = "ssm_beta", .runs = {}};
    Part alpha{.stem = "ssm_alpha", .runs = {}};
    const auto add = [&](Part& part, std::int64_t offset, std::int64_t count) {
        for (std::int64_t head = 0; head < spec.keyHeads; ++head) {
            part.runs.push_back({head * stride + offset, count});
        }
    };
    add(qkv, 0, spec.keyDim);
    add(qkv, spec.keyDim, spec.keyDim);
    add(qkv, 2 * spec.keyDim, values);
    add(z, 2 * spec.keyDim + values, values);
    for (std::int64_t head = 0; head < spec.keyHeads; ++head) {
        beta.runs.push_back({2 * head * shared, shared});
        alpha.runs.push_back({(2 * head + 1) * shared, shared});
    }
    if (auto status = splitInto(table, prefix, "ssm_in", {qkv, z}); !status) {
        return status;
    }
    if (auto status = splitInto(table, prefix, "ssm_ba", {beta, alpha}); !status) {
        return status;
    }
    return decayFromLog(table, prefix, spec.valueHeads);
}

Status arrange(std::monostate /*none*/, std::int64_t /*hidden*/, const std::string& /*prefix*/,
               TensorTable& /*table*/) {
    return {};
}

/// Rows of each head: its query, then the gate on its result.
Status splitOutputGate(const Hyperparameters& parameters, std::size_t layer, TensorTable& table) {
    Part query{.stem = "attn_q", .runs = {}};
    Part gate{.stem = "attn_gate", .runs = {}};
    for (std::int64_t head = 0; head < parameters.heads[layer]; ++head) {
        query.runs.push_back({2 * head * parameters.keyDim, parameters.keyDim});
        gate.runs.push_back({(2 * head + 1) * parameters.keyDim, parameters.keyDim});
    }
    return splitInto(table, prefixOf(layer), "attn_q", {query, gate});
}

}  // namespace

void renameGgufState(const Architecture& architecture, const Hyperparameters& parameters,
                     TensorTable& table) {
    if (architecture.state == StateKind::kShortConv) {
        rename(table, "token_embd_norm.weight", "output_norm.weight");
    }
    for (std::size_t layer = 0; layer < parameters.keepsState.size(); ++layer) {
        if (!parameters.keepsState[layer]) {
            continue;
        }
        const std::string prefix = prefixOf(layer);
        for (const auto& [from, to] :
             {std::pair{"shortconv.in_proj", "shortconv_in"},
              std::pair{"shortconv.conv", "shortconv_conv"},
              std::pair{"shortconv.out_proj", "shortconv_out"}, std::pair{"attn_qkv", "ssm_qkv"},
              std::pair{"attn_gate", "ssm_z"}}) {
            rename(table, prefix + from + ".weight", prefix + to + ".weight");
            rename(table, prefix + from + ".bias", prefix + to + ".bias");
        }
        rename(table, prefix + "ssm_a", prefix + "ssm_a.weight");
        rename(table, prefix + "ssm_d", prefix + "ssm_d.weight");
        rename(table, prefix + "ssm_dt.bias", prefix + "ssm_dt_bias.weight");
    }
}

Status arrangeState(const Architecture& architecture, const Hyperparameters& parameters,
                    TensorTable& table) {
    for (std::size_t layer = 0; layer < parameters.keepsState.size(); ++layer) {
        Status status;
        if (parameters.keepsState[layer]) {
            status = std::visit(
                [&](const auto& spec) {
                    return arrange(spec, parameters.hiddenSize, prefixOf(layer), table);
                },
                parameters.state);
        } else if (architecture.hasOutputGate) {
            status = splitOutputGate(parameters, layer, table);
        }
        if (!status) {
            return status;
        }
    }
    return {};
}

}  // namespace quern::engine
