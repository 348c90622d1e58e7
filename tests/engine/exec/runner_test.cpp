#include "engine/exec/runner.h"

#include <gtest/gtest.h>

#include "tests/support/memory_tensors.h"

namespace quern::engine {
namespace {

using kernels::BlockTables;

class FakeProgram final : public kernels::Program {
public:
    explicit FakeProgram(kernels::OpList ops) : m_ops(std::move(ops)) {}
    const kernels::OpList& ops() const override { return m_ops; }
    std::int64_t weightBytes() const override { return 0; }
    std::int64_t scratchBytes() const override { return 0; }
    void setProfiling(bool) override {}
    std::vector<kernels::OpTiming> timings() const override { return {}; }
    std::string describe() const override { return ""; }
    std::int64_t barriersPerStep() const override { return 0; }

private:
    kernels::OpList m_ops;
};

class FakeCache final : public kernels::KvCache {
public:
    FakeCache(kernels::KvLayout layout, std::vector<std::int64_t> blocks)
        : m_layout(std::move(layout)), m_blocks(std::move(blocks)) {}
    const kernels::KvLayout& layout() const override { return m_layout; }
    std::int64_t blocks(std::int32_t group) const override {
        return m_blocks[static_cast<std::size_t>(group)];
    }
    std::int64_t blockBytes(std::int32_t) const override { return 100; }

private:
    kernels::KvLayout m_layout;
    std::vector<std::int64_t> m_blocks;
};

/// Records what it is told, computes row r as tokens[outputRows[r]] in every column.
class FakeBackend final : public kernels::Backend {
public:
    kernels::DeviceInfo device() const override { return {}; }
    Result<std::unique_ptr<kernels::DeviceBuffer>> allocate(std::int64_t) override {
        return fail(ErrorCode::kUnsupported, "no buffers");
    }
    Status upload(kernels::DeviceBuffer&, std::int64_t, std::span<const std::byte>) override {
        return {};
    }
    Status download(const kernels::DeviceBuffer&, std::int64_t, std::span<std::byte>) override {
        return {};
    }
    Result<std::unique_ptr<kernels::KvCache>> allocateKv(
        const kernels::KvLayout& layout, std::span<const std::int64_t> blocks) override {
        if (blocks.size() != static_cast<std::size_t>(layout.groups)) {
            return fail(ErrorCode::kInvalidArgument, "blocks for other groups");
        }
        return std::make_unique<FakeCache>(layout,
                                           std::vector<std::int64_t>(blocks.begin(), blocks.end()));
    }
    Status copyBlock(kernels::KvCache&, std::int32_t group, std::int32_t from,
                     std::int32_t to) override {
        log += "copy " + std::to_string(group) + " " + std::to_string(from) + ">" +
               std::to_string(to) + "; ";
        return {};
    }
    Result<std::unique_ptr<kernels::Program>> compile(
        kernels::OpList ops, const kernels::KvLayout& kv,
        std::span<const kernels::TensorView> weights,
        const kernels::CompileOptions& options) override {
        compiledType = kv.type;
        EXPECT_TRUE(options.progress(0.5));  // as between two weights
        for (std::size_t i = 0; i < weights.size(); ++i) {
            options.taken(static_cast<kernels::WeightId>(i));
        }
        return std::make_unique<FakeProgram>(std::move(ops));
    }
    Result<std::unique_ptr<kernels::Adapter>> makeAdapter(
        const kernels::Program&, std::span<const kernels::LowRank>) override {
        return fail(ErrorCode::kUnsupported, "no adapters");
    }
    Result<kernels::StepTicket> submit(kernels::Program&, kernels::KvCache&,
                                       const kernels::StepInputs& inputs,
                                       kernels::StepOutputs outputs) override {
        log += "step of " + std::to_string(inputs.tokens.size()) + " with " +
               std::to_string(inputs.sequences.size()) + " sequences, stride " +
               std::to_string(inputs.tables[0].stride) + "; ";
        const std::size_t rows = inputs.outputRows.size();
        for (std::size_t r = 0; r < rows; ++r) {
            const auto token = inputs.tokens[static_cast<std::size_t>(inputs.outputRows[r])];
            const std::size_t cols = outputs.rows.size() / rows;
            std::fill_n(outputs.rows.begin() + static_cast<std::ptrdiff_t>(r * cols), cols,
                        static_cast<float>(token));
        }
        return kernels::StepTicket{.id = ++m_steps};
    }
    Status wait(kernels::StepTicket ticket) override {
        log += "wait " + std::to_string(ticket.id) + "; ";
        return {};
    }

    std::string log;
    kernels::DType compiledType = kernels::DType::kI8;

private:
    std::uint64_t m_steps = 0;
};

/// A model without layers: embedding, norm, head.
struct Model {
    ModelSource source;
    test::MemoryTensors* tensors = nullptr;
};

Model emptyModel() {
    auto tensors = std::make_unique<test::MemoryTensors>();
    tensors->fill("token_embd.weight", {10, 4});
    tensors->fill("output_norm.weight", {4});
    Model model;
    model.tensors = tensors.get();
    model.source.spec = {.vocabSize = 10, .hiddenSize = 4, .isHeadTied = true};
    model.source.spec.layers.resize(1);
    LayerSpec& layer = model.source.spec.layers[0];
    layer.attention = {.heads = 1, .kvHeads = 1, .keyDim = 4, .valueDim = 4};
    layer.mlp.intermediate = 4;
    for (const char* name :
         {"attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down"}) {
        tensors->fill("blk.0." + std::string(name) + ".weight", {4, 4});
    }
    tensors->fill("blk.0.attn_norm.weight", {4});
    tensors->fill("blk.0.ffn_norm.weight", {4});
    model.source.tensors = std::move(tensors);
    return model;
}

BatchPlan twoSequences() {
    return {.tokens = {3, 4, 5},
            .positions = {0, 1, 7},
            .slices = {{0, 2}, {2, 1}},
            .sequences = {1, 2},
            .tables = {{.blocks = {0, -1, 1, 2}, .stride = 2}},
            .outputRows = {2, 1},
            .outputSlice = {1, 0},
            .copies = {{.group = 0, .from = 5, .to = 6}}};
}

std::unique_ptr<Runner> makeRunner(FakeBackend& backend, Model& model) {
    auto runner = Runner::create(backend, model.source, {.kvType = kernels::DType::kF32});
    EXPECT_TRUE(runner.has_value()) << runner.error().message;
    return runner ? std::move(*runner) : nullptr;
}

TEST(Runner, CompilesAndLetsGoOfTheFile) {
    FakeBackend backend;
    Model model = emptyModel();
    const auto runner = makeRunner(backend, model);
    ASSERT_NE(runner, nullptr);
    EXPECT_EQ(backend.compiledType, kernels::DType::kF32);
    EXPECT_EQ(runner->kvLayout().type, kernels::DType::kF32);
    EXPECT_EQ(runner->vocabSize(), 10);
    EXPECT_EQ(runner->groups().size(), 1U);
    EXPECT_EQ(model.tensors->releases(), 2) << "as it goes, and at the end";
    EXPECT_EQ(model.tensors->released(), static_cast<int>(model.tensors->names().size()))
        << "each once, also the one that is used twice";
    EXPECT_EQ(runner->kvBytes(), 0);
    const std::vector<std::int64_t> blocks = {8};
    ASSERT_TRUE(runner->allocateKv(blocks).has_value());
    EXPECT_EQ(runner->kvBytes(), 800);
}

TEST(Runner, CopiesBlocksThenRunsTheStep) {
    FakeBackend backend;
    Model model = emptyModel();
    const auto runner = makeRunner(backend, model);
    const std::vector<std::int64_t> blocks = {8};
    ASSERT_TRUE(runner->allocateKv(blocks).has_value());
    const auto logits = runner->run(twoSequences());
    ASSERT_TRUE(logits.has_value()) << logits.error().message;
    EXPECT_EQ(backend.log, "copy 0 5>6; step of 3 with 2 sequences, stride 2; wait 1; ");
    ASSERT_EQ(logits->size(), 20U);
    EXPECT_EQ((*logits)[0], 5.0F);
    EXPECT_EQ((*logits)[10], 4.0F);
}

TEST(Runner, RefusesPlansThatContradictThemselves) {
    FakeBackend backend;
    Model model = emptyModel();
    const auto runner = makeRunner(backend, model);
    EXPECT_EQ(runner->run(twoSequences()).error().message,
              "a step before its KV cache was allocated");
    const std::vector<std::int64_t> blocks = {8};
    ASSERT_TRUE(runner->allocateKv(blocks).has_value());
    const auto refusal = [&](auto change) {
        BatchPlan plan = twoSequences();
        change(plan);
        const auto logits = runner->run(plan);
        return logits ? "accepted" : logits.error().message;
    };
    EXPECT_EQ(refusal([](BatchPlan& p) { p.positions.pop_back(); }),
              "batch plan: 2 positions for 3 tokens");
    EXPECT_EQ(refusal([](BatchPlan& p) { p.slices[1].firstToken = 1; }),
              "batch plan: slice at token 1 of 1 tokens where 2 follows");
    EXPECT_EQ(refusal([](BatchPlan& p) { p.slices.pop_back(); }),
              "batch plan: slices cover 2 of 3 tokens");
    EXPECT_EQ(refusal([](BatchPlan& p) { p.tables.clear(); }),
              "batch plan: 0 block tables for 1 groups");
    EXPECT_EQ(refusal([](BatchPlan& p) { p.tables[0].stride = 3; }),
              "batch plan: a table of 4 blocks for 2 sequences of stride 3");
    EXPECT_EQ(refusal([](BatchPlan& p) { p.outputRows[0] = 3; }),
              "batch plan: output row 3 of 3 tokens");
    EXPECT_TRUE(backend.log.empty());
}

}  // namespace
}  // namespace quern::engine
