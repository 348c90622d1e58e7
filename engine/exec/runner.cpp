#include "engine/exec/runner.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace quern::engine {

namespace {

Status broken(const std::string& what) {
    return fail(ErrorCode::kInternal, "batch plan: " + what);
}

/// The sizes that must agree before pointers into the plan are handed to a device.
Status checkPlan(const BatchPlan& plan, std::size_t groups) {
    if (plan.tokens.size() != plan.positions.size()) {
        return broken(std::to_string(plan.positions.size()) + " positions for " +
                      std::to_string(plan.tokens.size()) + " tokens");
    }
    std::size_t next = 0;
    for (const kernels::SequenceSlice& slice : plan.slices) {
        if (slice.firstToken < 0 || static_cast<std::size_t>(slice.firstToken) != next ||
            slice.tokenCount <= 0) {
            return broken("slice at token " + std::to_string(slice.firstToken) + " of " +
                          std::to_string(slice.tokenCount) + " tokens where " +
                          std::to_string(next) + " follows");
        }
        next += static_cast<std::size_t>(slice.tokenCount);
    }
    if (next != plan.tokens.size()) {
        return broken("slices cover " + std::to_string(next) + " of " +
                      std::to_string(plan.tokens.size()) + " tokens");
    }
    if (plan.tables.size() != groups) {
        return broken(std::to_string(plan.tables.size()) + " block tables for " +
                      std::to_string(groups) + " groups");
    }
    for (const GroupTable& table : plan.tables) {
        if (table.stride < 0 ||
            table.blocks.size() != plan.slices.size() * static_cast<std::size_t>(table.stride)) {
            return broken("a table of " + std::to_string(table.blocks.size()) + " blocks for " +
                          std::to_string(plan.slices.size()) + " sequences of stride " +
                          std::to_string(table.stride));
        }
    }
    if (!plan.adapters.empty() && plan.adapters.size() != plan.slices.size()) {
        return broken(std::to_string(plan.adapters.size()) + " adapters for " +
                      std::to_string(plan.slices.size()) + " sequences");
    }
    for (const std::int32_t row : plan.outputRows) {
        if (row < 0 || static_cast<std::size_t>(row) >= plan.tokens.size()) {
            return broken("output row " + std::to_string(row) + " of " +
                          std::to_string(plan.tokens.size()) + " tokens");
        }
    }
    return {};
}

class ProgramRunner final : public Runner {
public:
    ProgramRunner(kernels::Backend& backend, std::unique_ptr<kernels::Program> program,
                  kernels::KvLayout kv, std::vector<KvGroupSpec> groups,
                  std::shared_ptr<const MatrixLayout> layout)
        : m_backend(backend),
          m_kv(std::move(kv)),
          m_groups(std::move(groups)),
          m_program(std::move(program)),
          m_layout(std::move(layout)) {
        const kernels::OpList& ops = m_program->ops();
        m_outputCols = ops.values[static_cast<std::size_t>(ops.output)].cols;
    }

    const kernels::KvLayout& kvLayout() const override { return m_kv; }
    std::span<const KvGroupSpec> groups() const override { return m_groups; }
    kernels::Program& program() override { return *m_program; }
    std::int64_t vocabSize() const override { return m_outputCols; }

    Status allocateKv(std::span<const std::int64_t> blocks) override {
        auto cache = m_backend.allocateKv(m_kv, blocks);
        if (!cache) {
            return forward(cache);
        }
        m_cache = std::move(*cache);
        return {};
    }

    std::int64_t kvBytes() const override {
        std::int64_t bytes = 0;
        for (std::int32_t group = 0; m_cache && group < m_kv.groups; ++group) {
            bytes += m_cache->blocks(group) * m_cache->blockBytes(group);
        }
        return bytes;
    }

    std::shared_ptr<const AdapterMaker> adapterMaker() const override {
        return m_layout ? std::make_shared<AdapterMaker>(m_backend, m_program, m_layout) : nullptr;
    }

    void setAdapter(std::int32_t slot, std::unique_ptr<const kernels::Adapter> adapter) override {
        const auto index = static_cast<std::size_t>(slot);
        m_slots.resize(std::max(m_slots.size(), index + 1));
        m_slots[index] = std::move(adapter);
    }

    Result<std::span<float>> run(const BatchPlan& plan) override {
        if (!m_cache) {
            return fail(ErrorCode::kInternal, "a step before its KV cache was allocated");
        }
        if (auto status = checkPlan(plan, m_groups.size()); !status) {
            return forward(status);
        }
        for (const BlockCopy& copy : plan.copies) {
            if (auto status = m_backend.copyBlock(*m_cache, copy.group, copy.from, copy.to);
                !status) {
                return forward(status);
            }
        }
        m_tables.clear();
        for (const GroupTable& table : plan.tables) {
            m_tables.push_back({.blocks = table.blocks, .stride = table.stride});
        }
        if (auto status = chooseAdapters(plan); !status) {
            return forward(status);
        }
        m_logits.resize(plan.outputRows.size() * static_cast<std::size_t>(m_outputCols));
        const kernels::StepInputs inputs{.tokens = plan.tokens,
                                         .positions = plan.positions,
                                         .sequences = plan.slices,
                                         .tables = m_tables,
                                         .outputRows = plan.outputRows,
                                         .tokenTypes = plan.tokenTypes,
                                         .adapters = m_adapters};
        const auto ticket = m_backend.submit(*m_program, *m_cache, inputs, {.rows = m_logits});
        if (!ticket) {
            return tl::unexpected<Error>(ticket.error());
        }
        if (auto status = m_backend.wait(*ticket); !status) {
            return forward(status);
        }
        return std::span<float>(m_logits);
    }

private:
    Status chooseAdapters(const BatchPlan& plan) {
        m_adapters.clear();
        if (std::ranges::all_of(plan.adapters, [](std::int32_t slot) { return slot < 0; })) {
            return {};
        }
        for (const std::int32_t slot : plan.adapters) {
            const auto index = static_cast<std::size_t>(slot);
            if (slot >= 0 && (index >= m_slots.size() || !m_slots[index])) {
                return broken("adapter slot " + std::to_string(slot) + " is empty");
            }
            m_adapters.push_back(slot < 0 ? nullptr : m_slots[index].get());
        }
        return {};
    }

    kernels::Backend& m_backend;
    kernels::KvLayout m_kv;
    std::vector<KvGroupSpec> m_groups;
    std::shared_ptr<kernels::Program> m_program;
    std::shared_ptr<const MatrixLayout> m_layout;
    std::vector<std::unique_ptr<const kernels::Adapter>> m_slots;
    std::unique_ptr<kernels::KvCache> m_cache;
    std::int64_t m_outputCols = 0;
    std::vector<kernels::BlockTables> m_tables;
    std::vector<const kernels::Adapter*> m_adapters;  // [S] of the step, or empty
    std::vector<float> m_logits;
};

}  // namespace

void Runner::setAdapter(std::int32_t /*slot*/,
                        std::unique_ptr<const kernels::Adapter> /*adapter*/) {}

Result<std::unique_ptr<Runner>> Runner::create(kernels::Backend& backend, ModelSource& source,
                                               const RunnerOptions& options) {
    ModelSpec spec = source.spec;
    spec.pooling = options.pooling.value_or(spec.pooling);
    auto pass = buildForward(spec, *source.tensors, options.contextTokens);
    if (!pass) {
        return forward(pass);
    }
    pass->kv.type = options.kvType;
    kernels::CompileOptions compile = options.compile;
    compile.progress = [&](double share) {
        source.tensors->releasePages();  // what was taken over need not stay beside its copy
        return !options.compile.progress || options.compile.progress(share);
    };
    // Weights that are tied have the same bytes.
    std::map<const std::byte*, int> users;
    for (const kernels::TensorView& weight : pass->weights) {
        ++users[weight.data];
    }
    compile.taken = [&](kernels::WeightId id) {
        const kernels::TensorView& weight = pass->weights[static_cast<std::size_t>(id)];
        if (--users[weight.data] == 0) {
            source.tensors->release(weight);
        }
    };
    auto program = backend.compile(std::move(pass->ops), pass->kv, pass->weights, compile);
    if (!program) {
        return forward(program);
    }
    source.tensors->releasePages();
    return std::make_unique<ProgramRunner>(backend, std::move(*program), std::move(pass->kv),
                                           std::move(pass->groups), source.layout);
}

}  // namespace quern::engine
