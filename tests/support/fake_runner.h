#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/exec/runner.h"
#include "engine/text.h"

namespace quern::test {

/// A model without weights whose answers depend on everything a paged cache can get wrong. It keeps
/// (token, position) by block and slot; the logits of a token are a hash of what it reads back
/// through the block tables, group by group, each over its window. A group of states keeps a hash
/// of all tokens so far instead. A wrong, stale or missing block is an error or gives other tokens.
struct FakeModel {
    static constexpr std::int64_t kState = -1;  // in place of a window: a group of states
    std::int64_t vocab = 97;
    std::vector<std::int64_t> windows = {0};  // [groups]; 0: sees all
    std::uint64_t seed = 1;
    std::int64_t weightBytes = 1 << 20;
    /// When set, its token gets by far the best logit: a model that says what a test wants.
    std::function<engine::TokenId(std::span<const engine::TokenId> history)> script;
    /// Called at the start of every step on the engine's thread; an error fails the step.
    std::function<Status()> beforeStep;
};

class FakeRunner final : public engine::Runner {
public:
    explicit FakeRunner(FakeModel model);
    ~FakeRunner() override;

    [[nodiscard]] const kernels::KvLayout& kvLayout() const override { return m_layout; }
    [[nodiscard]] std::span<const engine::KvGroupSpec> groups() const override { return m_groups; }
    [[nodiscard]] Status allocateKv(std::span<const std::int64_t> blocks) override;
    [[nodiscard]] std::int64_t kvBytes() const override;
    [[nodiscard]] kernels::Program& program() override;
    [[nodiscard]] std::int64_t vocabSize() const override { return m_model.vocab; }
    [[nodiscard]] Result<std::span<float>> run(const engine::BatchPlan& plan) override;

private:
    struct Slot {
        engine::TokenId token = -1;
        std::int32_t position = -1;
    };
    struct State {
        std::uint64_t hash = 0;
        std::int32_t position = -1;  // of the token it was left behind by
    };
    [[nodiscard]] Status write(const engine::BatchPlan& plan, std::size_t slice, std::size_t group);
    [[nodiscard]] Status advance(const engine::BatchPlan& plan, std::size_t slice,
                                 std::size_t group);
    [[nodiscard]] Result<std::uint64_t> readBack(const engine::BatchPlan& plan, std::size_t slice,
                                                 std::size_t row);

    FakeModel m_model;
    kernels::KvLayout m_layout;
    std::vector<engine::KvGroupSpec> m_groups;
    std::unique_ptr<kernels::Program> m_program;
    std::vector<std::vector<Slot>> m_memory;          // [groups][blocks · kBlockTokens]
    std::vector<std::vector<State>> m_states;         // [groups][blocks]
    std::vector<std::vector<std::uint64_t>> m_after;  // [groups][tokens of the step]
    std::vector<engine::TokenId> m_history;
    std::vector<float> m_logits;
};

}  // namespace quern::test
