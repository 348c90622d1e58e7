#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/cpu/memory.h"
#include "kernels/cpu/placement.h"
#include "kernels/cpu/stages.h"

namespace quern::kernels::cpu {

namespace {

// When rows are many: outputs of one work item. Its results stay in the second-level cache for the
// element-wise ops that follow.
constexpr std::int64_t kMaxChunkOutputs = 128;
constexpr std::int64_t kChunksPerThread = 6;

std::size_t index(std::int32_t id) {
    return static_cast<std::size_t>(id);
}

std::int64_t alignUp(std::int64_t floats) {
    return (floats + kAlignFloats - 1) / kAlignFloats * kAlignFloats;
}

template <class Op, class... Some>
inline constexpr bool kIsOneOf = (std::is_same_v<Op, Some> || ...);

class Lowering {
public:
    Lowering(const OpList& ops, const Plan& plan, const WeightStore& weights,
             const KvBlockLayout& kv, const LowerOptions& options)
        : m_list(ops), m_plan(plan), m_weights(weights), m_kv(kv), m_options(options) {}

    ProgramImage make() {
        m_image.isKvF16 = m_kv.type == DType::kF16;
        m_image.groupWindows.assign(m_kv.blockBytes.size(), -1);
        m_image.isStateGroup = m_kv.isState;
        m_image.outputCols = m_list.values[index(m_list.output)].cols;
        placeValues();
        for (std::size_t s = 0; s < m_plan.stages.size(); ++s) {
            lowerStage(static_cast<std::int32_t>(s));
        }
        placeScratchOfStages();
        return std::move(m_image);
    }

private:
    std::int64_t maxRows(Rows rows) const {
        return rows == Rows::kTokens ? m_options.maxTokens : m_options.maxOutputs;
    }

    void placeValues() {
        std::vector<Lifetime> lifetimes(m_plan.values.size());
        for (std::size_t i = 0; i < m_plan.values.size(); ++i) {
            const PlanValue& value = m_plan.values[i];
            const bool isShared = !value.isLocal && !value.isOutput;
            lifetimes[i] = {.size = isShared ? maxRows(value.rows) * value.cols : 0,
                            .first = value.firstStage,
                            .last = value.lastStage};
        }
        const Placement placement = placeScratch(lifetimes, kAlignFloats);
        m_offsets = placement.offsets;
        m_image.sharedFloats = alignUp(placement.total);
    }

    // Rope angles, the shared quantized rows and the workers' scratch come after the values.
    void placeScratchOfStages() {
        for (RopeTable& rope : m_image.ropes) {
            rope.cosOffset = m_image.sharedFloats;
            rope.sinOffset = rope.cosOffset + alignUp(m_options.maxTokens * rope.half);
            m_image.sharedFloats = rope.sinOffset + alignUp(m_options.maxTokens * rope.half);
        }
        m_image.q8Offset = m_image.sharedFloats;
        m_image.sharedFloats += m_q8Floats;
        m_image.workerQ8Offset = alignUp(m_localFloats);
        m_image.workerAttentionOffset = m_image.workerQ8Offset + m_workerQ8Floats;
        m_image.workerGroupedOffset = alignUp(m_image.workerAttentionOffset + m_attentionFloats);
        // Workers don't share a pair of cache lines, which processors fetch together.
        m_image.workerFloats =
            alignUp(m_image.workerGroupedOffset + m_groupedFloats) + 2 * kAlignFloats;
    }

    void lowerStage(std::int32_t s) {
        const PlanStage& from = m_plan.stages[index(s)];
        m_stageLocals = 0;
        m_privateOffsets.clear();
        Stage stage{.rows = from.rows, .isByHead = from.isByHead};
        stage.mayRepeat = !m_options.isReference && !from.bundles.empty();
        for (const PlanOp& op : from.prologue) {
            if (op.out >= 0) {
                reserveInWorker(op.out);
            }
            stage.prologue.push_back(rowOp(op));
            stage.ops.push_back(op.op);
        }
        if (isGrouped(from)) {
            stage.grouped = groupedPart(from, stage);
        } else if (!from.bundles.empty()) {
            stage.matMul = matMulPart(from, stage);
        }
        if (from.attention) {
            stage.attention = attentionPart(*from.attention);
            stage.ops.push_back(from.attention->op);
        }
        if (from.scan) {
            stage.scan = scanPart(*from.scan);
            stage.ops.push_back(from.scan->op);
        }
        m_localFloats = std::max(m_localFloats, m_stageLocals);
        stage.name = stageName(stage.ops);
        m_image.stages.push_back(std::move(stage));
    }

    void reserveInWorker(std::int32_t value) {
        const PlanValue& v = m_plan.values[index(value)];
        m_privateOffsets.emplace_back(value, m_stageLocals);
        m_stageLocals += alignUp(v.isLocal ? v.cols : v.cols * kRepeatRows);
    }

    Operand operand(std::int32_t value) const {
        if (value < 0) {
            return {};
        }
        const PlanValue& v = m_plan.values[index(value)];
        Operand operand{
            .place = Operand::Place::kShared, .offset = m_offsets[index(value)], .cols = v.cols};
        const auto own = std::find_if(m_privateOffsets.begin(), m_privateOffsets.end(),
                                      [&](const auto& entry) { return entry.first == value; });
        const std::int64_t inWorker = own == m_privateOffsets.end() ? -1 : own->second;
        if (v.isLocal) {
            operand.place = Operand::Place::kLocal;
            operand.offset = inWorker;
            return operand;
        }
        if (v.isOutput) {
            operand.place = Operand::Place::kOutput;
        }
        operand.privateOffset = inWorker;
        return operand;
    }

    RowOp rowOp(const PlanOp& from) {
        RowOp op{.kind = from.kind,
                 .lane = from.lane,
                 .in = {operand(from.in[0]), operand(from.in[1])},
                 .out = operand(from.out)};
        std::visit([&](const auto& o) { bind(o, op); }, m_list.ops[index(from.op)].op);
        return op;
    }

    void bind(const EmbedOp& o, RowOp& op) {
        op.table = m_weights.table(o.table);
        op.factor = o.scale;
        op.index = o.index;
        op.positionOffset = o.offset;
        std::int64_t& limit = o.index == EmbedIndex::kToken      ? m_image.vocab
                              : o.index == EmbedIndex::kPosition ? m_image.positions
                                                                 : m_image.types;
        const std::int64_t rows = op.table.rows - o.offset;
        limit = limit == 0 ? rows : std::min(limit, rows);
    }
    void bind(const NormOp& o, RowOp& op) {
        const std::int64_t cols = op.in[0].cols;
        const std::int64_t group = o.groupCols == 0 ? cols : o.groupCols;
        const auto step = [&](WeightId id) { return m_weights.elements(id) > group ? group : 0; };
        op.norm = {.kind = o.kind,
                   .eps = o.eps,
                   .groups = cols / group,
                   .groupCols = group,
                   .weightStep = step(o.weight),
                   .biasStep = step(o.bias),
                   .weight = m_weights.vector(o.weight, o.weightOffset),
                   .bias = m_weights.vector(o.bias)};
    }
    void bind(const RopeOp& o, RowOp& op) {
        const float* freqs = m_weights.vector(o.freqs);
        const std::int64_t half = m_weights.elements(o.freqs);
        const auto known =
            std::find_if(m_image.ropes.begin(), m_image.ropes.end(), [&](const RopeTable& table) {
                return table.freqs == freqs && table.magnitude == o.magnitude;
            });
        op.ropeTable = static_cast<std::int32_t>(known - m_image.ropes.begin());
        if (known == m_image.ropes.end()) {
            m_image.ropes.push_back({.freqs = freqs, .half = half, .magnitude = o.magnitude});
        }
        op.rope = {.layout = o.layout,
                   .heads = op.in[0].cols / o.headDim,
                   .headDim = o.headDim,
                   .half = half};
    }
    void bind(const KvWriteOp& o, RowOp& op) {
        op.kv = m_kv.layers[index(o.kvLayer)];
        readGroup(op.kv.group, 1);
    }
    void bind(const ScaleOp& o, RowOp& op) { op.factor = o.factor; }
    void bind(const ActivationOp& o, RowOp& op) { op.activation = o.kind; }
    void bind(const GluOp& o, RowOp& op) { op.activation = o.kind; }
    void bind(const SoftcapOp& o, RowOp& op) { op.factor = o.cap; }
    void bind(const ClampedGluOp& o, RowOp& op) {
        op.factor = o.limit;
        op.alpha = o.alpha;
    }
    void bind(const JoinHeadsOp& o, RowOp& op) {
        op.heads = o.heads;
        op.columns = {o.a, o.b};
    }
    void bind(const RouteOp& o, RowOp& op) {
        op.route = {.gating = o.gating,
                    .choices = op.in[0].cols,
                    .used = o.used,
                    .groups = o.groups,
                    .groupsUsed = o.groupsUsed,
                    .ranksGroupsByTwo = o.ranksGroupsByTwo,
                    .normalizes = o.normalizes,
                    .scale = o.scale,
                    .bias = m_weights.vector(o.bias)};
        op.scratchOffset = m_stageLocals;
        m_stageLocals += alignUp(op.route.scratchFloats());
    }
    void bind(const PoolOp& o, RowOp& op) {
        op.pool = o.kind;
        m_image.takesWhole = true;
    }
    // Those that need their operands only, and those that are never row-wise. Named, so that a new
    // op is not taken for one of them.
    template <class Plain>
    std::enable_if_t<kIsOneOf<Plain, AddOp, GatherOutputsOp, SumSlotsOp, GateRowsOp, MatMulOp,
                              GroupedMatMulOp, AttentionOp, ConvOp, SsdScanOp, DeltaRuleOp>>
    bind(const Plain& /*op*/, RowOp& /*op*/) {}

    void readGroup(std::int32_t group, std::int64_t window) {
        std::int64_t& known = m_image.groupWindows[index(group)];
        known = known == 0 || window == 0 ? 0 : std::max(known, window);
    }

    MatMulPart matMulPart(const PlanStage& from, Stage& stage) {
        MatMulPart part{.in = operand(from.bundles.front().matMuls.front().in[0])};
        std::int32_t slot = 0;
        for (const PlanBundle& planned : from.bundles) {
            Bundle& bundle = part.bundles.emplace_back();
            for (const PlanOp& op : planned.matMuls) {
                const auto& matMul = std::get<MatMulOp>(m_list.ops[index(op.op)].op);
                const PackedWeight& weight = m_weights.packed(matMul.weight);
                bundle.matMuls.push_back({.weight = &weight,
                                          .id = matMul.weight,
                                          .slot = slot++,
                                          .bias = m_weights.vector(matMul.bias),
                                          .out = operand(op.out)});
                bundle.outputs = weight.outputs();
                bundle.panel = std::max(bundle.panel, weight.panelOutputs());
                part.needsQ8 = part.needsQ8 || weight.takesQ8();
                part.cost += weight.bytes();
                stage.ops.push_back(op.op);
            }
            for (const PlanOp& op : planned.epilogue) {
                bundle.epilogue.push_back(rowOp(op));
                stage.ops.push_back(op.op);
            }
        }
        m_image.mostMatMuls = std::max<std::int64_t>(m_image.mostMatMuls, slot);
        splitWork(part);
        if (part.needsQ8) {
            reserveQ8(from.rows, part.in.cols);
        }
        return part;
    }

    void reserveQ8(Rows rows, std::int64_t cols) {
        const auto floats = [&](std::int64_t count) {
            return alignUp((Q8Rows::bytes(count, cols) + 3) / 4);
        };
        m_q8Floats = std::max(m_q8Floats, floats(maxRows(rows)));
        m_workerQ8Floats = std::max(m_workerQ8Floats, floats(kRepeatRows));
    }

    static bool isGrouped(const PlanStage& from) {
        return !from.bundles.empty() &&
               from.bundles.front().matMuls.front().kind == OpKind::kGroupedMatMul;
    }

    GroupedPart groupedPart(const PlanStage& from, Stage& stage) {
        const PlanOp& first = from.bundles.front().matMuls.front();
        GroupedPart part{.in = operand(first.in[0]), .routing = operand(first.in[1])};
        for (const PlanBundle& planned : from.bundles) {
            GroupedBundle& bundle = part.bundles.emplace_back();
            for (const PlanOp& op : planned.matMuls) {
                bundle.steps.push_back(groupedStep(op, part));
                stage.ops.push_back(op.op);
            }
            bundle.outputs = bundle.steps.front().weights.front()->outputs();
            for (const PlanOp& op : planned.epilogue) {
                bundle.epilogue.push_back(rowOp(op));
                stage.ops.push_back(op.op);
            }
        }
        part.slots = part.bundles.front().steps.front().out.cols / part.bundles.front().outputs;
        part.isBySlot = part.in.cols != part.inputs;
        if (part.needsQ8) {
            reserveQ8(from.rows, part.in.cols);
        }
        cutGrouped(part, m_options.threads, maxRows(from.rows));
        m_groupedFloats = std::max(m_groupedFloats, part.scratch.floats);
        return part;
    }

    GroupedStep groupedStep(const PlanOp& op, GroupedPart& part) const {
        const auto& grouped = std::get<GroupedMatMulOp>(m_list.ops[index(op.op)].op);
        GroupedStep step{
            .weights = {}, .bias = m_weights.vector(grouped.bias), .out = operand(op.out)};
        for (const WeightId id : grouped.weights) {
            step.weights.push_back(&m_weights.packed(id));
        }
        part.matrices = std::ssize(step.weights);
        part.inputs = step.weights.front()->inputs();
        (step.weights.front()->takesQ8() ? part.needsQ8 : part.needsFloats) = true;
        return step;
    }

    void splitWork(MatMulPart& part) const {
        std::int64_t outputs = 0;
        for (const Bundle& bundle : part.bundles) {
            outputs += bundle.outputs;
        }
        const std::int64_t fair = outputs / (m_options.threads * kChunksPerThread);
        const std::int64_t wanted = std::clamp<std::int64_t>(fair, 1, kMaxChunkOutputs);
        for (Bundle& bundle : part.bundles) {
            std::int64_t bytes = 0;
            for (const MatMulStep& step : bundle.matMuls) {
                bytes += step.weight->bytes();
            }
            bundle.panels = (bundle.outputs + bundle.panel - 1) / bundle.panel;
            bundle.panelCost = std::max<std::int64_t>(1, bytes / bundle.panels);
            bundle.chunkPanels = std::max<std::int64_t>(1, wanted / bundle.panel);
            bundle.chunks = (bundle.panels + bundle.chunkPanels - 1) / bundle.chunkPanels;
            part.chunks += bundle.chunks;
        }
        part.cost = 0;
        for (const Bundle& bundle : part.bundles) {
            part.cost += bundle.panels * bundle.panelCost;
        }
    }

    AttentionPart attentionPart(const PlanOp& from) {
        const auto& o = std::get<AttentionOp>(m_list.ops[index(from.op)].op);
        AttentionPart part{.kv = m_kv.layers[index(o.kvLayer)],
                           .heads = o.heads,
                           .scale = o.scale,
                           .softcap = o.softcap,
                           .window = o.window,
                           .sight = o.sight,
                           .sinks = m_weights.vector(o.sinks),
                           .query = operand(from.in[0]),
                           .out = operand(from.out)};
        part.headsPerKv = o.heads / part.kv.kvHeads;
        m_image.takesWhole = m_image.takesWhole || o.sight == Sight::kAll;
        readGroup(part.kv.group, o.window);
        m_attentionFloats =
            std::max(m_attentionFloats, attentionScratchFloats(part.kv, part.headsPerKv));
        return part;
    }

    ScanPart scanPart(const PlanOp& from) {
        ScanPart part{.kind = from.kind,
                      .in = {operand(from.in[0]), operand(from.in[1]), operand(from.in[2])},
                      .out = operand(from.out)};
        const OpVariant& op = m_list.ops[index(from.op)].op;
        if (const auto* conv = std::get_if<ConvOp>(&op)) {
            bind(*conv, part);
        } else if (const auto* ssd = std::get_if<SsdScanOp>(&op)) {
            bind(*ssd, part);
        } else {
            bind(std::get<DeltaRuleOp>(op), part);
        }
        // A token needs the state of the one before it.
        readGroup(part.state.group, 2);
        return part;
    }
    void bind(const ConvOp& o, ScanPart& part) const {
        const std::int64_t rows = m_list.weights[index(o.weight)].rows;
        part.state = m_kv.states[index(o.stateLayer)];
        part.units = (part.out.cols + kConvCols - 1) / kConvCols;
        part.unitFloats = (rows - 1) * kConvCols;
        part.conv = {.rows = rows,
                     .cols = part.out.cols,
                     .weightStride = part.out.cols,
                     .weight = m_weights.vector(o.weight),
                     .bias = m_weights.vector(o.bias),
                     .activation = o.activation};
    }
    void bind(const SsdScanOp& o, ScanPart& part) const {
        part.state = m_kv.states[index(o.stateLayer)];
        part.units = o.heads;
        part.unitFloats = o.stateSize * o.headDim;
        part.ssd = o;
        part.decay = m_weights.vector(o.a);
        part.dtBias = m_weights.vector(o.dtBias);
        part.skip = m_weights.vector(o.d);
    }
    void bind(const DeltaRuleOp& o, ScanPart& part) const {
        part.state = m_kv.states[index(o.stateLayer)];
        part.units = o.valueHeads;
        part.unitFloats = o.keyDim * o.valueDim;
        part.delta = o;
        part.decay = m_weights.vector(o.decay);
        part.dtBias = m_weights.vector(o.dtBias);
    }
    // "layer 3 / attn.norm, attn.q, attn.k": a prefix that all share is said once.
    std::string stageName(const std::vector<std::int32_t>& ops) const {
        const auto prefixOf = [&](std::int32_t op) {
            const std::string& name = m_list.ops[index(op)].name;
            const std::size_t slash = name.find(" / ");
            return slash == std::string::npos ? std::string() : name.substr(0, slash + 3);
        };
        const std::string prefix = prefixOf(ops.front());
        const bool isShared = std::all_of(ops.begin(), ops.end(),
                                          [&](std::int32_t op) { return prefixOf(op) == prefix; });
        std::string name = isShared ? prefix : "";
        for (std::size_t i = 0; i < ops.size(); ++i) {
            const std::string& own = m_list.ops[index(ops[i])].name;
            name += (i == 0 ? "" : ", ") + (isShared ? own.substr(prefix.size()) : own);
        }
        return name;
    }

    const OpList& m_list;
    const Plan& m_plan;
    const WeightStore& m_weights;
    const KvBlockLayout& m_kv;
    const LowerOptions& m_options;
    ProgramImage m_image;
    std::vector<std::int64_t> m_offsets;                                  // [plan values]
    std::vector<std::pair<std::int32_t, std::int64_t>> m_privateOffsets;  // of this stage
    std::int64_t m_stageLocals = 0;
    std::int64_t m_localFloats = 0;
    std::int64_t m_q8Floats = 0;
    std::int64_t m_workerQ8Floats = 0;
    std::int64_t m_attentionFloats = 0;
    std::int64_t m_groupedFloats = 0;
};

}  // namespace

ProgramImage lower(const OpList& ops, const Plan& plan, const WeightStore& weights,
                   const KvBlockLayout& kv, const LowerOptions& options) {
    return Lowering(ops, plan, weights, kv, options).make();
}

}  // namespace quern::kernels::cpu
