#include "tests/support/fake_runner.h"

#include <algorithm>
#include <string>
#include <utility>

namespace quern::test {

namespace {

using engine::TokenId;

std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15ULL;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

class FakeProgram final : public kernels::Program {
public:
    [[nodiscard]] const kernels::OpList& ops() const override { return m_ops; }
    explicit FakeProgram(std::int64_t weightBytes) : m_weightBytes(weightBytes) {}
    [[nodiscard]] std::int64_t weightBytes() const override { return m_weightBytes; }
    [[nodiscard]] std::int64_t scratchBytes() const override { return 1 << 16; }
    void setProfiling(bool /*isOn*/) override {}
    [[nodiscard]] std::vector<kernels::OpTiming> timings() const override { return {}; }
    [[nodiscard]] std::string describe() const override { return "fake"; }
    [[nodiscard]] std::int64_t barriersPerStep() const override { return 0; }

private:
    std::int64_t m_weightBytes;
    kernels::OpList m_ops;
};

std::size_t slotIndex(std::int32_t block, std::int32_t position) {
    return static_cast<std::size_t>(block) * kernels::kBlockTokens +
           static_cast<std::size_t>(position % kernels::kBlockTokens);
}

std::int32_t tableEntry(const engine::GroupTable& table, std::size_t slice, std::int32_t position) {
    const auto block = static_cast<std::int64_t>(position / kernels::kBlockTokens);
    if (block >= table.stride) {
        return -1;
    }
    return table
        .blocks[slice * static_cast<std::size_t>(table.stride) + static_cast<std::size_t>(block)];
}

}  // namespace

FakeRunner::FakeRunner(FakeModel model)
    : m_model(std::move(model)), m_program(std::make_unique<FakeProgram>(m_model.weightBytes)) {
    m_layout.groups = static_cast<std::int32_t>(m_model.windows.size());
    for (std::size_t g = 0; g < m_model.windows.size(); ++g) {
        const auto group = static_cast<std::int32_t>(g);
        const bool isState = m_model.windows[g] == FakeModel::kState;
        m_groups.push_back(
            engine::KvGroupSpec{.window = isState ? 0 : m_model.windows[g], .isState = isState});
        if (isState) {
            m_layout.states.push_back({.group = group, .floats = 64});
        } else {
            m_layout.layers.push_back({.group = group, .kvHeads = 1, .keyDim = 8, .valueDim = 8});
        }
    }
    m_layout.type = kernels::DType::kF16;
}

FakeRunner::~FakeRunner() = default;

kernels::Program& FakeRunner::program() {
    return *m_program;
}

Status FakeRunner::allocateKv(std::span<const std::int64_t> blocks) {
    m_memory.clear();
    m_states.clear();
    for (const std::int64_t count : blocks) {
        m_memory.emplace_back(static_cast<std::size_t>(count) * kernels::kBlockTokens);
        m_states.emplace_back(static_cast<std::size_t>(count));
    }
    m_after.resize(blocks.size());
    return {};
}

std::int64_t FakeRunner::kvBytes() const {
    std::int64_t bytes = 0;
    for (std::size_t g = 0; g < m_memory.size(); ++g) {
        bytes += static_cast<std::int64_t>(m_memory[g].size()) / kernels::kBlockTokens *
                 kernels::kvBlockBytes(m_layout, static_cast<std::int32_t>(g));
    }
    return bytes;
}

Status FakeRunner::write(const engine::BatchPlan& plan, std::size_t slice, std::size_t group) {
    const kernels::SequenceSlice tokens = plan.slices[slice];
    for (std::int32_t t = tokens.firstToken; t < tokens.firstToken + tokens.tokenCount; ++t) {
        const std::int32_t position = plan.positions[static_cast<std::size_t>(t)];
        const std::int32_t block = tableEntry(plan.tables[group], slice, position);
        if (block < 0) {
            return fail(ErrorCode::kInternal, "group " + std::to_string(group) +
                                                  " holds no block to write token " +
                                                  std::to_string(position));
        }
        m_memory[group][slotIndex(block, position)] =
            Slot{.token = plan.tokens[static_cast<std::size_t>(t)], .position = position};
    }
    return {};
}

Status FakeRunner::advance(const engine::BatchPlan& plan, std::size_t slice, std::size_t group) {
    const kernels::SequenceSlice tokens = plan.slices[slice];
    const std::int32_t first = plan.positions[static_cast<std::size_t>(tokens.firstToken)];
    const std::int32_t last = first + tokens.tokenCount - 1;
    const auto stateAt = [&](std::int32_t position) -> State* {
        const std::int32_t block = tableEntry(plan.tables[group], slice, position);
        return block < 0 ? nullptr : &m_states[group][static_cast<std::size_t>(block)];
    };
    std::uint64_t hash = 0;
    if (first > 0) {
        const State* before = stateAt(first - 1);
        if (before == nullptr || before->position != first - 1) {
            return fail(ErrorCode::kInternal, "group " + std::to_string(group) +
                                                  " holds no state after token " +
                                                  std::to_string(first - 1) + " for the next one");
        }
        hash = before->hash;
    }
    for (std::int32_t position = first; position <= last; ++position) {
        const auto t = static_cast<std::size_t>(tokens.firstToken + position - first);
        hash = mix(hash ^ static_cast<std::uint64_t>(plan.tokens[t]));
        m_after[group][t] = hash;
        State* state = stateAt(position);
        if (position == last && state == nullptr) {
            return fail(ErrorCode::kInternal, "group " + std::to_string(group) +
                                                  " holds no block for the state after token " +
                                                  std::to_string(last));
        }
        if (state != nullptr && (position == last || (position + 1) % kernels::kBlockTokens == 0)) {
            *state = State{.hash = hash, .position = position};
        }
    }
    return {};
}

Result<std::uint64_t> FakeRunner::readBack(const engine::BatchPlan& plan, std::size_t slice,
                                           std::size_t row) {
    const std::int32_t position = plan.positions[row];
    std::uint64_t hash = m_model.seed;
    m_history.clear();
    for (std::size_t g = 0; g < m_memory.size(); ++g) {
        const auto window = static_cast<std::int32_t>(m_model.windows[g]);
        const std::int32_t first = window == 0 ? 0 : std::max(0, position - window + 1);
        hash = mix(hash ^ g);
        if (m_groups[g].isState) {
            hash = mix(hash ^ m_after[g][row]);
            continue;
        }
        for (std::int32_t i = first; i <= position; ++i) {
            const std::int32_t block = tableEntry(plan.tables[g], slice, i);
            if (block < 0) {
                return fail(ErrorCode::kInternal, "group " + std::to_string(g) +
                                                      " holds no block for token " +
                                                      std::to_string(i) + " as token " +
                                                      std::to_string(position) + " reads it");
            }
            const Slot& slot = m_memory[g][slotIndex(block, i)];
            if (slot.position != i) {
                return fail(ErrorCode::kInternal, "group " + std::to_string(g) + " block " +
                                                      std::to_string(block) + " holds token " +
                                                      std::to_string(slot.position) +
                                                      " in place of " + std::to_string(i));
            }
            hash = mix(hash ^ static_cast<std::uint64_t>(slot.token));
            if (window == 0 && m_history.size() <= static_cast<std::size_t>(i)) {
                m_history.push_back(slot.token);
            }
        }
    }
    return hash;
}

Result<std::span<float>> FakeRunner::run(const engine::BatchPlan& plan) {
    if (m_model.beforeStep) {
        if (Status status = m_model.beforeStep(); !status) {
            return forward(status);
        }
    }
    for (const engine::BlockCopy& copy : plan.copies) {
        const auto group = static_cast<std::size_t>(copy.group);
        auto& memory = m_memory[group];
        std::copy_n(memory.begin() + static_cast<std::ptrdiff_t>(slotIndex(copy.from, 0)),
                    kernels::kBlockTokens,
                    memory.begin() + static_cast<std::ptrdiff_t>(slotIndex(copy.to, 0)));
        m_states[group][static_cast<std::size_t>(copy.to)] =
            m_states[group][static_cast<std::size_t>(copy.from)];
    }
    for (std::size_t g = 0; g < m_memory.size(); ++g) {
        m_after[g].resize(plan.tokens.size());
        for (std::size_t s = 0; s < plan.slices.size(); ++s) {
            Status status = m_groups[g].isState ? advance(plan, s, g) : write(plan, s, g);
            if (!status) {
                return forward(status);
            }
        }
    }
    const auto vocab = static_cast<std::size_t>(m_model.vocab);
    m_logits.resize(plan.outputRows.size() * vocab);
    for (std::size_t r = 0; r < plan.outputRows.size(); ++r) {
        const auto row = static_cast<std::size_t>(plan.outputRows[r]);
        auto hash = readBack(plan, static_cast<std::size_t>(plan.outputSlice[r]), row);
        if (!hash) {
            return forward(hash);
        }
        for (std::size_t v = 0; v < vocab; ++v) {
            m_logits[r * vocab + v] =
                static_cast<float>(mix(*hash + v) >> 40) * (8.0F / 16777216.0F);
        }
        if (m_model.script) {
            m_logits[r * vocab + static_cast<std::size_t>(m_model.script(m_history))] = 40.0F;
        }
    }
    return std::span<float>(m_logits);
}

}  // namespace quern::test
