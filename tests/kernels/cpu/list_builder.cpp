#include "tests/kernels/cpu/list_builder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "kernels/quant.h"
#include "tests/kernels/gemm_cases.h"

namespace quern::kernels::test {

namespace {

std::size_t index(std::int32_t id) {
    return static_cast<std::size_t>(id);
}

}  // namespace

std::vector<TensorView> TestList::views() const {
    std::vector<TensorView> views = borrowed;
    for (std::size_t i = 0; i < data.size(); ++i) {
        views.push_back(
            {.type = ops.weights[i].type,
             .shape = {.dims = {ops.weights[i].rows, ops.weights[i].cols, 1, 1}, .rank = 2},
             .data = data[i].data()});
    }
    return views;
}

float ListBuilder::uniform(float least, float most) {
    return std::uniform_real_distribution<float>(least, most)(m_random);
}

WeightId ListBuilder::weight(const std::string& name, std::int64_t rows, std::int64_t cols,
                             DType type, float range) {
    if (range == 0.0F) {
        range = 1.7F / std::sqrt(static_cast<float>(cols));
    }
    const auto count = static_cast<std::size_t>(rows * cols);
    std::vector<float> values(count);
    for (float& x : values) {
        x = uniform(-range, range);
    }
    if (type == DType::kF32) {
        const WeightId id = weightOf(name, values);
        m_list.ops.weights[index(id)].rows = rows;
        m_list.ops.weights[index(id)].cols = cols;
        return id;
    }
    // Random blocks of the type, scaled by what its format allows.
    std::vector<std::byte> bytes = randomWeight(type, rows, cols, m_random);
    EXPECT_TRUE(dequantize(type, bytes, values).has_value());
    m_list.ops.weights.push_back({.name = name, .type = type, .rows = rows, .cols = cols});
    m_list.data.push_back(std::move(bytes));
    m_list.dequantized.push_back(std::move(values));
    return static_cast<WeightId>(m_list.data.size() - 1);
}

WeightId ListBuilder::weightOf(const std::string& name, std::vector<float> values) {
    std::vector<std::byte> bytes(values.size() * sizeof(float));
    std::memcpy(bytes.data(), values.data(), bytes.size());
    m_list.ops.weights.push_back({.name = name,
                                  .type = DType::kF32,
                                  .rows = 1,
                                  .cols = static_cast<std::int64_t>(values.size())});
    m_list.data.push_back(std::move(bytes));
    m_list.dequantized.push_back(std::move(values));
    return static_cast<WeightId>(m_list.data.size() - 1);
}

ValueId ListBuilder::value(const std::string& name, std::int64_t cols, Rows rows) {
    m_list.ops.values.push_back({.name = name, .rows = rows, .cols = cols});
    return static_cast<ValueId>(m_list.ops.values.size() - 1);
}

void ListBuilder::op(const std::string& name, OpVariant variant) {
    m_list.ops.ops.push_back({.name = name, .op = variant});
}

std::int64_t ListBuilder::cols(ValueId id) const {
    return m_list.ops.values[index(id)].cols;
}

Rows ListBuilder::rows(ValueId id) const {
    return m_list.ops.values[index(id)].rows;
}

ValueId ListBuilder::embed(std::int64_t vocab, std::int64_t cols) {
    const WeightId table = weight("table", vocab, cols, DType::kF32, 1.0F);
    const ValueId out = value("embed", cols);
    op("embed", EmbedOp{.table = table, .out = out});
    return out;
}

ValueId ListBuilder::matMul(const std::string& name, ValueId in, std::int64_t outputs, DType type,
                            bool hasBias) {
    const WeightId w = weight(name + ".weight", outputs, cols(in), type);
    const WeightId bias =
        hasBias ? weight(name + ".bias", 1, outputs, DType::kF32, 0.3F) : WeightId{kNone};
    const ValueId out = value(name, outputs, rows(in));
    op(name, MatMulOp{.in = in, .weight = w, .bias = bias, .out = out});
    return out;
}

ValueId ListBuilder::grouped(const std::string& name, ValueId in, ValueId routing,
                             std::int64_t matrices, std::int64_t inputs, std::int64_t outputs,
                             DType type, bool hasBias) {
    GroupedMatMulOp grouped{.in = in, .routing = routing};
    for (std::int64_t i = 0; i < matrices; ++i) {
        grouped.weights.push_back(
            weight(name + ".weight." + std::to_string(i), outputs, inputs, type));
    }
    grouped.bias =
        hasBias ? weight(name + ".bias", matrices, outputs, DType::kF32, 0.3F) : WeightId{kNone};
    const std::int64_t slots = routing == kNone ? matrices : cols(routing) / 2;
    grouped.out = value(name, slots * outputs, rows(in));
    const ValueId out = grouped.out;
    op(name, std::move(grouped));
    return out;
}

ValueId ListBuilder::experts(const std::string& name, ValueId in, std::int64_t count, RouteOp route,
                             std::int64_t inner, DType type, bool hasBias) {
    const std::int64_t hidden = cols(in);
    route.logits = matMul(name + ".router", in, count);
    route.out = value(name + ".route", 2 * route.used, rows(in));
    op(name + ".route", route);
    const ValueId gate =
        grouped(name + ".gate", in, route.out, count, hidden, inner, type, hasBias);
    const ValueId up = grouped(name + ".up", in, route.out, count, hidden, inner, type, hasBias);
    const ValueId glu = value(name + ".glu", cols(up), rows(in));
    op(name + ".glu", GluOp{.gate = gate, .up = up, .out = glu});
    const ValueId down =
        grouped(name + ".down", glu, route.out, count, inner, hidden, type, hasBias);
    const ValueId out = value(name + ".sum", hidden, rows(in));
    op(name + ".sum", SumSlotsOp{.in = down, .routing = route.out, .out = out});
    return out;
}

ValueId ListBuilder::norm(const std::string& name, ValueId in, std::int64_t groupCols) {
    const WeightId w =
        weight(name + ".weight", 1, groupCols == 0 ? cols(in) : groupCols, DType::kF32, 1.0F);
    const ValueId out = value(name, cols(in), rows(in));
    op(name, NormOp{.in = in,
                    .out = out,
                    .weight = w,
                    .eps = 1e-5F,
                    .weightOffset = 1.0F,
                    .groupCols = groupCols});
    return out;
}

ValueId ListBuilder::gather(const std::string& name, ValueId in) {
    const ValueId out = value(name, cols(in), Rows::kOutputs);
    op(name, GatherOutputsOp{.in = in, .out = out});
    return out;
}

namespace {

/// Experts beside a block that all rows take, which is gated.
ValueId addExperts(ListBuilder& b, const ModelShape& s, const std::string& at, ValueId in,
                   ValueId shared) {
    const ValueId gate = b.matMul(at + "shared.gate", in, 1);
    const ValueId gated = b.value(at + "shared", s.hidden, b.rows(in));
    b.op(at + "shared", GateRowsOp{.in = shared, .gate = gate, .out = gated});
    const RouteOp route{.used = s.expertsUsed, .normalizes = true};
    const ValueId routed =
        b.experts(at + "experts", in, s.experts, route, s.inner, s.type, s.hasBias);
    const ValueId sum = b.value(at + "experts.add", s.hidden, b.rows(in));
    b.op(at + "experts.add", AddOp{.a = routed, .b = gated, .out = sum});
    return sum;
}

}  // namespace

TestList makeModel(const ModelShape& s, std::uint32_t seed) {
    ListBuilder b(seed);
    b.list().kv.type = s.kvType;
    b.list().kv.groups = s.window > 0 ? 2 : 1;
    const WeightId table = b.weight("table", s.vocab, s.hidden, s.tableType, 1.0F);
    ValueId x = b.value("embed", s.hidden);
    b.op("embed", EmbedOp{.table = table, .out = x, .scale = 1.5F});
    std::vector<float> freqs;
    for (std::int64_t i = 0; i < s.keyDim / 2; ++i) {
        freqs.push_back(std::pow(100.0F, -static_cast<float>(i) / static_cast<float>(s.keyDim)));
    }
    const WeightId rope = b.weightOf("freqs", freqs);
    for (std::int64_t l = 0; l < s.layers; ++l) {
        const std::string at = "layer " + std::to_string(l) + " / ";
        const bool isWindow = s.window > 0 && l % 2 == 1;
        b.list().kv.layers.push_back({.group = isWindow ? 1 : 0,
                                      .kvHeads = s.kvHeads,
                                      .keyDim = s.keyDim,
                                      .valueDim = s.valueDim});
        const auto kvLayer = static_cast<std::int32_t>(l);
        const ValueId normed = b.norm(at + "attn.norm", x);
        ValueId q = b.matMul(at + "q", normed, s.heads * s.keyDim, s.type, s.hasBias);
        ValueId k = b.matMul(at + "k", normed, s.kvHeads * s.keyDim, s.type, s.hasBias);
        const ValueId v = b.matMul(at + "v", normed, s.kvHeads * s.valueDim, s.type, s.hasBias);
        if (s.hasQkNorm) {
            const std::int64_t group = s.isQkNormWholeRow ? 0 : s.keyDim;
            q = b.norm(at + "q.norm", q, group);
            k = b.norm(at + "k.norm", k, group);
        }
        for (const ValueId turned : {q, k}) {
            b.op(at + "rope", RopeOp{.inOut = turned,
                                     .headDim = s.keyDim,
                                     .freqs = rope,
                                     .layout = s.layout,
                                     .magnitude = 1.1F});
        }
        b.op(at + "write", KvWriteOp{.key = k, .value = v, .kvLayer = kvLayer});
        const WeightId sinks =
            s.hasSinks ? b.weight(at + "sinks", 1, s.heads, DType::kF32, 1.0F) : WeightId{kNone};
        ValueId mixed = b.value(at + "mix", s.heads * s.valueDim);
        b.op(at + "mix", AttentionOp{.query = q,
                                     .out = mixed,
                                     .kvLayer = kvLayer,
                                     .heads = s.heads,
                                     .scale = 1.0F / std::sqrt(static_cast<float>(s.keyDim)),
                                     .window = isWindow ? s.window : 0,
                                     .softcap = s.softcap,
                                     .sinks = sinks});
        ValueId mlpIn = normed;
        if (l + 1 == s.layers) {
            mixed = b.gather(at + "mix.gather", mixed);
            x = b.gather(at + "gather", x);
            mlpIn = s.isParallel ? b.gather(at + "norm.gather", normed) : mlpIn;
        }
        ValueId o = b.matMul(at + "o", mixed, s.hidden, s.type);
        if (s.hasPostNorm) {
            o = b.norm(at + "o.norm", o);
        }
        const ValueId residual = b.value(at + "residual", s.hidden, b.rows(x));
        b.op(at + "residual", AddOp{.a = x, .b = o, .out = residual});
        if (!s.isParallel) {
            mlpIn = b.norm(at + "mlp.norm", residual);
        }
        const std::int64_t width = s.experts > 0 ? s.inner / 3 : s.inner;
        const ValueId up = b.matMul(at + "up", mlpIn, width, s.type);
        const ValueId inner = b.value(at + "inner", width, b.rows(up));
        if (s.isGated) {
            const ValueId gate = b.matMul(at + "gate", mlpIn, width, s.type);
            b.op(at + "glu", GluOp{.gate = gate, .up = up, .out = inner, .kind = s.activation});
        } else {
            b.op(at + "act", ActivationOp{.in = up, .out = inner, .kind = s.activation});
        }
        ValueId down = b.matMul(at + "down", inner, s.hidden, s.type);
        if (s.experts > 0) {
            down = addExperts(b, s, at, mlpIn, down);
        }
        if (s.hasPostNorm) {
            down = b.norm(at + "down.norm", down);
        }
        x = b.value(at + "out", s.hidden, b.rows(down));
        b.op(at + "add", AddOp{.a = residual, .b = down, .out = x});
    }
    x = b.norm("output.norm", x);
    ValueId logits = kNone;
    if (s.isTied) {
        logits = b.value("output", s.vocab, Rows::kOutputs);
        b.op("output", MatMulOp{.in = x, .weight = table, .out = logits});
    } else {
        logits = b.matMul("output", x, s.vocab, s.type);
    }
    if (s.logitSoftcap > 0.0F) {
        b.op("output.softcap", SoftcapOp{.in = logits, .out = logits, .cap = s.logitSoftcap});
    }
    b.list().ops.output = logits;
    return std::move(b.list());
}

}  // namespace quern::kernels::test
