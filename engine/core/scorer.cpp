#include <algorithm>
#include <string>
#include <utility>

#include "engine/core/kv_sizing.h"
#include "engine/exec/runner.h"
#include "engine/formats/model_source.h"
#include "engine/logprobs.h"
#include "engine/model/rope.h"
#include "engine/sched/scheduler.h"
#include "engine/score.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

constexpr std::int64_t kStepTokens = 2048;
// Rows of logits in a step: as many as fit some 256 MB, so that short texts run all at once.
constexpr std::int64_t kMostRowFloats = std::int64_t{1} << 26;
constexpr SequenceId kMain = 1;

std::string keyOf(std::int32_t slot) {
    return slot < 0 ? std::string() : std::to_string(slot);
}

class EngineScorer final : public Scorer {
public:
    EngineScorer(std::unique_ptr<kernels::Backend> backend, std::filesystem::path path,
                 ModelSource source, const ScoreOptions& options)
        : m_backend(std::move(backend)),
          m_path(std::move(path)),
          m_source(std::move(source)),
          m_options(options),
          m_maxRows(std::clamp<std::int64_t>(
              kMostRowFloats / std::max<std::int64_t>(1, m_source.spec.vocabSize), options.batch,
              kStepTokens)) {}

    /// A runner whose positions suit a sequence of so many tokens, if the last one's do not.
    [[nodiscard]] Status makeRunner(std::int64_t tokens);

    std::int64_t vocabSize() const override { return m_source.spec.vocabSize; }
    bool givesSamePositions(std::size_t tokens, std::size_t otherTokens) const override {
        const auto contextFor = [this](std::size_t size) {
            return ropeContext(m_source.spec, static_cast<std::int64_t>(size));
        };
        return contextFor(tokens) == contextFor(otherTokens);
    }
    bool isQuantized() const override { return m_isQuantized; }
    Result<std::vector<float>> logits(std::span<const TokenId> ids) override;

private:
    [[nodiscard]] Status check(std::span<const TokenId> ids) const;
    /// A cache in which the sequence and its neighbours have room, if the last one is too small.
    [[nodiscard]] Status makeCache(std::int64_t tokens);
    /// Computes the rows of `ids` from `rowsFrom` on; returns the tokens that a prefix hit served.
    [[nodiscard]] Result<std::int64_t> runFrom(std::span<const TokenId> ids, std::int64_t rowsFrom,
                                               std::vector<float>& rows);
    void addNeighbours(std::span<const TokenId> ids, Scheduler& scheduler) const;

    std::unique_ptr<kernels::Backend> m_backend;
    std::filesystem::path m_path;
    ModelSource m_source;  // without tensors once a runner has taken them over
    std::unique_ptr<Runner> m_runner;
    bool m_isQuantized = false;
    ScoreOptions m_options;
    std::int64_t m_maxRows;
    std::int64_t m_ropeTokens = 0;  // what the runner's positions were made for
    std::int64_t m_cacheTokens = 0;
    std::unique_ptr<KvManager> m_kv;
    BatchPlan m_plan;
};

Status EngineScorer::check(std::span<const TokenId> ids) const {
    const auto size = static_cast<std::int64_t>(ids.size());
    if (ids.empty()) {
        return failField("ids", "there are no ids to score");
    }
    const std::int64_t context = mostTokens(m_source.spec);
    if (size > context) {
        return failField("ids",
                         std::to_string(size) + " ids are more than the context of " +
                             std::to_string(context) + " tokens",
                         ErrorCode::kContextLength);
    }
    const auto wrong =
        std::ranges::find_if(ids, [this](TokenId id) { return id < 0 || id >= vocabSize(); });
    if (wrong != ids.end()) {
        return failField("ids", "id " + std::to_string(*wrong) + " at place " +
                                    std::to_string(wrong - ids.begin()) +
                                    "; the model has ids 0 to " + std::to_string(vocabSize() - 1));
    }
    return {};
}

Status EngineScorer::makeRunner(std::int64_t tokens) {
    const std::int64_t ropeTokens = ropeContext(m_source.spec, tokens);
    if (m_runner && ropeTokens == m_ropeTokens) {
        return {};
    }
    m_kv.reset();
    m_runner.reset();
    m_cacheTokens = 0;
    if (!m_source.tensors) {
        auto again = openModel(m_path);
        if (!again) {
            return forward(again);
        }
        m_source.tensors = std::move(again->tensors);
    }
    auto runner = Runner::create(*m_backend, m_source,
                                 {.kvType = m_options.kvType,
                                  .compile = {.activations = m_options.activations,
                                              .maxTokens = kStepTokens,
                                              .maxOutputs = m_maxRows,
                                              .maxSequences = m_options.batch},
                                  .contextTokens = ropeTokens});
    m_source.tensors.reset();
    if (!runner) {
        return tl::unexpected<Error>(runner.error());
    }
    for (std::size_t slot = 0; slot < m_options.adapters.size(); ++slot) {
        auto adapter = (*runner)->adapterMaker()->make(m_options.adapters[slot]);
        if (!adapter) {
            return tl::unexpected<Error>(adapter.error());
        }
        (*runner)->setAdapter(static_cast<std::int32_t>(slot), std::move(adapter->adapter));
    }
    m_runner = std::move(*runner);
    m_ropeTokens = ropeTokens;
    m_isQuantized = std::ranges::any_of(
        m_runner->program().ops().weights,
        [](const kernels::Weight& weight) { return kernels::traits(weight.type).isQuantized; });
    return {};
}

Status EngineScorer::makeCache(std::int64_t tokens) {
    if (tokens <= m_cacheTokens) {
        return {};
    }
    const std::int64_t sequences = m_options.batch;
    const KvSize size =
        kvSizeFor(m_runner->kvLayout(), m_runner->groups(),
                  {.contextTokens = tokens, .stepTokens = kStepTokens, .maxRunning = sequences},
                  tokens * sequences);
    m_kv.reset();
    if (Status status = m_runner->allocateKv(size.blocks); !status) {
        return status;
    }
    std::vector<KvGroupConfig> groups;
    for (std::size_t g = 0; g < size.blocks.size(); ++g) {
        const KvGroupSpec& group = m_runner->groups()[g];
        groups.push_back(
            {.blocks = size.blocks[g], .window = group.window, .isState = group.isState});
    }
    m_kv = std::make_unique<KvManager>(groups, m_options.prefix);
    m_cacheTokens = tokens;
    return {};
}

void EngineScorer::addNeighbours(std::span<const TokenId> ids, Scheduler& scheduler) const {
    for (std::int32_t n = 1; n < m_options.batch; ++n) {
        // Other lengths, and backwards, so that none shares blocks with the sequence itself.
        const std::size_t length =
            std::max<std::size_t>(1, ids.size() * static_cast<std::size_t>(n) /
                                         static_cast<std::size_t>(m_options.batch));
        std::vector<TokenId> tokens(ids.rbegin(),
                                    ids.rbegin() + static_cast<std::ptrdiff_t>(length));
        const auto id = kMain + static_cast<SequenceId>(n);
        // None, then each of the adapters, and so on.
        const std::int32_t slot =
            (n - 1) % (static_cast<std::int32_t>(m_options.adapters.size()) + 1) - 1;
        scheduler.add({.id = id,
                       .tokens = std::move(tokens),
                       .adapter = keyOf(slot),
                       .adapterSlot = slot,
                       .holder = {.request = id}});
    }
}

Result<std::int64_t> EngineScorer::runFrom(std::span<const TokenId> ids, std::int64_t rowsFrom,
                                           std::vector<float>& rows) {
    const auto vocab = static_cast<std::size_t>(m_runner->vocabSize());
    Scheduler scheduler(*m_kv, {.stepTokens = kStepTokens,
                                .maxOutputs = m_maxRows,
                                .maxRunning = m_options.batch,
                                .maxChunk = m_options.chunk});
    const std::int32_t slot = m_options.adapters.empty() ? -1 : 0;
    scheduler.add({.id = kMain,
                   .tokens = {ids.begin(), ids.end()},
                   .adapter = keyOf(slot),
                   .adapterSlot = slot,
                   .holder = {.request = kMain},
                   .rowsFrom = rowsFrom});
    addNeighbours(ids, scheduler);
    std::int64_t hit = 0;
    std::size_t missing = ids.size() - static_cast<std::size_t>(rowsFrom);
    while (missing > 0) {
        scheduler.plan(m_plan);
        for (const Admission& admission : scheduler.decisions().admitted) {
            hit = admission.id == kMain ? admission.hitTokens : hit;
        }
        if (m_plan.isEmpty()) {
            return fail(ErrorCode::kInternal, "the scheduler has no step for a sequence of " +
                                                  std::to_string(ids.size()) + " tokens");
        }
        auto logits = m_runner->run(m_plan);
        if (!logits) {
            return forward(logits);
        }
        scheduler.completed(m_plan);
        for (std::size_t r = 0; r < m_plan.outputRows.size(); ++r) {
            const std::span<const float> row = logits->subspan(r * vocab, vocab);
            const SequenceId id = m_plan.sequences[static_cast<std::size_t>(m_plan.outputSlice[r])];
            if (id == kMain) {
                const auto token = static_cast<std::size_t>(m_plan.outputRows[r]);
                const auto position = static_cast<std::size_t>(m_plan.positions[token]);
                std::ranges::copy(row,
                                  rows.begin() + static_cast<std::ptrdiff_t>(position * vocab));
                --missing;
            } else if (static_cast<std::int64_t>(scheduler.tokens(id).size()) < m_cacheTokens) {
                scheduler.append(id, std::max(0, bestToken(row)));
            } else {
                scheduler.remove(id);
            }
        }
    }
    scheduler.remove(kMain);
    for (std::int32_t n = 1; n < m_options.batch; ++n) {
        scheduler.remove(kMain + static_cast<SequenceId>(n));
    }
    return hit;
}

Result<std::vector<float>> EngineScorer::logits(std::span<const TokenId> ids) {
    if (Status status = check(ids); !status) {
        return forward(status);
    }
    if (Status status = makeRunner(static_cast<std::int64_t>(ids.size())); !status) {
        return forward(status);
    }
    if (Status status = makeCache(static_cast<std::int64_t>(ids.size())); !status) {
        return forward(status);
    }
    std::vector<float> rows(ids.size() * static_cast<std::size_t>(m_runner->vocabSize()));
    m_kv->forgetCached();
    auto run = runFrom(ids, 0, rows);
    // A hit covers whole blocks before the first row that is wanted: the second run computes what
    // lies behind the middle, and before it the first run's rows stay.
    const auto size = static_cast<std::int64_t>(ids.size());
    if (run && m_options.prefix && size > kernels::kBlockTokens) {
        // States are kept where the last full block begins or ends, not in the middle.
        const bool hasStates = std::ranges::any_of(m_runner->groups(), &KvGroupSpec::isState);
        const std::int64_t from = hasStates
                                      ? (size - 1) / kernels::kBlockTokens * kernels::kBlockTokens
                                      : std::max<std::int64_t>(kernels::kBlockTokens, size / 2);
        run = runFrom(ids, from, rows);
        if (run && *run == 0) {
            return fail(ErrorCode::kInternal, "no prefix was found of a sequence that just ran");
        }
    }
    if (!run) {
        return forward(run);
    }
    return rows;
}

Status checkOptions(const ScoreOptions& options) {
    if (options.chunk < 0 || options.chunk > kStepTokens) {
        return failField("chunk", "chunk is " + std::to_string(options.chunk) +
                                      "; it must be from 0 (all at once) to " +
                                      std::to_string(kStepTokens));
    }
    if (options.batch < 1 || options.batch > 256) {
        return failField(
            "batch", "batch is " + std::to_string(options.batch) + "; it must be from 1 to 256");
    }
    return {};
}

}  // namespace

Result<std::unique_ptr<Scorer>> Scorer::create(const std::filesystem::path& model,
                                               const ScoreOptions& options) {
    if (Status status = checkOptions(options); !status) {
        return forward(status);
    }
    auto source = openModel(model);
    if (!source) {
        return forward(source);
    }
    if (source->info.task != ModelTask::kGenerate) {
        return fail(ErrorCode::kUnsupported, "the model gives vectors or scores and no logits");
    }
    auto backend = kernels::makeCpuBackend({.threads = options.threads, .tier = options.tier});
    if (!backend) {
        return forward(backend);
    }
    auto scorer =
        std::make_unique<EngineScorer>(std::move(*backend), model, std::move(*source), options);
    if (Status status = scorer->makeRunner(1); !status) {
        return forward(status);
    }
    return Result<std::unique_ptr<Scorer>>(std::move(scorer));
}

}  // namespace quern::engine
