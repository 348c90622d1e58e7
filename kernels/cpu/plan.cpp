#include "kernels/cpu/plan.h"

#include <algorithm>
#include <utility>

namespace quern::kernels::cpu {

namespace {

std::size_t index(std::int32_t id) {
    return static_cast<std::size_t>(id);
}

bool isElementwise(OpKind kind) {
    switch (kind) {
        case OpKind::kAdd:
        case OpKind::kScale:
        case OpKind::kActivation:
        case OpKind::kGlu:
        case OpKind::kSoftcap:
        case OpKind::kClampedGlu:
            return true;
        default:
            return false;
    }
}

bool isMatrix(OpKind kind) {
    return kind == OpKind::kMatMul || kind == OpKind::kGroupedMatMul;
}

bool isScan(OpKind kind) {
    return kind == OpKind::kConv || kind == OpKind::kSsdScan || kind == OpKind::kDeltaRule;
}

class Planner {
public:
    Planner(const OpList& ops, const KvLayout& kv, const std::vector<bool>& takesQ8,
            bool isReference)
        : m_list(ops), m_kv(kv), m_takesQ8(takesQ8), m_isReference(isReference) {}

    Plan make() {
        renameValues();
        m_isDone.assign(m_ops.size(), false);
        for (std::size_t i = 0; i < m_ops.size(); ++i) {
            if (!m_isDone[i]) {
                place(i);
            }
        }
        flush();
        for (std::size_t s = 0; s < m_plan.stages.size(); ++s) {
            noteLifetimes(s);
        }
        for (PlanStage& stage : m_plan.stages) {
            markLocals(stage);
            assignLanes(stage);
        }
        return std::move(m_plan);
    }

private:
    std::int32_t newValue(ValueId id) {
        const Value& value = m_list.values[index(id)];
        m_plan.values.push_back({.name = value.name, .rows = value.rows, .cols = value.cols});
        m_current[index(id)] = static_cast<std::int32_t>(m_plan.values.size()) - 1;
        return m_current[index(id)];
    }
    std::int32_t current(ValueId id) const { return m_current[index(id)]; }

    void renameValues() {
        m_current.assign(m_list.values.size(), -1);
        for (std::size_t i = 0; i < m_list.ops.size(); ++i) {
            const OpVariant& variant = m_list.ops[i].op;
            PlanOp op{.op = static_cast<std::int32_t>(i),
                      .kind = static_cast<OpKind>(variant.index())};
            std::visit([&](const auto& o) { bind(o, op); }, variant);
            m_ops.push_back(op);
        }
        m_plan.values[index(current(m_list.output))].isOutput = true;
        m_consumers.resize(m_plan.values.size());
        m_producer.resize(m_plan.values.size());
        for (std::size_t i = 0; i < m_ops.size(); ++i) {
            for (const std::int32_t value : m_ops[i].in) {
                if (value >= 0) {
                    m_consumers[index(value)].push_back(i);
                }
            }
            if (m_ops[i].out >= 0) {
                m_producer[index(m_ops[i].out)] = i;
            }
        }
    }

    void bind(const EmbedOp& o, PlanOp& op) { op.out = newValue(o.out); }
    void bind(const NormOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bind(const MatMulOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bind(const RopeOp& o, PlanOp& op) { bindOne(o.inOut, o.inOut, op); }
    void bind(const KvWriteOp& o, PlanOp& op) { op.in = {current(o.key), current(o.value), -1}; }
    void bind(const AttentionOp& o, PlanOp& op) { bindOne(o.query, o.out, op); }
    void bind(const AddOp& o, PlanOp& op) { bindTwo(o.a, o.b, o.out, op); }
    void bind(const ScaleOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bind(const ActivationOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bind(const GluOp& o, PlanOp& op) { bindTwo(o.gate, o.up, o.out, op); }
    void bind(const SoftcapOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bind(const GatherOutputsOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bind(const ConvOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bind(const SsdScanOp& o, PlanOp& op) { bindTwo(o.xbc, o.dt, o.out, op); }
    void bind(const DeltaRuleOp& o, PlanOp& op) {
        op.in = {current(o.qkv), current(o.a), current(o.b)};
        op.out = newValue(o.out);
    }
    void bind(const RouteOp& o, PlanOp& op) { bindOne(o.logits, o.out, op); }
    void bind(const GroupedMatMulOp& o, PlanOp& op) {
        op.in[0] = current(o.in);
        op.in[1] = o.routing == kNone ? -1 : current(o.routing);
        op.out = newValue(o.out);
    }
    void bind(const SumSlotsOp& o, PlanOp& op) { bindTwo(o.in, o.routing, o.out, op); }
    void bind(const GateRowsOp& o, PlanOp& op) { bindTwo(o.in, o.gate, o.out, op); }
    void bind(const ClampedGluOp& o, PlanOp& op) { bindTwo(o.gate, o.up, o.out, op); }
    void bind(const JoinHeadsOp& o, PlanOp& op) {
        op.in[0] = current(o.a.value);
        op.in[1] = o.b.value == kNone ? -1 : current(o.b.value);
        op.out = newValue(o.out);
    }
    void bind(const PoolOp& o, PlanOp& op) { bindOne(o.in, o.out, op); }
    void bindOne(ValueId in, ValueId out, PlanOp& op) {
        op.in[0] = current(in);
        op.out = newValue(out);
    }
    void bindTwo(ValueId a, ValueId b, ValueId out, PlanOp& op) {
        op.in = {current(a), current(b), -1};
        op.out = newValue(out);
    }

    Rows rowsOf(const PlanOp& op) const {
        return m_plan.values[index(op.out >= 0 ? op.out : op.in[0])].rows;
    }

    // Row-wise ops wait in m_pending for the matrices, the attention or the scan they prepare.
    void place(std::size_t i) {
        const PlanOp& op = m_ops[i];
        const Rows rows = rowsOf(op);
        if (m_isReference || (!m_pending.empty() && m_pendingRows != rows)) {
            flush();
        }
        m_pendingRows = rows;
        m_isDone[i] = true;
        if (!isMatrix(op.kind) && op.kind != OpKind::kAttention && !isScan(op.kind)) {
            m_pending.push_back(op);
            return;
        }
        PlanStage stage{.rows = rows, .prologue = std::move(m_pending)};
        m_pending.clear();
        if (op.kind == OpKind::kAttention) {
            stage.attention = op;
        } else if (isScan(op.kind)) {
            stage.scan = op;
        } else {
            gatherMatMuls(i, stage);
        }
        m_plan.stages.push_back(std::move(stage));
    }

    void flush() {
        if (!m_pending.empty()) {
            m_plan.stages.push_back({.rows = m_pendingRows, .prologue = std::move(m_pending)});
            m_pending.clear();
        }
    }

    void gatherMatMuls(std::size_t first, PlanStage& stage) {
        std::vector<PlanOp> matMuls{m_ops[first]};
        std::vector<PlanOp> epilogue;
        if (!m_isReference) {
            for (const std::size_t other : m_consumers[index(m_ops[first].in[0])]) {
                if (!m_isDone[other] && isSibling(m_ops[first], m_ops[other])) {
                    m_isDone[other] = true;
                    matMuls.push_back(m_ops[other]);
                }
            }
            epilogue = absorbEpilogue(matMuls);
        }
        bundle(matMuls, epilogue, stage);
    }

    // Matrices that read the same rows in the same way.
    bool isSibling(const PlanOp& a, const PlanOp& b) const {
        if (a.kind != b.kind || a.in != b.in) {
            return false;
        }
        if (a.kind == OpKind::kMatMul) {
            return true;
        }
        const auto inputs = [&](const PlanOp& op) {
            const auto& grouped = std::get<GroupedMatMulOp>(m_list.ops[index(op.op)].op);
            return std::pair(grouped.weights.size(),
                             m_list.weights[index(grouped.weights.front())].cols);
        };
        return inputs(a) == inputs(b);
    }

    // Element-wise ops whose inputs are there once a tile of the matrices is computed: results of
    // this stage, or of earlier ones.
    std::vector<PlanOp> absorbEpilogue(const std::vector<PlanOp>& matMuls) {
        std::vector<bool> isOurs(m_plan.values.size(), false);
        std::vector<std::size_t> candidates;
        const auto addResult = [&](std::int32_t value) {
            isOurs[index(value)] = true;
            const auto& consumers = m_consumers[index(value)];
            candidates.insert(candidates.end(), consumers.begin(), consumers.end());
        };
        for (const PlanOp& op : matMuls) {
            addResult(op.out);
        }
        const auto isReady = [&](std::int32_t value) {
            return value < 0 || isOurs[index(value)] || m_isDone[m_producer[index(value)]];
        };
        std::vector<PlanOp> epilogue;
        for (std::size_t c = 0; c < candidates.size(); ++c) {
            const std::size_t i = candidates[c];
            const PlanOp& op = m_ops[i];
            if (!m_isDone[i] && isElementwise(op.kind) && isReady(op.in[0]) && isReady(op.in[1])) {
                m_isDone[i] = true;
                epilogue.push_back(op);
                addResult(op.out);
            }
        }
        return epilogue;
    }

    // Splits matrices into bundles: those connected through epilogue ops go together.
    static void bundle(const std::vector<PlanOp>& matMuls, const std::vector<PlanOp>& epilogue,
                       PlanStage& stage) {
        std::vector<std::pair<std::int32_t, std::size_t>> owner;  // value → group
        std::vector<std::size_t> group(matMuls.size());
        for (std::size_t i = 0; i < matMuls.size(); ++i) {
            group[i] = i;
            owner.emplace_back(matMuls[i].out, i);
        }
        const auto groupOf = [&](std::int32_t value) -> std::optional<std::size_t> {
            for (const auto& [made, matMul] : owner) {
                if (made == value) {
                    return group[matMul];
                }
            }
            return std::nullopt;
        };
        for (const PlanOp& op : epilogue) {
            const auto a = groupOf(op.in[0]);
            const auto b = groupOf(op.in[1]);
            const std::size_t kept = a ? *a : b.value_or(0);
            if (a && b && *a != *b) {
                std::replace(group.begin(), group.end(), *b, kept);
            }
            owner.emplace_back(op.out, kept);
        }
        for (std::size_t g = 0; g < matMuls.size(); ++g) {
            PlanBundle bundle;
            for (std::size_t i = 0; i < matMuls.size(); ++i) {
                if (group[i] == g) {
                    bundle.matMuls.push_back(matMuls[i]);
                }
            }
            for (const PlanOp& op : epilogue) {
                if (groupOf(op.out) == g) {
                    bundle.epilogue.push_back(op);
                }
            }
            if (!bundle.matMuls.empty()) {
                stage.bundles.push_back(std::move(bundle));
            }
        }
    }

    template <class Function>
    static void forEachOp(PlanStage& stage, Function function) {
        for (PlanOp& op : stage.prologue) {
            function(op);
        }
        for (PlanBundle& bundle : stage.bundles) {
            for (PlanOp& op : bundle.matMuls) {
                function(op);
            }
            for (PlanOp& op : bundle.epilogue) {
                function(op);
            }
        }
        if (stage.attention) {
            function(*stage.attention);
        }
        if (stage.scan) {
            function(*stage.scan);
        }
    }

    void noteLifetimes(std::size_t stage) {
        const auto at = static_cast<std::int32_t>(stage);
        forEachOp(m_plan.stages[stage], [&](const PlanOp& op) {
            for (const std::int32_t value : op.in) {
                if (value >= 0) {
                    m_plan.values[index(value)].lastStage = at;
                }
            }
            if (op.out >= 0) {
                m_plan.values[index(op.out)].firstStage = at;
                m_plan.values[index(op.out)].lastStage = at;
            }
        });
    }

    void markLocals(PlanStage& stage) {
        const auto isInPrologue = [&](std::size_t i) {
            return std::any_of(stage.prologue.begin(), stage.prologue.end(),
                               [&](const PlanOp& op) { return op.op == m_ops[i].op; });
        };
        for (const PlanOp& made : stage.prologue) {
            if (made.out < 0) {
                continue;
            }
            PlanValue& value = m_plan.values[index(made.out)];
            value.isLocal = !value.isOutput && value.lastStage == value.firstStage;
            for (const std::size_t user : m_consumers[index(made.out)]) {
                value.isLocal =
                    value.isLocal && (readsQuantized(user, made.out) || isInPrologue(user));
            }
        }
    }

    // Whether an op reads a value only as quantized rows, which the prologue makes.
    bool readsQuantized(std::size_t user, std::int32_t value) const {
        if (const auto* matMul = std::get_if<MatMulOp>(&m_list.ops[user].op)) {
            return m_takesQ8[index(matMul->weight)];
        }
        if (const auto* grouped = std::get_if<GroupedMatMulOp>(&m_list.ops[user].op)) {
            return m_takesQ8[index(grouped->weights.front())] && m_ops[user].in[1] != value;
        }
        return false;
    }

    // Walks the prologue backwards from the attention: each op takes its lane from its result.
    void assignLanes(PlanStage& stage) {
        if (!stage.attention) {
            return;
        }
        const auto& attention = std::get<AttentionOp>(m_list.ops[index(stage.attention->op)].op);
        const KvLayer& layer = m_kv.layers[index(attention.kvLayer)];
        std::vector<Lane> lanes(m_plan.values.size(), Lane::kNone);
        bool isByHead = !m_isReference;
        const auto give = [&](std::int32_t value, Lane lane) {
            const bool isFromHere = std::any_of(stage.prologue.begin(), stage.prologue.end(),
                                                [&](const PlanOp& op) { return op.out == value; });
            if (isFromHere) {
                const PlanValue& v = m_plan.values[index(value)];
                isByHead = isByHead && v.firstStage == v.lastStage && !v.isOutput &&
                           (lanes[index(value)] == Lane::kNone || lanes[index(value)] == lane);
                lanes[index(value)] = lane;
            }
        };
        give(stage.attention->in[0], Lane::kQuery);
        for (auto op = stage.prologue.rbegin(); op != stage.prologue.rend(); ++op) {
            if (op->kind == OpKind::kKvWrite) {
                const auto& write = std::get<KvWriteOp>(m_list.ops[index(op->op)].op);
                isByHead = isByHead && write.kvLayer == attention.kvLayer;
                give(op->in[0], Lane::kKey);
                give(op->in[1], Lane::kValue);
                continue;
            }
            op->lane = lanes[index(op->out)];
            const std::int64_t dim = op->lane == Lane::kValue ? layer.valueDim : layer.keyDim;
            isByHead = isByHead && op->lane != Lane::kNone && worksOnHeads(*op, dim);
            if (isByHead) {
                give(op->in[0], op->lane);
            }
        }
        stage.isByHead = isByHead;
    }

    bool worksOnHeads(const PlanOp& op, std::int64_t dim) const {
        if (op.kind == OpKind::kNorm) {
            return std::get<NormOp>(m_list.ops[index(op.op)].op).groupCols == dim;
        }
        if (op.kind == OpKind::kRope) {
            return std::get<RopeOp>(m_list.ops[index(op.op)].op).headDim == dim;
        }
        return op.kind == OpKind::kScale;
    }

    const OpList& m_list;
    const KvLayout& m_kv;
    const std::vector<bool>& m_takesQ8;
    bool m_isReference;
    Plan m_plan;
    std::vector<std::int32_t> m_current;  // plan value that holds a value now, by ValueId
    std::vector<PlanOp> m_ops;            // as OpList::ops
    std::vector<std::vector<std::size_t>> m_consumers;  // ops that read a plan value
    std::vector<std::size_t> m_producer;                // op that makes a plan value
    std::vector<bool> m_isDone;
    std::vector<PlanOp> m_pending;
    Rows m_pendingRows = Rows::kTokens;
};

}  // namespace

Plan makePlan(const OpList& ops, const KvLayout& kv, const std::vector<bool>& takesQ8,
              bool isReference) {
    return Planner(ops, kv, takesQ8, isReference).make();
}

}  // namespace quern::kernels::cpu
