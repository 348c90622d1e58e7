// Every op against the double-precision oracle, at odd shapes, on every tier.
#include "tests/kernels/cpu/tier_test.h"

namespace quern::kernels::test {
namespace {

class OpTest : public TierTest {
protected:
    /// embed → `body` → gather, on several widths.
    template <class Body>
    void checkRowOp(Body body, std::initializer_list<std::int64_t> widths = {1, 3, 17, 63, 64, 100},
                    double tolerance = 2e-6) {
        for (const std::int64_t cols : widths) {
            SCOPED_TRACE("cols " + std::to_string(cols));
            ListBuilder b(7);
            const ValueId in = b.embed(kVocab, cols);
            b.list().ops.output = b.gather("out", body(b, in));
            check(b.list(), 7, tolerance);
        }
    }
};

QUERN_ON_EVERY_TIER(OpTest);

TEST_P(OpTest, Embed) {
    checkRowOp([](ListBuilder&, ValueId in) { return in; });
}

TEST_P(OpTest, EmbedOfQuantizedTables) {
    for (const DType type : {DType::kQ4_1, DType::kQ8_0, DType::kF16, DType::kBF16, DType::kQ6_K}) {
        ListBuilder b(3);
        const WeightId table = b.weight("table", kVocab, 256, type);
        const ValueId in = b.value("embed", 256);
        b.op("embed", EmbedOp{.table = table, .out = in, .scale = 3.0F});
        b.list().ops.output = b.gather("out", in);
        check(b.list(), 5);
    }
}

TEST_P(OpTest, EmbedByPosition) {
    checkRowOp([](ListBuilder& b, ValueId in) {
        const ValueId positions = b.value("positions", b.cols(in));
        b.op("positions", EmbedOp{.table = b.weight("positions", 9, b.cols(in)),
                                  .out = positions,
                                  .scale = 0.5F,
                                  .index = EmbedIndex::kPosition,
                                  .offset = 2});
        const ValueId sum = b.value("sum", b.cols(in));
        b.op("sum", AddOp{.a = in, .b = positions, .out = sum});
        return sum;
    });
}

TEST_P(OpTest, PositionsBeyondTheirTableAreRefused) {
    ListBuilder b(7);
    const ValueId out = b.value("positions", 8);
    b.op("positions", EmbedOp{.table = b.weight("positions", 9, 8),
                              .out = out,
                              .index = EmbedIndex::kPosition,
                              .offset = 2});
    b.list().ops.output = b.gather("out", out);
    const auto backend = makeBackend(GetParam(), 1);
    const auto program =
        backend->compile(b.list().ops, b.list().kv, b.list().views(), {.maxTokens = 4});
    ASSERT_TRUE(program.has_value()) << program.error().message;
    const auto cache = backend->allocateKv(b.list().kv, std::vector<std::int64_t>{1});
    ASSERT_TRUE(cache.has_value());
    const std::vector<std::int32_t> tokens = {0};
    const std::vector<std::int32_t> blocks = {0};
    const std::vector<SequenceSlice> sequences = {{0, 1}};
    const std::vector<BlockTables> tables = {{.blocks = blocks, .stride = 1}};
    std::vector<float> rows(8);
    const auto submit = [&](std::int32_t position) {
        const std::vector<std::int32_t> positions = {position};
        const std::vector<std::int32_t> outputs = {0};
        return backend->submit(**program, **cache,
                               {.tokens = tokens,
                                .positions = positions,
                                .sequences = sequences,
                                .tables = tables,
                                .outputRows = outputs},
                               {.rows = rows});
    };
    EXPECT_TRUE(submit(6).has_value());
    const auto refused = submit(7);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message, "position 7; the model has embeddings for 7 positions");
}

TEST_P(OpTest, RmsNorm) {
    checkRowOp([](ListBuilder& b, ValueId in) { return b.norm("norm", in); });
}

TEST_P(OpTest, LayerNormWithBiasInPlace) {
    checkRowOp(
        [](ListBuilder& b, ValueId in) {
            const std::int64_t n = b.cols(in);
            b.op("norm", NormOp{.in = in,
                                .out = in,
                                .kind = NormKind::kLayer,
                                .weight = b.weight("w", 1, n, DType::kF32, 1.0F),
                                .bias = b.weight("b", 1, n, DType::kF32, 1.0F),
                                .eps = 1e-3F});
            return in;
        },
        {2, 3, 17, 63, 64, 100});
}

TEST_P(OpTest, NormWithoutWeight) {
    checkRowOp([](ListBuilder& b, ValueId in) {
        const ValueId out = b.value("norm", b.cols(in));
        b.op("norm", NormOp{.in = in, .out = out});
        return out;
    });
}

TEST_P(OpTest, NormByGroups) {
    for (const std::int64_t group : {1, 5, 16, 80}) {
        for (const std::int64_t weights : {group, 3 * group}) {
            ListBuilder b(9);
            const ValueId in = b.embed(kVocab, 3 * group);
            const ValueId out = b.value("norm", 3 * group);
            b.op("norm", NormOp{.in = in,
                                .out = out,
                                .weight = b.weight("w", 1, weights, DType::kF32, 1.0F),
                                .bias = b.weight("b", 1, 4 * group - weights, DType::kF32, 1.0F),
                                .groupCols = group});
            b.list().ops.output = b.gather("out", out);
            check(b.list(), 6);
        }
    }
}

TEST_P(OpTest, MatMul) {
    for (const std::int64_t outputs : {1, 3, 17, 63, 100}) {
        for (const bool hasBias : {false, true}) {
            ListBuilder b(11);
            const ValueId in = b.embed(kVocab, 37);
            b.list().ops.output =
                b.gather("out", b.matMul("mm", in, outputs, DType::kF32, hasBias));
            check(b.list(), 9);
        }
    }
}

TEST_P(OpTest, MatMulsThatShareAnInputAndDifferInType) {
    ListBuilder b(12);
    const ValueId in = b.norm("norm", b.embed(kVocab, 64));
    const ValueId a = b.matMul("a", in, 48, DType::kQ8_0);
    const ValueId c = b.matMul("c", in, 48, DType::kF16, true);
    const ValueId sum = b.value("sum", 48);
    b.op("sum", AddOp{.a = a, .b = c, .out = sum});
    b.list().ops.output = b.gather("out", sum);
    check(b.list(), 12, 0.02);  // int8 activations
}

TEST_P(OpTest, Rope) {
    for (const RopeLayout layout : {RopeLayout::kHalves, RopeLayout::kPairs}) {
        for (const auto& [headDim, half] : {std::pair{2, 1}, std::pair{16, 8}, std::pair{30, 15},
                                            std::pair{80, 20}, std::pair{17, 8}}) {
            ListBuilder b(13);
            const ValueId in = b.embed(kVocab, 3 * headDim);
            const WeightId freqs = b.weight("freqs", 1, half, DType::kF32, 1.0F);
            b.op("rope", RopeOp{.inOut = in,
                                .headDim = headDim,
                                .freqs = freqs,
                                .layout = layout,
                                .magnitude = 0.9F});
            b.list().ops.output = b.gather("out", in);
            check(b.list(), 20);
        }
    }
}

TEST_P(OpTest, ElementWise) {
    checkRowOp([](ListBuilder& b, ValueId in) {
        const ValueId other = b.norm("other", in);
        const ValueId sum = b.value("sum", b.cols(in));
        b.op("sum", AddOp{.a = in, .b = other, .out = sum});
        b.op("scale", ScaleOp{.in = sum, .out = sum, .factor = -2.5F});
        const ValueId capped = b.value("cap", b.cols(in));
        b.op("cap", SoftcapOp{.in = sum, .out = capped, .cap = 1.7F});
        return capped;
    });
}

TEST_P(OpTest, Activations) {
    for (const Activation kind :
         {Activation::kSilu, Activation::kGelu, Activation::kGeluTanh, Activation::kRelu,
          Activation::kRelu2, Activation::kSigmoid, Activation::kIdentity, Activation::kTanh}) {
        checkRowOp([kind](ListBuilder& b, ValueId in) {
            const ValueId wide = b.value("wide", b.cols(in));
            b.op("wide", ScaleOp{.in = in, .out = wide, .factor = 9.0F});
            const ValueId active = b.value("active", b.cols(in));
            b.op("active", ActivationOp{.in = wide, .out = active, .kind = kind});
            b.op("glu", GluOp{.gate = wide, .up = active, .out = wide, .kind = kind});
            return wide;
        });
    }
}

struct AttentionCase {
    std::int64_t heads;
    std::int64_t kvHeads;
    std::int64_t keyDim;
    std::int64_t valueDim;
    std::int64_t window;
    float softcap;
    bool hasSinks;
    std::int64_t tokens;
};

TEST_P(OpTest, Attention) {
    for (const DType kvType : {DType::kF32, DType::kF16}) {
        for (const AttentionCase& c : std::initializer_list<AttentionCase>{
                 {1, 1, 16, 16, 0, 0.0F, false, 1},
                 {1, 1, 1, 1, 0, 0.0F, false, 19},
                 {4, 2, 32, 32, 0, 0.0F, false, 40},
                 {9, 3, 64, 64, 0, 0.0F, false, 300},
                 {4, 1, 80, 80, 0, 0.0F, true, 33},
                 {8, 1, 128, 128, 0, 5.0F, false, 50},
                 {5, 5, 100, 100, 0, 0.0F, false, 17},
                 {2, 1, 256, 256, 0, 0.0F, true, 35},
                 {6, 2, 24, 40, 0, 0.0F, false, 70},
                 {3, 3, 17, 3, 0, 2.0F, true, 47},
                 {4, 2, 16, 16, 1, 0.0F, false, 40},
                 {4, 2, 16, 16, 16, 0.0F, false, 80},
                 {4, 2, 16, 16, 37, 3.0F, true, 120},
                 {2, 1, 16, 16, 300, 0.0F, false, 620},
             }) {
            SCOPED_TRACE(std::to_string(c.heads) + "/" + std::to_string(c.kvHeads) + " heads of " +
                         std::to_string(c.keyDim) + "/" + std::to_string(c.valueDim) + ", window " +
                         std::to_string(c.window));
            ListBuilder b(17);
            b.list().kv.type = kvType;
            b.list().kv.layers.push_back(
                {.kvHeads = c.kvHeads, .keyDim = c.keyDim, .valueDim = c.valueDim});
            const ValueId in = b.embed(kVocab, 24);
            const ValueId q = b.matMul("q", in, c.heads * c.keyDim);
            const ValueId k = b.matMul("k", in, c.kvHeads * c.keyDim);
            const ValueId v = b.matMul("v", in, c.kvHeads * c.valueDim);
            b.op("write", KvWriteOp{.key = k, .value = v});
            const ValueId out = b.value("mix", c.heads * c.valueDim);
            b.op("mix",
                 AttentionOp{.query = q,
                             .out = out,
                             .heads = c.heads,
                             .scale = 0.7F,
                             .window = c.window,
                             .softcap = c.softcap,
                             .sinks = c.hasSinks ? b.weight("s", 1, c.heads, DType::kF32, 2.0F)
                                                 : WeightId{kNone}});
            b.list().ops.output = b.gather("out", out);
            check(b.list(), c.tokens, kvType == DType::kF32 ? 4e-6 : 3e-3);
        }
    }
}

TEST_P(OpTest, WholeModels) {
    for (int variant = 0; variant < 8; ++variant) {
        SCOPED_TRACE("variant " + std::to_string(variant));
        const bool isOdd = variant % 2 == 1;
        const TestList list =
            makeModel({.vocab = kVocab,
                       .layers = 3,
                       .hasBias = isOdd,
                       .hasQkNorm = variant >= 2,
                       .isQkNormWholeRow = variant == 4,
                       .hasPostNorm = variant == 3 || variant == 6,
                       .isParallel = variant == 5 || variant == 7,
                       .isTied = variant >= 4,
                       .hasSinks = variant == 1,
                       .isGated = variant != 2,
                       .layout = isOdd ? RopeLayout::kPairs : RopeLayout::kHalves,
                       .window = variant == 6 ? 20 : 0,
                       .softcap = variant == 6 ? 30.0F : 0.0F,
                       .logitSoftcap = variant == 6 ? 20.0F : 0.0F,
                       .activation = isOdd ? Activation::kGeluTanh : Activation::kSilu},
                      static_cast<std::uint32_t>(variant));
        check(list, 60, 2e-5);
    }
}

}  // namespace
}  // namespace quern::kernels::test
