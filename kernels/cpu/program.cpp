#include "kernels/cpu/program.h"

#include <algorithm>
#include <chrono>

#include "kernels/cpu/check_step.h"
#include "kernels/cpu/low_rank.h"

namespace quern::kernels::cpu {

namespace {

// Angles of a few tokens take less time than the barrier after sharing them out.
constexpr std::int64_t kRopeAloneTokens = 4;

template <class T>
std::int64_t ssize(std::span<T> span) {
    return static_cast<std::int64_t>(span.size());
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
    step.adapters.reserve(static_cast<std::size_t>(program->m_parts.options.maxSequences));
    // Split by spans happens below 4 units a thread.
    step.spansDone = std::make_unique<std::atomic<std::int64_t>[]>(
        static_cast<std::size_t>(4 * pool->threads()));
    program->m_nanoseconds.resize(image.stages.size(), 0);
    return program;
}

std::int64_t CpuProgram::scratchBytes() const {
    return m_scratch.bytes() + m_step.partials.bytes() + m_step.lowRank.bytes();
}

Status CpuProgram::run(CpuKvCache& cache, const StepInputs& inputs, StepOutputs outputs) {
    const StepLimits limits{.image = m_parts.image,
                            .kv = m_parts.kv,
                            .options = m_parts.options,
                            .programId = m_parts.id};
    if (auto status = checkStep(limits, cache, inputs, outputs); !status) {
        return status;
    }
    setUp(cache, inputs, outputs);
    if (auto status = reservePartials(m_step); !status) {
        return status;
    }
    if (auto status = prepareAdapters(m_step); !status) {
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
        } else if (stage.grouped) {
            runGroupedStage(stage, worker, m_step.nextItem[i]);
        } else if (stage.attention) {
            runAttentionStage(stage, worker, m_step.nextItem[i]);
        } else if (stage.scan) {
            runScanStage(stage, worker, m_step.nextItem[i]);
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
    std::string text = "CPU, " + m_parts.tier + ", " + std::to_string(m_parts.pool->threads()) +
                       " threads, " + std::to_string(barriersPerStep()) +
                       " barriers for one token, " + std::to_string(scratchBytes() >> 10) +
                       " KiB scratch\n";
    for (const Stage& stage : m_parts.image.stages) {
        text += stage.name;
        if (stage.matMul) {
            for (const Bundle& bundle : stage.matMul->bundles) {
                for (const MatMulStep& step : bundle.matMuls) {
                    text += " [" + std::to_string(step.weight->outputs()) + "×" +
                            std::to_string(step.weight->inputs()) +
                            (step.weight->takesQ8() ? " q8" : " f32") + "]";
                }
            }
        }
        if (stage.grouped) {
            for (const GroupedBundle& bundle : stage.grouped->bundles) {
                for (const GroupedStep& step : bundle.steps) {
                    text += " [" + std::to_string(stage.grouped->slots) + " of " +
                            std::to_string(stage.grouped->matrices) + " " +
                            std::to_string(bundle.outputs) + "×" +
                            std::to_string(stage.grouped->inputs) +
                            (step.weights.front()->takesQ8() ? " q8" : " f32") + "]";
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
