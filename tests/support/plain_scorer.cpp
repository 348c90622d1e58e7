#include "tests/support/plain_scorer.h"

#include <algorithm>

#include "kernels/quant.h"

namespace quern::test {

namespace {

using engine::TokenId;

class PlainScorer final : public engine::Scorer {
public:
    PlainScorer(std::unique_ptr<kernels::Backend> backend, std::unique_ptr<engine::Runner> runner,
                const engine::ScoreOptions& options, bool isQuantized)
        : m_backend(std::move(backend)),
          m_runner(std::move(runner)),
          m_options(options),
          m_isQuantized(isQuantized) {}

    std::int64_t vocabSize() const override { return m_runner->vocabSize(); }
    bool isQuantized() const override { return m_isQuantized; }

    Result<std::vector<float>> logits(std::span<const TokenId> ids) override {
        // Sequence 0 is the one asked for; each further one starts later in the same ids.
        std::vector<std::span<const TokenId>> sequences;
        for (std::int32_t copy = 0; copy < std::max(m_options.batch, 1); ++copy) {
            const std::size_t skip = std::min(static_cast<std::size_t>(copy) * 3, ids.size() - 1);
            sequences.push_back(ids.subspan(skip));
        }
        const auto stride = static_cast<std::int64_t>((ids.size() + kernels::kBlockTokens - 1) /
                                                      kernels::kBlockTokens);
        const std::vector<std::int64_t> blocks(
            m_runner->groups().size(), stride * static_cast<std::int64_t>(sequences.size()));
        if (auto status = m_runner->allocateKv(blocks); !status) {
            return forward(status);
        }
        const std::size_t chunk =
            m_options.chunk > 0 ? static_cast<std::size_t>(m_options.chunk) : kMostTokens;
        std::vector<std::size_t> done(sequences.size(), 0);
        std::vector<float> all;
        while (done[0] < ids.size()) {
            auto logits = m_runner->run(nextStep(sequences, done, stride, chunk));
            if (!logits) {
                return forward(logits);
            }
            all.insert(all.end(), logits->begin(), logits->end());
        }
        return all;
    }

    static constexpr std::size_t kMostTokens = 128;

private:
    engine::BatchPlan nextStep(const std::vector<std::span<const TokenId>>& sequences,
                               std::vector<std::size_t>& done, std::int64_t stride,
                               std::size_t chunk) const {
        engine::BatchPlan plan;
        std::vector<std::int32_t> table;
        // Last to first, so that the rows asked for do not come first.
        for (std::size_t s = sequences.size(); s-- > 0;) {
            const std::size_t count = std::min(chunk, sequences[s].size() - done[s]);
            if (count == 0) {
                continue;
            }
            plan.slices.push_back({.firstToken = static_cast<std::int32_t>(plan.tokens.size()),
                                   .tokenCount = static_cast<std::int32_t>(count)});
            plan.sequences.push_back(s);
            for (std::size_t i = 0; i < count; ++i) {
                if (s == 0) {
                    plan.outputRows.push_back(static_cast<std::int32_t>(plan.tokens.size()));
                    plan.outputSlice.push_back(static_cast<std::int32_t>(plan.slices.size() - 1));
                }
                plan.tokens.push_back(sequences[s][done[s] + i]);
                plan.positions.push_back(static_cast<std::int32_t>(done[s] + i));
            }
            done[s] += count;
            for (std::int64_t i = 0; i < stride; ++i) {
                table.push_back(
                    static_cast<std::int32_t>(static_cast<std::int64_t>(s) * stride + i));
            }
        }
        plan.tables.assign(m_runner->groups().size(), {.blocks = table, .stride = stride});
        return plan;
    }

    std::unique_ptr<kernels::Backend> m_backend;
    std::unique_ptr<engine::Runner> m_runner;
    engine::ScoreOptions m_options;
    bool m_isQuantized;
};

}  // namespace

Result<std::unique_ptr<engine::Scorer>> makePlainScorer(const std::filesystem::path& model,
                                                        const engine::ScoreOptions& options) {
    if (options.prefix) {
        return fail(ErrorCode::kUnsupported, "the plain scorer has no prefix cache");
    }
    auto source = engine::openModel(model);
    if (!source) {
        return forward(source);
    }
    auto backend = kernels::makeCpuBackend({.threads = options.threads, .tier = options.tier});
    if (!backend) {
        return forward(backend);
    }
    bool isQuantized = false;
    for (const std::string& name : source->tensors->names()) {
        isQuantized = isQuantized || kernels::traits(source->tensors->find(name)->type).isQuantized;
    }
    const std::int64_t chunk =
        options.chunk > 0 ? options.chunk : static_cast<std::int64_t>(PlainScorer::kMostTokens);
    const std::int64_t most = chunk * std::max(options.batch, 1);
    auto runner = engine::Runner::create(
        **backend, *source,
        {.kvType = options.kvType,
         .compile = {.activations = options.activations, .maxTokens = most, .maxOutputs = most}});
    if (!runner) {
        return forward(runner);
    }
    return std::make_unique<PlainScorer>(std::move(*backend), std::move(*runner), options,
                                         isQuantized);
}

}  // namespace quern::test
