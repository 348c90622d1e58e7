// Ops that keep a state: against the oracle at odd shapes, the same bits in every tiling, and from
// the snapshots that they leave at block borders.
#include <cmath>

#include "tests/kernels/cpu/tier_test.h"

namespace quern::kernels::test {
namespace {

std::int32_t addState(ListBuilder& b, std::int64_t floats) {
    b.list().kv.states.push_back({.group = 0, .floats = floats});
    return static_cast<std::int32_t>(b.list().kv.states.size()) - 1;
}

ValueId conv(ListBuilder& b, ValueId in, std::int64_t rows, bool hasBias, Activation activation) {
    const std::int64_t cols = b.cols(in);
    const ValueId out = b.value("conv", cols);
    b.op("conv",
         ConvOp{.in = in,
                .out = out,
                .weight = b.weight("conv.w", rows, cols, DType::kF32, 1.0F),
                .bias = hasBias ? b.weight("conv.b", 1, cols, DType::kF32, 1.0F) : WeightId{kNone},
                .activation = activation,
                .stateLayer = addState(b, (rows - 1) * cols)});
    return out;
}

WeightId negative(ListBuilder& b, const std::string& name, std::int64_t count) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < count; ++i) {
        values.push_back(b.uniform(-2.0F, -0.01F));
    }
    return b.weightOf(name, values);
}

struct SsdShape {
    std::int64_t heads;
    std::int64_t headDim;
    std::int64_t stateSize;
    std::int64_t groups;
};

ValueId ssd(ListBuilder& b, ValueId in, const SsdShape& shape, float stepMax = 3e38F) {
    const std::int64_t inner = shape.heads * shape.headDim;
    const ValueId xbc = b.matMul("xbc", in, inner + 2 * shape.groups * shape.stateSize);
    const ValueId dt = b.matMul("dt", in, shape.heads);
    const ValueId out = b.value("ssd", inner);
    b.op("ssd", SsdScanOp{.xbc = xbc,
                          .dt = dt,
                          .out = out,
                          .a = negative(b, "a", shape.heads),
                          .d = b.weight("d", 1, shape.heads, DType::kF32, 1.0F),
                          .dtBias = b.weight("dtBias", 1, shape.heads, DType::kF32, 1.0F),
                          .heads = shape.heads,
                          .headDim = shape.headDim,
                          .stateSize = shape.stateSize,
                          .groups = shape.groups,
                          .stepMax = stepMax,
                          .stateLayer = addState(b, inner * shape.stateSize)});
    return out;
}

struct DeltaShape {
    std::int64_t keyHeads;
    std::int64_t valueHeads;
    std::int64_t keyDim;
    std::int64_t valueDim;
};

ValueId delta(ListBuilder& b, ValueId in, const DeltaShape& shape) {
    const std::int64_t values = shape.valueHeads * shape.valueDim;
    const ValueId qkv = b.matMul("qkv", in, 2 * shape.keyHeads * shape.keyDim + values);
    const ValueId a = b.matMul("a", in, shape.valueHeads);
    const ValueId beta = b.matMul("b", in, shape.valueHeads);
    const ValueId out = b.value("delta", values);
    b.op("delta", DeltaRuleOp{.qkv = qkv,
                              .a = a,
                              .b = beta,
                              .out = out,
                              .decay = negative(b, "decay", shape.valueHeads),
                              .dtBias = b.weight("dtBias", 1, shape.valueHeads, DType::kF32, 1.0F),
                              .keyHeads = shape.keyHeads,
                              .valueHeads = shape.valueHeads,
                              .keyDim = shape.keyDim,
                              .valueDim = shape.valueDim,
                              .scale = 0.25F,
                              .stateLayer = addState(b, values * shape.keyDim)});
    return out;
}

/// Convolution, scan and delta rule one after the other, with row ops between them.
TestList makeChain() {
    ListBuilder b(31);
    const ValueId in = b.embed(kVocab, 24);
    ValueId x = conv(b, b.norm("norm1", in), 4, true, Activation::kSilu);
    x = b.norm("norm2", ssd(b, x, {.heads = 6, .headDim = 19, .stateSize = 5, .groups = 2}));
    x = b.matMul("between", x, 70);
    x = delta(b, x, {.keyHeads = 2, .valueHeads = 4, .keyDim = 9, .valueDim = 13});
    b.list().ops.output = b.gather("out", b.norm("norm3", x));
    return b.list();
}

class ScanTest : public TierTest {
protected:
    static void checkOut(ListBuilder& b, ValueId out, std::int64_t tokens,
                         double tolerance = 4e-6) {
        b.list().ops.output = b.gather("out", out);
        check(b.list(), tokens, tolerance);
    }
};

QUERN_ON_EVERY_TIER(ScanTest);

TEST_P(ScanTest, Conv) {
    for (const std::int64_t cols : {1, 3, 8, 17, 64, 65, 200}) {
        for (const std::int64_t rows : {2, 3, 4, 7}) {
            SCOPED_TRACE(std::to_string(rows) + " rows of " + std::to_string(cols));
            ListBuilder b(3);
            const ValueId in = b.embed(kVocab, cols);
            const bool isOdd = rows % 2 == 1;
            checkOut(b, conv(b, in, rows, isOdd, isOdd ? Activation::kSilu : Activation::kIdentity),
                     37);
        }
    }
}

TEST_P(ScanTest, Ssd) {
    for (const SsdShape& shape : std::initializer_list<SsdShape>{
             {1, 1, 1, 1}, {2, 3, 5, 1}, {6, 16, 16, 2}, {4, 64, 128, 1}, {3, 37, 7, 3}}) {
        SCOPED_TRACE(std::to_string(shape.heads) + " heads of " + std::to_string(shape.headDim));
        ListBuilder b(4);
        checkOut(b, ssd(b, b.embed(kVocab, 20), shape), 45, 2e-5);
    }
}

TEST_P(ScanTest, SsdWithALimitOfItsStep) {
    ListBuilder b(6);
    checkOut(b, ssd(b, b.embed(kVocab, 20), {4, 8, 8, 1}, 0.3F), 20, 2e-5);
}

TEST_P(ScanTest, DeltaRule) {
    for (const DeltaShape& shape : std::initializer_list<DeltaShape>{
             {1, 1, 1, 1}, {1, 2, 3, 5}, {2, 4, 16, 16}, {2, 2, 128, 128}, {1, 3, 37, 41}}) {
        SCOPED_TRACE(std::to_string(shape.valueHeads) + " heads of " +
                     std::to_string(shape.valueDim));
        ListBuilder b(5);
        checkOut(b, delta(b, b.embed(kVocab, 20), shape), 45, 2e-5);
    }
}

TEST_P(ScanTest, SameBitsInEveryTiling) {
    const TestList list = makeChain();
    std::vector<Tokens> sequences;
    for (const std::int64_t length : {131, 7, 16, 33}) {
        sequences.push_back(randomTokens(length, kVocab, static_cast<std::uint32_t>(length)));
    }
    const auto reference = makeBackend(GetParam(), 1, true);
    Session alone(*reference, list, sequences);
    alone.runAll(64);
    for (const std::int32_t threads : {1, 3}) {
        const auto backend = makeBackend(GetParam(), threads);
        for (const std::int32_t chunk : {1, 5, 16, 131}) {
            Session session(*backend, list, sequences);
            session.runAll(chunk);
            for (std::size_t s = 0; s < sequences.size(); ++s) {
                EXPECT_TRUE(areSameBits(session.results(s), alone.results(s)))
                    << threads << " threads, chunk " << chunk << ", sequence " << s;
            }
        }
        Session batch(*backend, list, sequences);
        batch.step({{2, 9}, {0, 100}, {3, 20}, {1, 2}});
        batch.step({{1, 5}, {0, 30}, {3, 13}, {2, 7}});
        batch.step({{0, 1}});
        for (std::size_t s = 0; s < sequences.size(); ++s) {
            EXPECT_TRUE(areSameBits(batch.results(s), alone.results(s))) << "sequence " << s;
        }
    }
}

/// Steps of one sequence whose block tables the test writes.
class Steps {
public:
    Steps(Backend& backend, const TestList& list) : m_backend(backend), m_list(list) {
        auto program = backend.compile(list.ops, list.kv, list.views(), {.maxTokens = 256});
        auto cache = backend.allocateKv(list.kv, std::vector<std::int64_t>{12});
        EXPECT_TRUE(program && cache);
        m_program = std::move(*program);
        m_cache = std::move(*cache);
    }
    /// Computes tokens [first, first + count); the result of the last.
    Result<std::vector<float>> run(const Tokens& tokens, std::int32_t first, std::int32_t count,
                                   const std::vector<std::int32_t>& table, std::int32_t gap = 0) {
        const Tokens part(tokens.begin() + first, tokens.begin() + first + count);
        std::vector<std::int32_t> positions;
        for (std::int32_t i = 0; i < count; ++i) {
            positions.push_back(first + i + (i > 0 ? gap : 0));
        }
        const std::vector<SequenceSlice> slices{{0, count}};
        const std::vector<std::int32_t> outputs{count - 1};
        const std::vector<BlockTables> tables{
            {.blocks = table, .stride = static_cast<std::int64_t>(table.size())}};
        std::vector<float> row(static_cast<std::size_t>(
            m_list.ops.values[static_cast<std::size_t>(m_list.ops.output)].cols));
        auto ticket = m_backend.submit(*m_program, *m_cache,
                                       {.tokens = part,
                                        .positions = positions,
                                        .sequences = slices,
                                        .tables = tables,
                                        .outputRows = outputs},
                                       {.rows = row});
        if (!ticket) {
            return forward(ticket);
        }
        return row;
    }

private:
    Backend& m_backend;
    const TestList& m_list;
    std::unique_ptr<Program> m_program;
    std::unique_ptr<KvCache> m_cache;
};

TEST_P(ScanTest, GoesOnFromASnapshotAtABlockBorder) {
    const TestList list = makeChain();
    const Tokens tokens = randomTokens(75, kVocab, 9);
    const auto backend = makeBackend(GetParam(), 2);
    Steps steps(*backend, list);
    // Blocks 0 and 2 are not kept; block 1 is a snapshot of token 31, block 3 of token 63.
    const auto whole = steps.run(tokens, 0, 75, {-1, 5, -1, 7, 2});
    ASSERT_TRUE(whole.has_value()) << whole.error().message;
    // Two others go on from the same snapshot, one token by token.
    const auto again = steps.run(tokens, 32, 43, {-1, 5, -1, -1, 3});
    ASSERT_TRUE(again.has_value()) << again.error().message;
    EXPECT_TRUE(areSameBits(*again, *whole));
    Result<std::vector<float>> slow = std::vector<float>();
    for (std::int32_t t = 32; t < 75; ++t) {
        slow = steps.run(tokens, t, 1, {-1, 5, 8, 9, 10});
        ASSERT_TRUE(slow.has_value()) << slow.error().message;
    }
    EXPECT_TRUE(areSameBits(*slow, *whole));
    const auto late = steps.run(tokens, 64, 11, {-1, -1, -1, 7, 4});
    ASSERT_TRUE(late.has_value()) << late.error().message;
    EXPECT_TRUE(areSameBits(*late, *whole));
}

TEST_P(ScanTest, RefusesStepsThatMissAState) {
    const TestList list = makeChain();
    const Tokens tokens = randomTokens(75, kVocab, 9);
    const auto backend = makeBackend(GetParam(), 1);
    Steps steps(*backend, list);
    EXPECT_FALSE(steps.run(tokens, 32, 4, {-1, -1, 3}).has_value()) << "no state before it";
    EXPECT_FALSE(steps.run(tokens, 32, 4, {-1, 3, -1}).has_value()) << "nowhere to leave it";
    EXPECT_FALSE(steps.run(tokens, 0, 40, {12, 1, 3}).has_value()) << "block 12 of 12";
    EXPECT_FALSE(steps.run(tokens, 0, 10, {1}, 2).has_value()) << "a token is skipped";
}

TEST(Scans, ListsThatContradictThemselvesAreRefused) {
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    const auto compiles = [&](const TestList& list) {
        return backend->compile(list.ops, list.kv, list.views(), {}).has_value();
    };
    TestList list = makeChain();
    EXPECT_TRUE(compiles(list));
    list.kv.states[1].floats += 1;
    EXPECT_FALSE(compiles(list)) << "a state of another size";
    list = makeChain();
    list.kv.states.pop_back();
    EXPECT_FALSE(compiles(list)) << "a state that is not there";
    list = makeChain();
    list.kv.layers.push_back({.group = 0, .kvHeads = 1, .keyDim = 1, .valueDim = 1});
    EXPECT_FALSE(compiles(list)) << "keys in a group of states";
    list = makeChain();
    for (Op& op : list.ops.ops) {
        if (auto* other = std::get_if<DeltaRuleOp>(&op.op)) {
            other->keyHeads = 3;
        }
    }
    EXPECT_FALSE(compiles(list)) << "heads that cannot be shared";
}

}  // namespace
}  // namespace quern::kernels::test
