// Wrong op lists, steps and sizes give errors that name what is wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "tests/kernels/cpu/session.h"

namespace quern::kernels::test {
namespace {

template <class T>
T& opOf(TestList& list, std::size_t nth = 0) {
    for (Op& op : list.ops.ops) {
        if (T* found = std::get_if<T>(&op.op)) {
            if (nth-- == 0) {
                return *found;
            }
        }
    }
    throw std::logic_error("no such op in the list");
}

struct WrongList {
    const char* wanted;  // part of the message
    std::function<void(TestList&)> breakIt;
};

TEST(BackendErrors, WrongListsNameTheOpAndTheShapes) {
    const std::vector<WrongList> cases{
        {"op 'embed': table is weight 99", [](TestList& l) { opOf<EmbedOp>(l).table = 99; }},
        {"op 'embed': out is value -1", [](TestList& l) { opOf<EmbedOp>(l).out = kNone; }},
        {"'embed' [T, 65]", [](TestList& l) { l.ops.values[0].cols = 65; }},
        {"0 columns", [](TestList& l) { l.ops.values[3].cols = 0; }},
        {"op 'layer 0 / attn.norm': groups of 7 columns",
         [](TestList& l) { opOf<NormOp>(l).groupCols = 7; }},
        {"op 'layer 0 / attn.norm': weight",
         [](TestList& l) { opOf<NormOp>(l).weight = opOf<RopeOp>(l).freqs; }},
        {"eps is not a finite number",
         [](TestList& l) { opOf<NormOp>(l).eps = std::numeric_limits<float>::quiet_NaN(); }},
        {"op 'layer 0 / q': in 'layer 0 / attn.norm' [T, 64]",
         [](TestList& l) { opOf<MatMulOp>(l).weight = opOf<EmbedOp>(l).table; }},
        {"is read before it is written",
         [](TestList& l) { opOf<MatMulOp>(l).in = opOf<MatMulOp>(l, 4).out; }},
        {"is written a second time",
         [](TestList& l) { opOf<MatMulOp>(l, 1).out = opOf<EmbedOp>(l).out; }},
        {"heads of 7 columns", [](TestList& l) { opOf<RopeOp>(l).headDim = 7; }},
        {"8 frequencies turn 16 columns; a head has 8",
         [](TestList& l) { opOf<RopeOp>(l).headDim = 8; }},
        {"KV layer 5 of 2", [](TestList& l) { opOf<KvWriteOp>(l).kvLayer = 5; }},
        {"must have 32 columns", [](TestList& l) { opOf<KvWriteOp>(l).key = 0; }},
        {"KV layer 1 is read before an op writes it",
         [](TestList& l) { opOf<AttentionOp>(l).kvLayer = 1; }},
        {"3 heads cannot share 2", [](TestList& l) { opOf<AttentionOp>(l).heads = 3; }},
        {"window is -4", [](TestList& l) { opOf<AttentionOp>(l).window = -4; }},
        {"softcap", [](TestList& l) { opOf<AttentionOp>(l).softcap = -1.0F; }},
        {"op 'layer 0 / residual'",
         [](TestList& l) { opOf<AddOp>(l).b = opOf<MatMulOp>(l, 1).out; }},
        {"must have the same shape",
         [](TestList& l) { opOf<GluOp>(l).gate = opOf<MatMulOp>(l).out; }},
        {"must have rows T",
         [](TestList& l) { opOf<GatherOutputsOp>(l, 1).in = opOf<GatherOutputsOp>(l).out; }},
        {"output is value -1", [](TestList& l) { l.ops.output = kNone; }},
        {"must have rows R", [](TestList& l) { l.ops.output = 0; }},
        {"has no data", [](TestList& l) { l.data[0].clear(), l.data[0].shrink_to_fit(); }},
        {"of 3 elements", [](TestList& l) { l.ops.weights[0].cols = 0; }},
        {"weights for an op list", [](TestList& l) { l.data.pop_back(); }},
        {"KV layer 0 has group 3", [](TestList& l) { l.kv.layers[0].group = 3; }},
        {"takes F16 or F32, not Q8_0", [](TestList& l) { l.kv.type = DType::kQ8_0; }},
    };
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    for (const WrongList& wrong : cases) {
        SCOPED_TRACE(wrong.wanted);
        TestList list = makeModel({}, 1);
        wrong.breakIt(list);
        std::vector<TensorView> views = list.views();
        const auto program = backend->compile(list.ops, list.kv, views, {});
        ASSERT_FALSE(program.has_value());
        if (std::string(wrong.wanted) == "of 3 elements") {
            EXPECT_NE(program.error().message.find("each dimension must be"), std::string::npos)
                << program.error().message;
            continue;
        }
        EXPECT_NE(program.error().message.find(wrong.wanted), std::string::npos)
            << program.error().message;
    }
}

TEST(BackendErrors, WrongOptions) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    const TestList list = makeModel({}, 1);
    for (const auto& [options, wanted] :
         {std::pair{CompileOptions{.maxTokens = 0}, "maxTokens is 0"},
          std::pair{CompileOptions{.maxOutputs = -1}, "maxOutputs is -1"},
          std::pair{CompileOptions{.maxSequences = std::int64_t{1} << 40}, "maxSequences is"}}) {
        const auto program = backend->compile(list.ops, list.kv, list.views(), options);
        ASSERT_FALSE(program.has_value());
        EXPECT_NE(program.error().message.find(wanted), std::string::npos)
            << program.error().message;
    }
    EXPECT_EQ(makeCpuBackend({.threads = -1}).error().code, ErrorCode::kInvalidArgument);
    EXPECT_EQ(makeCpuBackend({.threads = 100000}).error().code, ErrorCode::kInvalidArgument);
    const std::vector<CpuTier> tiers = availableCpuTiers();
    for (const CpuTier tier : {CpuTier::kAvx2, CpuTier::kAvx512}) {
        if (std::find(tiers.begin(), tiers.end(), tier) == tiers.end()) {
            const auto missing = makeCpuBackend({.tier = tier});
            ASSERT_FALSE(missing.has_value());
            EXPECT_EQ(missing.error().code, ErrorCode::kUnsupported);
            EXPECT_NE(missing.error().message.find(tierName(tier)), std::string::npos);
        }
    }
}

/// A step that is right, to be broken in one place.
struct StepParts {
    Tokens tokens{1, 2, 3};
    std::vector<std::int32_t> positions{0, 1, 0};
    std::vector<SequenceSlice> sequences{{0, 2}, {2, 1}};
    std::vector<std::int32_t> blocks{0, 1};
    std::int64_t stride = 1;
    std::size_t tables = 1;
    std::vector<std::int32_t> outputRows{1, 2};
    std::vector<float> rows = std::vector<float>(100);
};

TEST(BackendErrors, WrongStepsAreRefusedAndTheNextRightOneRuns) {
    struct Wrong {
        const char* wanted;
        std::function<void(StepParts&)> breakIt;
    };
    const std::vector<Wrong> cases{
        {"a step with 0 tokens", [](StepParts& s) { s.tokens.clear(), s.positions.clear(); }},
        {"a step with 9 tokens", [](StepParts& s) { s.tokens.assign(9, 1); }},
        {"2 positions for 3 tokens", [](StepParts& s) { s.positions.pop_back(); }},
        {"token id 50; the vocabulary has 50", [](StepParts& s) { s.tokens[1] = 50; }},
        {"token id -1", [](StepParts& s) { s.tokens[2] = -1; }},
        {"5 output rows", [](StepParts& s) { s.outputRows.assign(5, 0); }},
        {"output row 3 of 3 tokens", [](StepParts& s) { s.outputRows[0] = 3; }},
        {"room for 99 results", [](StepParts& s) { s.rows.resize(99); }},
        {"3 sequences",
         [](StepParts& s) {
             s.sequences = {{0, 1}, {1, 1}, {2, 1}};
         }},
        {"next one must start at token 2", [](StepParts& s) { s.sequences[1].firstToken = 1; }},
        {"must start at token 2", [](StepParts& s) { s.sequences[1].tokenCount = 0; }},
        {"must start at token 2 of 3", [](StepParts& s) { s.sequences[1].tokenCount = 2; }},
        {"cover 2 of 3 tokens", [](StepParts& s) { s.sequences.pop_back(); }},
        {"position 0 of token 1 does not ascend", [](StepParts& s) { s.positions[1] = 0; }},
        {"position -2", [](StepParts& s) { s.positions[2] = -2; }},
        {"block tables of 0 groups", [](StepParts& s) { s.tables = 0; }},
        {"not 2 rows of 1", [](StepParts& s) { s.blocks.pop_back(); }},
        {"its table says -1", [](StepParts& s) { s.blocks[1] = -1; }},
        {"its table says 3 of 3", [](StepParts& s) { s.blocks[1] = 3; }},
        {"needs block 1 of group 0", [](StepParts& s) { s.positions[2] = 16; }},
    };
    const auto backend = makeBackend(CpuTier::kAuto, 2);
    const TestList list = makeModel({}, 1);
    auto program = backend->compile(list.ops, list.kv, list.views(),
                                    {.maxTokens = 8, .maxOutputs = 4, .maxSequences = 2});
    ASSERT_TRUE(program.has_value());
    const std::vector<std::int64_t> counts{3};
    auto cache = backend->allocateKv(list.kv, counts);
    ASSERT_TRUE(cache.has_value());
    const auto submit = [&](StepParts& s) {
        const BlockTables table{.blocks = s.blocks, .stride = s.stride};
        const std::vector<BlockTables> tables(s.tables, table);
        return backend->submit(**program, **cache,
                               {.tokens = s.tokens,
                                .positions = s.positions,
                                .sequences = s.sequences,
                                .tables = tables,
                                .outputRows = s.outputRows},
                               {.rows = s.rows});
    };
    for (const Wrong& wrong : cases) {
        SCOPED_TRACE(wrong.wanted);
        StepParts parts;
        wrong.breakIt(parts);
        const auto ticket = submit(parts);
        ASSERT_FALSE(ticket.has_value());
        EXPECT_EQ(ticket.error().code, ErrorCode::kInvalidArgument);
        EXPECT_NE(ticket.error().message.find(wrong.wanted), std::string::npos)
            << ticket.error().message;
    }
    StepParts right;
    const auto ticket = submit(right);
    ASSERT_TRUE(ticket.has_value()) << ticket.error().message;
    EXPECT_TRUE(backend->wait(*ticket).has_value());
    EXPECT_FALSE(backend->wait({.id = 99}).has_value());
    // No rows wanted: the keys are written, nothing else.
    right.outputRows.clear();
    EXPECT_TRUE(submit(right).has_value());
}

TEST(BackendErrors, CacheOfAnotherLayout) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    const TestList list = makeModel({}, 1);
    auto program = backend->compile(list.ops, list.kv, list.views(), {});
    ASSERT_TRUE(program.has_value());
    KvLayout other = list.kv;
    other.layers[0].keyDim = 8;
    const std::vector<std::int64_t> counts{2};
    auto cache = backend->allocateKv(other, counts);
    ASSERT_TRUE(cache.has_value());
    const Tokens tokens{1};
    const std::vector<std::int32_t> positions{0};
    const std::vector<SequenceSlice> sequences{{0, 1}};
    const std::vector<std::int32_t> blocks{0};
    const std::vector<BlockTables> tables{{.blocks = blocks, .stride = 1}};
    const auto ticket = backend->submit(**program, **cache,
                                        {.tokens = tokens,
                                         .positions = positions,
                                         .sequences = sequences,
                                         .tables = tables,
                                         .outputRows = {}},
                                        {});
    ASSERT_FALSE(ticket.has_value());
    EXPECT_NE(ticket.error().message.find("another layout"), std::string::npos);
}

}  // namespace
}  // namespace quern::kernels::test
