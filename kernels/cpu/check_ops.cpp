#include "kernels/cpu/check_ops.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <vector>

#include "kernels/cpu/op_checker.h"
#include "kernels/quant.h"

namespace quern::kernels::cpu {

namespace {

constexpr std::int64_t kMaxConvRows = 64;

/// Walks the ops in order.
class Checker : public OpChecker {
public:
    Checker(const OpList& ops, const KvLayout& kv)
        : OpChecker(ops),
          m_ops(ops),
          m_kv(kv),
          m_isKvWritten(kv.layers.size(), false),
          m_isStateKept(kv.states.size(), false) {}

    Status run() {
        for (const Value& value : m_ops.values) {
            if (value.cols < 1 || value.cols > kMaxCols) {
                wrong("value '" + value.name + "' has " + std::to_string(value.cols) +
                      " columns; it needs 1 to " + std::to_string(kMaxCols));
            }
        }
        for (const Op& op : m_ops.ops) {
            if (error()) {
                break;
            }
            setOp(&op);
            std::visit([this](const auto& o) { check(o); }, op.op);
        }
        setOp(nullptr);
        if (isValue(m_ops.output, "output")) {
            const Value& output = value(m_ops.output);
            if (output.rows != Rows::kOutputs) {
                wrong("the output '" + output.name + "' has rows T; it must have rows R");
            } else if (!isWritten(m_ops.output)) {
                wrong("the output '" + output.name + "' is never written");
            }
        }
        if (error()) {
            return tl::unexpected<Error>(*error());
        }
        return {};
    }

private:
    template <class Other>
    void check(const Other& op) {
        checkOp(*this, op);
    }
    void check(const EmbedOp& op) {
        if (isWeight(op.table, "table") && writes(op.out)) {
            hasTokens(op.out);
            hasCols(op.out, weight(op.table).cols, "the table is " + weightShape(op.table));
            isFinite(op.scale, "scale");
            const bool isByPosition = op.index == EmbedIndex::kPosition;
            require(
                isByPosition ? op.offset >= 0 && op.offset < weight(op.table).rows : op.offset == 0,
                "offset " + std::to_string(op.offset) + " into the table " + weightShape(op.table));
        }
    }
    void check(const NormOp& op) {
        if (!reads(op.in, "in") || !writes(op.out, op.in)) {
            return;
        }
        sameShape(op.in, op.out);
        const std::int64_t cols = value(op.in).cols;
        require(
            op.groupCols >= 0 && (op.groupCols == 0 || cols % op.groupCols == 0),
            "groups of " + std::to_string(op.groupCols) + " columns do not divide " + shape(op.in));
        const std::int64_t group = op.groupCols == 0 ? cols : op.groupCols;
        if (op.weight != kNone) {
            isVector(op.weight, "weight", group, cols);
        }
        if (op.bias != kNone) {
            isVector(op.bias, "bias", group, cols);
        }
        isFinite(op.eps, "eps");
        isFinite(op.weightOffset, "weightOffset");
    }
    void check(const MatMulOp& op) {
        if (!reads(op.in, "in") || !isWeight(op.weight, "weight") || !writes(op.out)) {
            return;
        }
        const Weight& w = weight(op.weight);
        require(value(op.in).rows == value(op.out).rows && w.cols == value(op.in).cols &&
                    w.rows == value(op.out).cols,
                "in " + shape(op.in) + " · weight " + weightShape(op.weight) +
                    "ᵀ does not give out " + shape(op.out));
        if (op.bias != kNone) {
            isVector(op.bias, "bias", w.rows, w.rows);
        }
    }
    void check(const RopeOp& op) {
        if (!reads(op.inOut, "inOut") || !isWeight(op.freqs, "freqs")) {
            return;
        }
        hasTokens(op.inOut);
        require(
            op.headDim >= 1 && value(op.inOut).cols % op.headDim == 0,
            "heads of " + std::to_string(op.headDim) + " columns do not divide " + shape(op.inOut));
        const std::int64_t count = weight(op.freqs).rows * weight(op.freqs).cols;
        require(count >= 1 && 2 * count <= op.headDim,
                std::to_string(count) + " frequencies turn " + std::to_string(2 * count) +
                    " columns; a head has " + std::to_string(op.headDim));
        isFinite(op.magnitude, "magnitude");
    }
    const KvLayer* kvLayer(std::int32_t id) {
        const bool isGood = id >= 0 && index(id) < m_kv.layers.size();
        require(isGood, "KV layer " + std::to_string(id) + " of " +
                            std::to_string(static_cast<std::int64_t>(m_kv.layers.size())));
        return isGood ? &m_kv.layers[index(id)] : nullptr;
    }
    void check(const KvWriteOp& op) {
        const KvLayer* layer = kvLayer(op.kvLayer);
        if (layer != nullptr && reads(op.key, "key") && reads(op.value, "value")) {
            hasTokens(op.key);
            hasTokens(op.value);
            hasCols(op.key, layer->kvHeads * layer->keyDim,
                    std::to_string(layer->kvHeads) + " heads of " + std::to_string(layer->keyDim));
            hasCols(
                op.value, layer->kvHeads * layer->valueDim,
                std::to_string(layer->kvHeads) + " heads of " + std::to_string(layer->valueDim));
            m_isKvWritten[index(op.kvLayer)] = true;
        }
    }
    void check(const AttentionOp& op) {
        const KvLayer* layer = kvLayer(op.kvLayer);
        if (layer == nullptr || !reads(op.query, "query") || !writes(op.out)) {
            return;
        }
        require(m_isKvWritten[index(op.kvLayer)],
                "KV layer " + std::to_string(op.kvLayer) + " is read before an op writes it");
        hasTokens(op.query);
        hasTokens(op.out);
        require(op.heads >= 1 && op.heads <= kMaxCols && op.heads % layer->kvHeads == 0,
                std::to_string(op.heads) + " heads cannot share " + std::to_string(layer->kvHeads) +
                    " KV heads evenly");
        hasCols(op.query, op.heads * layer->keyDim,
                std::to_string(op.heads) + " heads of " + std::to_string(layer->keyDim));
        hasCols(op.out, op.heads * layer->valueDim,
                std::to_string(op.heads) + " heads of " + std::to_string(layer->valueDim));
        require(op.window >= 0, "window is " + std::to_string(op.window));
        isFinite(op.scale, "scale");
        require(std::isfinite(op.softcap) && op.softcap >= 0.0F,
                "softcap must be a finite number of at least 0");
        if (op.sinks != kNone) {
            isVector(op.sinks, "sinks", op.heads, op.heads);
        }
    }
    void keepsState(std::int32_t id, std::int64_t floats) {
        const bool isGood = id >= 0 && index(id) < m_kv.states.size();
        require(isGood, "state " + std::to_string(id) + " of " +
                            std::to_string(static_cast<std::int64_t>(m_kv.states.size())));
        if (isGood) {
            require(m_kv.states[index(id)].floats == floats,
                    "state " + std::to_string(id) + " has " +
                        std::to_string(m_kv.states[index(id)].floats) + " floats; the op keeps " +
                        std::to_string(floats));
            require(!m_isStateKept[index(id)], "state " + std::to_string(id) + " is another op's");
            m_isStateKept[index(id)] = true;
        }
    }
    /// Sizes whose products are still numbers.
    void areSizes(std::initializer_list<std::int64_t> sizes) {
        for (const std::int64_t size : sizes) {
            constexpr std::int64_t kMost = 1 << 16;
            require(size >= 1 && size <= kMost, "a size is " + std::to_string(size) +
                                                    "; it must be 1 to " + std::to_string(kMost));
        }
    }
    void check(const ConvOp& op) {
        if (!reads(op.in, "in") || !isWeight(op.weight, "weight") || !writes(op.out)) {
            return;
        }
        const std::int64_t cols = value(op.in).cols;
        hasTokens(op.in);
        sameShape(op.in, op.out);
        const Weight& w = weight(op.weight);
        require(w.rows >= 2 && w.rows <= kMaxConvRows && w.cols == cols,
                "weight " + weightShape(op.weight) + " must be [2…" + std::to_string(kMaxConvRows) +
                    ", " + std::to_string(cols) + "]");
        if (op.bias != kNone) {
            isVector(op.bias, "bias", cols, cols);
        }
        if (!error()) {
            keepsState(op.stateLayer, (w.rows - 1) * cols);
        }
    }
    void check(const SsdScanOp& op) {
        areSizes({op.heads, op.headDim, op.stateSize, op.groups});
        if (error() || !reads(op.xbc, "xbc") || !reads(op.dt, "dt") || !writes(op.out)) {
            return;
        }
        require(op.heads % op.groups == 0, std::to_string(op.heads) + " heads cannot share " +
                                               std::to_string(op.groups) + " groups evenly");
        hasTokens(op.xbc);
        hasTokens(op.dt);
        hasTokens(op.out);
        const std::int64_t inner = op.heads * op.headDim;
        hasCols(op.xbc, inner + 2 * op.groups * op.stateSize, "x, B and C");
        hasCols(op.dt, op.heads, "one a head");
        hasCols(op.out, inner,
                std::to_string(op.heads) + " heads of " + std::to_string(op.headDim));
        isVector(op.a, "a", op.heads, op.heads);
        isVector(op.d, "d", op.heads, op.heads);
        isVector(op.dtBias, "dtBias", op.heads, op.heads);
        require(op.stepMin <= op.stepMax, "stepMin exceeds stepMax");
        keepsState(op.stateLayer, inner * op.stateSize);
    }
    void check(const DeltaRuleOp& op) {
        areSizes({op.keyHeads, op.valueHeads, op.keyDim, op.valueDim});
        if (error() || !reads(op.qkv, "qkv") || !reads(op.a, "a") || !reads(op.b, "b") ||
            !writes(op.out)) {
            return;
        }
        require(op.valueHeads % op.keyHeads == 0,
                std::to_string(op.valueHeads) + " value heads cannot share " +
                    std::to_string(op.keyHeads) + " key heads evenly");
        hasTokens(op.qkv);
        hasTokens(op.a);
        hasTokens(op.b);
        hasTokens(op.out);
        const std::int64_t values = op.valueHeads * op.valueDim;
        hasCols(op.qkv, 2 * op.keyHeads * op.keyDim + values, "queries, keys and values");
        hasCols(op.a, op.valueHeads, "one a value head");
        hasCols(op.b, op.valueHeads, "one a value head");
        hasCols(op.out, values,
                std::to_string(op.valueHeads) + " heads of " + std::to_string(op.valueDim));
        isVector(op.decay, "decay", op.valueHeads, op.valueHeads);
        isVector(op.dtBias, "dtBias", op.valueHeads, op.valueHeads);
        isFinite(op.scale, "scale");
        isFinite(op.eps, "eps");
        keepsState(op.stateLayer, values * op.keyDim);
    }
    void check(const AddOp& op) {
        if (reads(op.a, "a") && reads(op.b, "b") && writes(op.out, op.a)) {
            sameShape(op.a, op.b);
            sameShape(op.a, op.out);
        }
    }
    void check(const ScaleOp& op) {
        if (reads(op.in, "in") && writes(op.out, op.in)) {
            sameShape(op.in, op.out);
            isFinite(op.factor, "factor");
        }
    }
    void check(const ActivationOp& op) {
        if (reads(op.in, "in") && writes(op.out, op.in)) {
            sameShape(op.in, op.out);
        }
    }
    void check(const GluOp& op) {
        if (reads(op.gate, "gate") && reads(op.up, "up") && writes(op.out, op.gate)) {
            sameShape(op.gate, op.up);
            sameShape(op.gate, op.out);
        }
    }
    void check(const SoftcapOp& op) {
        if (reads(op.in, "in") && writes(op.out, op.in)) {
            sameShape(op.in, op.out);
            require(std::isfinite(op.cap) && op.cap > 0.0F, "cap must be a finite number above 0");
        }
    }
    void check(const GatherOutputsOp& op) {
        if (reads(op.in, "in") && writes(op.out)) {
            hasTokens(op.in);
            require(value(op.out).rows == Rows::kOutputs, shape(op.out) + " must have rows R");
            hasCols(op.out, value(op.in).cols, "in is " + shape(op.in));
        }
    }
    void check(const PoolOp& op) {
        if (reads(op.in, "in") && writes(op.out)) {
            hasTokens(op.in);
            require(value(op.out).rows == Rows::kOutputs, shape(op.out) + " must have rows R");
            hasCols(op.out, value(op.in).cols, "in is " + shape(op.in));
        }
    }

    const OpList& m_ops;
    const KvLayout& m_kv;
    std::vector<bool> m_isKvWritten;
    std::vector<bool> m_isStateKept;
};

Status checkWeight(const Weight& weight, const TensorView& view) {
    const std::string name = "weight '" + weight.name + "'";
    if (weight.rows < 1 || weight.cols < 1 || weight.rows > kMaxCols || weight.cols > kMaxCols) {
        return fail(ErrorCode::kInvalidArgument, name + " is [" + std::to_string(weight.rows) +
                                                     ", " + std::to_string(weight.cols) +
                                                     "]; each dimension must be 1 to " +
                                                     std::to_string(kMaxCols));
    }
    if (view.data == nullptr) {
        return fail(ErrorCode::kInvalidArgument, name + " has no data");
    }
    if (view.type != weight.type) {
        return fail(ErrorCode::kInvalidArgument,
                    name + " is declared as " + std::string(traits(weight.type).name) +
                        " but its data is " + std::string(traits(view.type).name));
    }
    if (view.shape.elements() != weight.rows * weight.cols ||
        (weight.rows > 1 && view.shape.cols() != weight.cols)) {
        return fail(ErrorCode::kInvalidArgument,
                    name + " is declared as [" + std::to_string(weight.rows) + ", " +
                        std::to_string(weight.cols) + "] but its data is [" +
                        std::to_string(view.shape.rows()) + ", " +
                        std::to_string(view.shape.cols()) + "]");
    }
    if (const auto bytes = rowBytes(view.type, weight.cols); !bytes) {
        return fail(ErrorCode::kInvalidArgument, name + ": " + bytes.error().message);
    }
    return {};
}

}  // namespace

Status checkOps(const OpList& ops, const KvLayout& kv, std::span<const TensorView> weights,
                const CompileOptions& options) {
    for (const auto& [what, count] :
         {std::pair{"maxTokens", options.maxTokens}, std::pair{"maxOutputs", options.maxOutputs},
          std::pair{"maxSequences", options.maxSequences}}) {
        constexpr std::int64_t kMost = 1 << 20;
        if (count < 1 || count > kMost) {
            return fail(ErrorCode::kInvalidArgument,
                        std::string(what) + " is " + std::to_string(count) + "; it must be 1 to " +
                            std::to_string(kMost));
        }
    }
    if (weights.size() != ops.weights.size()) {
        return fail(ErrorCode::kInvalidArgument,
                    "data of " + std::to_string(static_cast<std::int64_t>(weights.size())) +
                        " weights for an op list that has " +
                        std::to_string(static_cast<std::int64_t>(ops.weights.size())));
    }
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (auto status = checkWeight(ops.weights[i], weights[i]); !status) {
            return status;
        }
    }
    return Checker(ops, kv).run();
}

}  // namespace quern::kernels::cpu
