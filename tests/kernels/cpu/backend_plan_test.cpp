// What compiling makes of an op list: stages, barriers, scratch, weights that are kept once.
#include <gtest/gtest.h>

#include <set>

#include "kernels/cpu/plan.h"
#include "tests/kernels/cpu/session.h"

namespace quern::kernels::test {
namespace {

std::unique_ptr<Program> compile(Backend& backend, const TestList& list,
                                 const CompileOptions& options = {}) {
    auto program = backend.compile(list.ops, list.kv, list.views(), options);
    EXPECT_TRUE(program.has_value()) << (program ? "" : program.error().message);
    return program ? std::move(*program) : nullptr;
}

ModelShape quantized(std::int64_t layers) {
    return {.layers = layers, .type = DType::kQ8_0, .tableType = DType::kQ8_0};
}

TEST(Plan, FiveBarriersALayer) {
    const auto backend = makeBackend(CpuTier::kAuto, 2);
    const auto barriers = [&](ModelShape shape, std::int64_t layers) {
        shape.layers = layers;
        return compile(*backend, makeModel(shape, 1))->barriersPerStep();
    };
    const ModelShape llama = quantized(1);
    EXPECT_EQ(barriers(llama, 5) - barriers(llama, 4), 5);
    // The head's stage takes one more.
    EXPECT_EQ(barriers(llama, 1), 6);
    ModelShape gemma = quantized(1);
    gemma.hasQkNorm = true;
    gemma.hasPostNorm = true;
    gemma.window = 20;
    EXPECT_EQ(barriers(gemma, 5) - barriers(gemma, 4), 5);
    ModelShape parallel = quantized(1);
    parallel.isParallel = true;
    EXPECT_EQ(barriers(parallel, 5) - barriers(parallel, 4), 4);
    // A norm over the whole row of q can't be done head by head: a barrier before attention.
    ModelShape olmo = quantized(1);
    olmo.hasQkNorm = true;
    olmo.isQkNormWholeRow = true;
    EXPECT_EQ(barriers(olmo, 5) - barriers(olmo, 4), 6);
}

TEST(Plan, EveryOpIsInExactlyOneStage) {
    const TestList list = makeModel({.hasQkNorm = true, .hasPostNorm = true, .window = 9}, 2);
    for (const bool isReference : {false, true}) {
        const std::vector<bool> takesQ8(list.ops.weights.size(), true);
        const cpu::Plan plan = cpu::makePlan(list.ops, list.kv, takesQ8, isReference);
        std::multiset<std::int32_t> seen;
        for (const cpu::PlanStage& stage : plan.stages) {
            std::size_t inStage = stage.prologue.size() + (stage.attention ? 1 : 0);
            for (const cpu::PlanOp& op : stage.prologue) {
                seen.insert(op.op);
            }
            for (const cpu::PlanBundle& bundle : stage.bundles) {
                inStage += bundle.matMuls.size() + bundle.epilogue.size();
                for (const cpu::PlanOp& op : bundle.matMuls) {
                    seen.insert(op.op);
                }
                for (const cpu::PlanOp& op : bundle.epilogue) {
                    seen.insert(op.op);
                }
            }
            if (stage.attention) {
                seen.insert(stage.attention->op);
            }
            EXPECT_TRUE(!isReference || inStage == 1);
        }
        EXPECT_EQ(seen.size(), list.ops.ops.size());
        EXPECT_EQ(std::set<std::int32_t>(seen.begin(), seen.end()).size(), seen.size());
    }
}

TEST(Plan, NamesAreKeptAndTimed) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    const TestList list = makeModel(quantized(2), 1);
    Session session(*backend, list, {randomTokens(20, 50, 1)});
    session.program().setProfiling(true);
    session.runAll(5);
    const std::vector<OpTiming> timings = session.program().timings();
    ASSERT_FALSE(timings.empty());
    std::string all;
    for (const OpTiming& timing : timings) {
        EXPECT_EQ(timing.calls, 4) << timing.name;
        EXPECT_GT(timing.nanoseconds, 0) << timing.name;
        all += timing.name + "\n";
    }
    EXPECT_NE(all.find("layer 1 / mlp.norm, up, gate, glu"), std::string::npos) << all;
    EXPECT_NE(session.program().describe().find("layer 1 / mlp.norm, up, gate, glu"),
              std::string::npos);
    session.program().setProfiling(false);
    session.program().setProfiling(true);
    EXPECT_EQ(session.program().timings()[0].calls, 0);
}

TEST(Plan, ScratchDoesNotGrowWithLayers) {
    const auto backend = makeBackend(CpuTier::kAuto, 2);
    const auto few = compile(*backend, makeModel(quantized(3), 1))->scratchBytes();
    const auto many = compile(*backend, makeModel(quantized(12), 1))->scratchBytes();
    EXPECT_EQ(few, many);
}

TEST(Plan, ATableThatIsAlsoTheHeadIsKeptOnce) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    ModelShape shape = quantized(1);
    shape.vocab = 4000;
    const std::int64_t separate = compile(*backend, makeModel(shape, 1))->weightBytes();
    shape.isTied = true;
    const std::int64_t tied = compile(*backend, makeModel(shape, 1))->weightBytes();
    const std::int64_t table = 4000 * 64 / 32 * 34;
    EXPECT_GE(separate - tied, table);
}

TEST(Plan, ProgressIsToldAndCanCancel) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    const TestList list = makeModel(quantized(2), 1);
    double last = 0.0;
    CompileOptions options;
    options.progress = [&](double done) {
        EXPECT_GE(done, last);
        last = done;
        return true;
    };
    EXPECT_NE(compile(*backend, list, options), nullptr);
    EXPECT_DOUBLE_EQ(last, 1.0);
    options.progress = [](double done) { return done < 0.5; };
    const auto cancelled = backend->compile(list.ops, list.kv, list.views(), options);
    ASSERT_FALSE(cancelled.has_value());
    EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled);
}

TEST(Plan, EachWeightIsToldOnceWhenItsBytesAreDoneWith) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    ModelShape shape = quantized(2);
    shape.isTied = true;
    const TestList list = makeModel(shape, 1);
    std::vector<int> told(list.views().size(), 0);
    CompileOptions options;
    options.taken = [&](WeightId weight) { ++told.at(static_cast<std::size_t>(weight)); };
    EXPECT_NE(compile(*backend, list, options), nullptr);
    EXPECT_EQ(told, std::vector<int>(told.size(), 1));
}

}  // namespace
}  // namespace quern::kernels::test
