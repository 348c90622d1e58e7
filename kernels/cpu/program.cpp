#include "kernels/cpu/program.h"

#include <algorithm>
#include <chrono>

#include "kernels/quant.h"

namespace quern::kernels::cpu {

namespace {

// Angles of a few tokens take less time than the barrier after sharing them out.
constexpr std::int64_t kRopeAloneTokens = 4;

std::string number(std::int64_t n) {
    return std::to_string(n);
}

template <class T>
std::int64_t ssize(std::span<T> span) {
    return static_cast<std::int64_t>(span.size());
}

bool sameLayout(const KvLayout& a, const KvLayout& b) {
    return a.groups == b.groups && a.type == b.type &&
           std::equal(a.layers.begin(), a.layers.end(), b.layers.begin(), b.layers.end(),
                      [](const KvLayer& x, const KvLayer& y) {
                          return x.group == y.group && x.kvHeads == y.kvHeads &&
                                 x.keyDim == y.keyDim && x.valueDim == y.valueDim;
                      });
}

tl::unexpected<Error> invalid(std::string message) {
    return fail(ErrorCode::kInvalidArgument, std::move(message));
}

}  // namespace

Result<std::unique_ptr<CpuProgram>> CpuProgram::create(Parts parts) {
    auto program = std::make_unique<CpuProgram>();
    program->m_parts = std::move(parts);
    const ProgramImage& image = program->m_parts.image;
    ThreadPool* pool = program->m_parts.pool;
    const std::int64_t floats = image.sharedFloats + pool->threads() * image.workerFloats;
    auto scratch =
        SystemMemory::create(floats * static_cast<std::int64_t>(sizeof(float)), "a step's scratch");
    if (!scratch) {
        return forward(scratch);
    }
    program->m_scratch = std::move(*scratch);
    StepContext& step = program->m_step;
    step.image = &image;
    step.pool = pool;
    step.shared = reinterpret_cast<float*>(program->m_scratch.data());
    step.workers = step.shared + image.sharedFloats;
    const std::size_t groups = image.groupWindows.size();
    step.groupData.resize(groups);
    step.groupBlockBytes.resize(groups);
    step.sequenceOf.reserve(static_cast<std::size_t>(program->m_parts.options.maxTokens));
    step.tiles.reserve(static_cast<std::size_t>(program->m_parts.options.maxTokens));
    step.nextItem = std::make_unique<std::atomic<std::int64_t>[]>(image.stages.size());
    // Split by spans happens below 4 units a thread.
    step.spansDone = std::make_unique<std::atomic<std::int64_t>[]>(
        static_cast<std::size_t>(4 * pool->threads()));
    program->m_nanoseconds.resize(image.stages.size(), 0);
    return program;
}

std::int64_t CpuProgram::scratchBytes() const {
    return m_scratch.bytes() + m_step.partials.bytes();
}

Status CpuProgram::run(CpuKvCache& cache, const StepInputs& inputs, StepOutputs outputs) {
    if (auto status = check(cache, inputs, outputs); !status) {
        return status;
    }
    setUp(cache, inputs, outputs);
    if (auto status = reservePartials(m_step); !status) {
        return status;
    }
    if (m_step.tokens <= kRopeAloneTokens) {
        fillRopeTables(m_step, 0, m_step.tokens);
    }
    m_parts.pool->run(
        [](void* program, std::int32_t worker) noexcept {
            static_cast<CpuProgram*>(program)->work(worker);
        },
        this);
    m_profiledSteps += m_isProfiling ? 1 : 0;
    return {};
}

Status CpuProgram::check(const CpuKvCache& cache, const StepInputs& inputs,
                         const StepOutputs& outputs) const {
    const std::int64_t tokens = ssize(inputs.tokens);
    if (tokens < 1 || tokens > m_parts.options.maxTokens) {
        return invalid("a step with " + number(tokens) + " tokens; the program takes 1 to " +
                       number(m_parts.options.maxTokens));
    }
    if (ssize(inputs.positions) != tokens) {
        return invalid(number(ssize(inputs.positions)) + " positions for " + number(tokens) +
                       " tokens");
    }
    for (const std::int32_t token : inputs.tokens) {
        if (token < 0 || (m_parts.image.vocab > 0 && token >= m_parts.image.vocab)) {
            return invalid("token id " + number(token) + "; the vocabulary has " +
                           number(m_parts.image.vocab));
        }
    }
    const std::int64_t rows = ssize(inputs.outputRows);
    if (rows > m_parts.options.maxOutputs) {
        return invalid("a step with " + number(rows) + " output rows; the program takes up to " +
                       number(m_parts.options.maxOutputs));
    }
    for (const std::int32_t row : inputs.outputRows) {
        if (row < 0 || row >= tokens) {
            return invalid("output row " + number(row) + " of " + number(tokens) + " tokens");
        }
    }
    if (ssize(outputs.rows) < rows * m_parts.image.outputCols) {
        return invalid("room for " + number(ssize(outputs.rows)) + " results; the step gives " +
                       number(rows) + " × " + number(m_parts.image.outputCols));
    }
    if (ssize(inputs.sequences) > m_parts.options.maxSequences) {
        return invalid("a step with " + number(ssize(inputs.sequences)) +
                       " sequences; the program takes up to " +
                       number(m_parts.options.maxSequences));
    }
    std::int64_t next = 0;
    for (const SequenceSlice& slice : inputs.sequences) {
        if (slice.firstToken != next || slice.tokenCount < 1 || slice.tokenCount > tokens - next) {
            return invalid("a sequence with tokens " + number(slice.firstToken) + " to " +
                           number(std::int64_t{slice.firstToken} + slice.tokenCount) +
                           "; the next one must start at token " + number(next) + " of " +
                           number(tokens));
        }
        std::int64_t last = -1;
        for (std::int64_t i = next; i < next + slice.tokenCount; ++i) {
            const std::int32_t position = inputs.positions[static_cast<std::size_t>(i)];
            if (position <= last) {
                return invalid("position " + number(position) + " of token " + number(i) +
                               " does not ascend");
            }
            if (m_parts.image.positions > 0 && position >= m_parts.image.positions) {
                return invalid("position " + number(position) + "; the model has embeddings for " +
                               number(m_parts.image.positions) + " positions");
            }
            last = position;
        }
        next += slice.tokenCount;
    }
    if (next != tokens) {
        return invalid("the sequences cover " + number(next) + " of " + number(tokens) + " tokens");
    }
    return checkTables(cache, inputs);
}

Status CpuProgram::checkTables(const CpuKvCache& cache, const StepInputs& inputs) const {
    if (!sameLayout(cache.layout(), m_parts.kv)) {
        return invalid("the KV cache has another layout than the program");
    }
    if (ssize(inputs.tables) != m_parts.kv.groups) {
        return invalid("block tables of " + number(ssize(inputs.tables)) +
                       " groups; the model has " + number(m_parts.kv.groups));
    }
    for (std::int32_t group = 0; group < m_parts.kv.groups; ++group) {
        const std::int64_t window = m_parts.image.groupWindows[static_cast<std::size_t>(group)];
        if (window < 0) {
            continue;
        }
        const BlockTables& table = inputs.tables[static_cast<std::size_t>(group)];
        const std::int64_t sequences = ssize(inputs.sequences);
        if (table.stride < 0 ||
            (table.stride > 0 && ssize(table.blocks) / table.stride < sequences)) {
            return invalid("the block table of group " + number(group) + " has " +
                           number(ssize(table.blocks)) + " entries, not " + number(sequences) +
                           " rows of " + number(table.stride));
        }
        for (std::int64_t s = 0; s < sequences; ++s) {
            const SequenceSlice& slice = inputs.sequences[static_cast<std::size_t>(s)];
            const auto first = static_cast<std::size_t>(slice.firstToken);
            const std::int64_t from = inputs.positions[first];
            const std::int64_t to =
                inputs.positions[first + static_cast<std::size_t>(slice.tokenCount) - 1];
            const std::int64_t least =
                window > 0 ? std::max<std::int64_t>(0, from - window + 1) : 0;
            for (std::int64_t i = least / kBlockTokens; i <= to / kBlockTokens; ++i) {
                const std::int64_t block =
                    i < table.stride ? table.blocks[static_cast<std::size_t>(s * table.stride + i)]
                                     : -1;
                if (block < 0 || block >= cache.blocks(group)) {
                    return invalid("sequence " + number(s) + " needs block " + number(i) +
                                   " of group " + number(group) + " for positions " +
                                   number(least) + " to " + number(to) + "; its table says " +
                                   number(block) + " of " + number(cache.blocks(group)));
                }
            }
        }
    }
    return {};
}

void CpuProgram::setUp(CpuKvCache& cache, const StepInputs& inputs, const StepOutputs& outputs) {
    m_step.inputs = &inputs;
    m_step.output = outputs.rows.data();
    m_step.tokens = ssize(inputs.tokens);
    m_step.outputs = ssize(inputs.outputRows);
    for (std::int32_t group = 0; group < m_parts.kv.groups; ++group) {
        m_step.groupData[static_cast<std::size_t>(group)] = cache.groupData(group);
        m_step.groupBlockBytes[static_cast<std::size_t>(group)] = cache.blockBytes(group);
    }
    m_step.isDecode = m_step.tokens == ssize(inputs.sequences);
    m_step.sequenceOf.clear();
    m_step.tiles.clear();
    for (std::size_t s = 0; s < inputs.sequences.size(); ++s) {
        const SequenceSlice& slice = inputs.sequences[s];
        const auto sequence = static_cast<std::int32_t>(s);
        m_step.sequenceOf.insert(m_step.sequenceOf.end(),
                                 static_cast<std::size_t>(slice.tokenCount), sequence);
        constexpr auto kTile = static_cast<std::int32_t>(kTileTokens);
        for (std::int32_t first = 0; first < slice.tokenCount; first += kTile) {
            m_step.tiles.push_back({.sequence = sequence,
                                    .firstToken = slice.firstToken + first,
                                    .tokens = std::min(kTile, slice.tokenCount - first)});
        }
    }
    for (std::size_t i = 0; i < m_parts.image.stages.size(); ++i) {
        m_step.nextItem[i].store(0, std::memory_order_relaxed);
    }
}

void CpuProgram::work(std::int32_t index) noexcept {
    using Clock = std::chrono::steady_clock;
    const ProgramImage& image = m_parts.image;
    Worker worker{
        .step = m_step, .index = index, .scratch = m_step.workers + index * image.workerFloats};
    if (m_step.tokens > kRopeAloneTokens && !image.ropes.empty()) {
        const RowRange own = ownRows(worker, m_step.tokens);
        fillRopeTables(m_step, own.first, own.last);
        m_step.pool->barrier();
    }
    const bool isTiming = m_isProfiling && index == 0;
    Clock::time_point start = isTiming ? Clock::now() : Clock::time_point{};
    for (std::size_t i = 0; i < image.stages.size(); ++i) {
        const Stage& stage = image.stages[i];
        if (worker.rows(stage.rows) == 0) {
            continue;
        }
        if (stage.matMul) {
            runMatMulStage(stage, worker, m_step.nextItem[i]);
        } else if (stage.attention) {
            runAttentionStage(stage, worker, m_step.nextItem[i]);
        } else {
            runRowStage(stage, worker);
        }
        // The end of the run is the last stage's barrier.
        if (i + 1 < image.stages.size()) {
            m_step.pool->barrier();
        }
        if (isTiming) {
            const Clock::time_point now = Clock::now();
            m_nanoseconds[i] +=
                std::chrono::duration_cast<std::chrono::nanoseconds>(now - start).count();
            start = now;
        }
    }
}

void CpuProgram::setProfiling(bool isOn) {
    if (isOn && !m_isProfiling) {
        m_profiledSteps = 0;
        std::fill(m_nanoseconds.begin(), m_nanoseconds.end(), 0);
    }
    m_isProfiling = isOn;
}

std::vector<OpTiming> CpuProgram::timings() const {
    std::vector<OpTiming> timings;
    for (std::size_t i = 0; i < m_nanoseconds.size(); ++i) {
        timings.push_back({.name = m_parts.image.stages[i].name,
                           .calls = m_profiledSteps,
                           .nanoseconds = m_nanoseconds[i]});
    }
    return timings;
}

std::string CpuProgram::describe() const {
    std::string text = "CPU, " + m_parts.tier + ", " + number(m_parts.pool->threads()) +
                       " threads, " + number(barriersPerStep()) + " barriers for one token, " +
                       number(scratchBytes() >> 10) + " KiB scratch\n";
    for (const Stage& stage : m_parts.image.stages) {
        text += stage.name;
        if (stage.matMul) {
            for (const Bundle& bundle : stage.matMul->bundles) {
                for (const MatMulStep& step : bundle.matMuls) {
                    text += " [" + number(step.weight->outputs()) + "×" +
                            number(step.weight->inputs()) +
                            (step.weight->takesQ8() ? " q8" : " f32") + "]";
                }
            }
        }
        text += "\n";
    }
    return text;
}

std::int64_t CpuProgram::barriersPerStep() const {
    std::int64_t barriers = 0;
    for (const Stage& stage : m_parts.image.stages) {
        barriers += stageBarriers(stage, 1, true);
    }
    return barriers;
}

}  // namespace quern::kernels::cpu
