// Ops of experts against the double-precision oracle, at odd shapes, on every tier.
#include "tests/kernels/cpu/tier_test.h"

namespace quern::kernels::test {
namespace {

class ExpertsTest : public TierTest {
protected:
    void checkRoute(std::int64_t choices, RouteOp route, bool hasBias = false) {
        SCOPED_TRACE(std::to_string(route.used) + " of " + std::to_string(choices));
        ListBuilder b(31);
        route.logits = b.embed(kVocab, choices);
        route.bias = hasBias ? b.weight("bias", 1, choices, DType::kF32, 1.0F) : WeightId{kNone};
        route.out = b.value("route", 2 * route.used);
        b.op("route", route);
        b.list().ops.output = b.gather("out", route.out);
        check(b.list(), 30);
    }
};

QUERN_ON_EVERY_TIER(ExpertsTest);

TEST_P(ExpertsTest, Route) {
    for (const auto& [choices, used] : {std::pair{1, 1}, std::pair{3, 3}, std::pair{17, 1},
                                        std::pair{60, 4}, std::pair{128, 8}}) {
        for (const Gating gating : {Gating::kSoftmax, Gating::kSigmoid, Gating::kSoftmaxOfChosen}) {
            checkRoute(choices, {.gating = gating, .used = used});
            checkRoute(choices, {.gating = gating, .used = used, .normalizes = true, .scale = 2.5F},
                       gating == Gating::kSigmoid);
        }
    }
}

TEST_P(ExpertsTest, RouteByGroups) {
    for (const bool byTwo : {false, true}) {
        for (const auto& [choices, used, groups, groupsUsed] :
             {std::tuple{8, 2, 2, 1}, std::tuple{30, 6, 5, 3}, std::tuple{256, 8, 8, 4}}) {
            checkRoute(choices,
                       {.gating = byTwo ? Gating::kSigmoid : Gating::kSoftmax,
                        .used = used,
                        .groups = groups,
                        .groupsUsed = groupsUsed,
                        .ranksGroupsByTwo = byTwo,
                        .normalizes = byTwo},
                       byTwo);
        }
    }
}

/// What is no number takes no place that is not there.
TEST_P(ExpertsTest, RouteOfNaNs) {
    ListBuilder b(1);
    const WeightId table =
        b.weightOf("table", std::vector<float>(std::size_t{kVocab} * 6, std::nanf("")));
    b.list().ops.weights[static_cast<std::size_t>(table)].rows = kVocab;
    b.list().ops.weights[static_cast<std::size_t>(table)].cols = 6;
    const ValueId logits = b.value("embed", 6);
    b.op("embed", EmbedOp{.table = table, .out = logits});
    const RouteOp route{
        .logits = logits, .out = b.value("route", 4), .used = 2, .groups = 3, .groupsUsed = 2};
    b.op("route", route);
    b.list().ops.output = b.gather("out", b.grouped("mm", logits, route.out, 6, 6, 5));
    const auto backend = makeBackend(GetParam(), 2);
    Session session(*backend, b.list(), {randomTokens(9, kVocab, 5)});
    session.runAll(9);
    for (const float x : session.results(0)) {
        EXPECT_TRUE(std::isnan(x));
    }
}

TEST_P(ExpertsTest, OneMatrixASlot) {
    for (const std::int64_t outputs : {1, 7, 24, 130}) {
        for (const bool isBySlot : {false, true}) {
            ListBuilder b(33);
            const std::int64_t inputs = 37;
            const ValueId in = b.embed(kVocab, isBySlot ? 5 * inputs : inputs);
            b.list().ops.output =
                b.gather("out", b.grouped("mm", in, kNone, 5, inputs, outputs, DType::kF32, true));
            check(b.list(), 70);
        }
    }
}

TEST_P(ExpertsTest, ChosenMatrices) {
    for (const auto& [experts, used] : {std::pair{1, 1}, std::pair{4, 2}, std::pair{13, 5}}) {
        for (const std::int64_t inner : {1, 17, 40, 144}) {
            for (const bool hasBias : {false, true}) {
                SCOPED_TRACE(std::to_string(used) + " of " + std::to_string(experts) + ", inner " +
                             std::to_string(inner));
                ListBuilder b(35);
                const ValueId in = b.embed(kVocab, 21);
                b.list().ops.output =
                    b.gather("out", b.experts("e", in, experts, {.used = used, .normalizes = true},
                                              inner, DType::kF32, hasBias));
                check(b.list(), 90, 4e-6);
            }
        }
    }
}

/// Rows of one matrix that are more than a tile holds.
TEST_P(ExpertsTest, ManyRowsOfOneMatrix) {
    ListBuilder b(36);
    const ValueId in = b.embed(kVocab, 32);
    b.list().ops.output =
        b.gather("out", b.experts("e", in, 2, {.used = 2}, 64, DType::kF16, true));
    check(b.list(), 300, 4e-6);
}

TEST_P(ExpertsTest, QuantizedMatrices) {
    for (const DType type : {DType::kQ8_0, DType::kQ4_K, DType::kQ6_K, DType::kMXFP4}) {
        ListBuilder b(37);
        const ValueId in = b.norm("norm", b.embed(kVocab, 256));
        b.list().ops.output =
            b.gather("out", b.experts("e", in, 6, {.used = 2, .normalizes = true}, 256, type));
        check(b.list(), 80, 0.05);  // int8 activations
    }
}

TEST_P(ExpertsTest, GatedRows) {
    for (const std::int64_t cols : {1, 3, 17, 64}) {
        ListBuilder b(38);
        const ValueId in = b.embed(kVocab, cols);
        const ValueId gate = b.matMul("gate", in, 1);
        const ValueId out = b.value("gated", cols);
        b.op("gated", GateRowsOp{.in = in, .gate = gate, .out = out});
        b.list().ops.output = b.gather("out", out);
        check(b.list(), 20);
    }
}

TEST_P(ExpertsTest, ClampedGlu) {
    for (const std::int64_t cols : {1, 3, 17, 64}) {
        ListBuilder b(39);
        const ValueId in = b.embed(kVocab, 5);
        const ValueId gate = b.matMul("gate", in, cols);
        const ValueId up = b.matMul("up", in, cols);
        const ValueId out = b.value("glu", cols);
        // Within reach of some of the values, on both sides.
        b.op("glu", ClampedGluOp{.gate = gate, .up = up, .out = out, .limit = 0.6F});
        b.list().ops.output = b.gather("out", out);
        check(b.list(), 20);
    }
}

TEST_P(ExpertsTest, JoinedHeads) {
    for (const std::int64_t heads : {1, 3}) {
        ListBuilder b(40);
        const ValueId in = b.embed(kVocab, 5 * heads);
        const ValueId other = b.matMul("other", in, 7 * heads);
        const auto join = [&](const std::string& name, HeadColumns first, HeadColumns second) {
            const ValueId out = b.value(name, heads * (first.count + second.count));
            b.op(name, JoinHeadsOp{.a = first, .b = second, .out = out, .heads = heads});
            return out;
        };
        const ValueId both = join("both", {.value = in, .first = 1, .count = 3},
                                  {.value = other, .first = 2, .count = 5});
        b.list().ops.output =
            b.gather("out", join("part", {.value = both, .first = 2, .count = 4}, {}));
        check(b.list(), 20);
    }
}

/// A cache whose values are the end of its keys.
TEST_P(ExpertsTest, ValuesInKeys) {
    for (const DType type : {DType::kF32, DType::kF16}) {
        for (const auto& [keyDim, valueDim] :
             {std::pair{20, 12}, std::pair{40, 32}, std::pair{7, 7}}) {
            ListBuilder b(41);
            b.list().kv.type = type;
            b.list().kv.layers.push_back(
                {.kvHeads = 1, .keyDim = keyDim, .valueDim = valueDim, .isValueInKey = true});
            const ValueId in = b.embed(kVocab, 24);
            const ValueId query = b.matMul("query", in, 9 * keyDim);
            const ValueId key = b.matMul("key", in, keyDim);
            const ValueId value = b.value("value", valueDim);
            b.op("value",
                 JoinHeadsOp{.a = {.value = key, .first = keyDim - valueDim, .count = valueDim},
                             .out = value,
                             .heads = 1});
            b.op("write", KvWriteOp{.key = key, .value = value});
            const ValueId mixed = b.value("mix", 9 * valueDim);
            b.op("mix", AttentionOp{.query = query, .out = mixed, .heads = 9, .scale = 0.3F});
            b.list().ops.output = b.gather("out", mixed);
            check(b.list(), 300, type == DType::kF32 ? 4e-6 : 2e-3);

            const Tokens sequence = randomTokens(300, kVocab, 5);
            const auto backend = makeBackend(GetParam(), 2);
            Session whole(*backend, b.list(), {sequence});
            whole.runAll(300);
            Session pieces(*backend, b.list(), {sequence});
            pieces.runAll(7, 250);
            EXPECT_TRUE(areSameBits(whole.results(0), pieces.results(0)));
        }
    }
}

std::string refusal(const TestList& list) {
    const auto backend = makeBackend(CpuTier::kGeneric, 1);
    const auto program = backend->compile(list.ops, list.kv, list.views(), {});
    return program ? std::string() : program.error().message;
}

TEST(ExpertsErrors, NameWhatIsWrong) {
    const auto routed = [](RouteOp route, std::int64_t outCols) {
        ListBuilder b(1);
        route.logits = b.embed(kVocab, 8);
        route.out = b.value("route", outCols);
        b.op("route", route);
        b.list().ops.output = b.gather("out", route.out);
        return refusal(b.list());
    };
    EXPECT_EQ(routed({.used = 2}, 4), "");
    EXPECT_EQ(routed({.used = 9}, 18), "op 'route': used is 9 of 8 choices");
    EXPECT_EQ(routed({.used = 2}, 5),
              "op 'route': 'route' [T, 5] must have 4 columns: 2 choices and their shares");
    EXPECT_EQ(routed({.used = 2, .groups = 3}, 4), "op 'route': 3 groups do not divide 8 choices");
    EXPECT_EQ(routed({.used = 4, .groups = 4, .groupsUsed = 1}, 8),
              "op 'route': used is 4 of the 2 choices that the groups leave");

    const auto multiplied = [](std::int64_t matrices, std::int64_t inputs) {
        ListBuilder b(1);
        const ValueId in = b.embed(kVocab, 8);
        const RouteOp route{.logits = in, .out = b.value("route", 4), .used = 2};
        b.op("route", route);
        b.list().ops.output = b.gather("out", b.grouped("mm", in, route.out, matrices, inputs, 3));
        return refusal(b.list());
    };
    EXPECT_EQ(multiplied(8, 8), "");
    EXPECT_EQ(multiplied(8, 4), "");
    EXPECT_EQ(multiplied(9, 8),
              "op 'mm': routing 'route' [T, 4] must choose from 9 matrices, not 8");
    EXPECT_EQ(multiplied(8, 5),
              "op 'mm': in 'embed' [T, 8] must have the columns of 'mm.weight.0' [3, 5] once or "
              "for each of 2 slots");
}

}  // namespace
}  // namespace quern::kernels::test
