// Passes over whole sequences: attention in both directions, with and without a window, and
// pooling.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/kernels/cpu/oracle.h"
#include "tests/kernels/cpu/session.h"

namespace quern::kernels::test {
namespace {

constexpr std::int64_t kVocab = 40;
constexpr std::int64_t kPositions = 700;

struct EncoderShape {
    const char* name;
    std::int64_t heads = 4;
    std::int64_t kvHeads = 4;
    std::int64_t headDim = 16;
    std::int64_t window = 0;  // of every second layer
    PoolKind pool = PoolKind::kMean;
    DType kvType = DType::kF32;
};

std::vector<EncoderShape> encoderShapes() {
    return {{.name = "Mean"},
            {.name = "First", .pool = PoolKind::kFirst},
            {.name = "Odd", .heads = 3, .kvHeads = 1, .headDim = 17},
            {.name = "WindowOfOne", .window = 1},
            {.name = "Window", .window = 9},
            {.name = "WideWindow", .heads = 2, .kvHeads = 2, .headDim = 24, .window = 270},
            {.name = "HalfCache", .window = 65, .kvType = DType::kF16}};
}

/// Token, type and position rows, a norm, two layers whose norms come after the sums and which
/// share one layer of the cache, pooling.
TestList makeEncoder(const EncoderShape& s) {
    constexpr std::int64_t kHidden = 40;
    ListBuilder b(11);
    b.list().kv.type = s.kvType;
    b.list().kv.layers.push_back(
        {.kvHeads = s.kvHeads, .keyDim = s.headDim, .valueDim = s.headDim});
    ValueId x = b.embed(kVocab, kHidden);
    const auto addRows = [&](const char* name, std::int64_t rows, EmbedIndex index) {
        const ValueId out = b.value(name, kHidden);
        b.op(name, EmbedOp{.table = b.weight(name, rows, kHidden), .out = out, .index = index});
        const ValueId sum = b.value("sum", kHidden);
        b.op("sum", AddOp{.a = x, .b = out, .out = sum});
        x = sum;
    };
    addRows("types", 2, EmbedIndex::kTokenType);
    addRows("positions", kPositions, EmbedIndex::kPosition);
    x = b.norm("embed.norm", x);
    for (int layer = 0; layer < 2; ++layer) {
        const ValueId q = b.matMul("q", x, s.heads * s.headDim);
        const ValueId k = b.matMul("k", x, s.kvHeads * s.headDim);
        const ValueId v = b.matMul("v", x, s.kvHeads * s.headDim);
        b.op("write", KvWriteOp{.key = k, .value = v});
        const ValueId mixed = b.value("mix", s.heads * s.headDim);
        b.op("mix", AttentionOp{.query = q,
                                .out = mixed,
                                .heads = s.heads,
                                .scale = 1.0F / std::sqrt(static_cast<float>(s.headDim)),
                                .window = layer == 1 ? s.window : 0,
                                .sight = Sight::kAll});
        const ValueId o = b.matMul("o", mixed, kHidden);
        const ValueId residual = b.value("residual", kHidden);
        b.op("residual", AddOp{.a = x, .b = o, .out = residual});
        x = b.norm("norm", residual);
    }
    const ValueId pooled = b.value("pool", kHidden, Rows::kOutputs);
    b.op("pool", PoolOp{.in = x, .out = pooled, .kind = s.pool});
    b.list().ops.output = pooled;
    return std::move(b.list());
}

struct Case {
    CpuTier tier;
    EncoderShape shape;
};

class WholeSequence : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        m_list = makeEncoder(GetParam().shape);
        // One token; inside a block, a block and one more; over one span and two.
        for (const std::int64_t length : {1, 5, 16, 17, 100, 257, 531}) {
            const auto seed = static_cast<std::uint32_t>(length);
            m_sequences.push_back(randomTokens(length, kVocab, seed));
            Tokens types(static_cast<std::size_t>(length), 0);
            std::fill(types.begin() + length / 2, types.end(), 1);
            m_types.push_back(std::move(types));
        }
    }

    std::vector<Piece> wholePieces() const {
        std::vector<Piece> pieces;
        for (std::size_t s = 0; s < m_sequences.size(); ++s) {
            pieces.push_back({s, static_cast<std::int32_t>(std::ssize(m_sequences[s]))});
        }
        return pieces;
    }

    /// Each sequence in a step of its own, or all in one.
    Session run(Backend& backend, bool isBatch) const {
        Session session(backend, m_list, m_sequences);
        session.setLastOutputOnly(true);
        session.setTypes(m_types);
        const std::vector<Piece> pieces = wholePieces();
        if (isBatch) {
            session.step(pieces);
        } else {
            for (const Piece& piece : pieces) {
                session.step({piece});
            }
        }
        return session;
    }

    TestList m_list;
    std::vector<Tokens> m_sequences;
    std::vector<Tokens> m_types;
};

std::vector<Case> cases() {
    std::vector<Case> cases;
    for (const CpuTier tier : availableCpuTiers()) {
        for (const EncoderShape& shape : encoderShapes()) {
            cases.push_back({tier, shape});
        }
    }
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Encoders, WholeSequence, testing::ValuesIn(cases()), [](const auto& test) {
    return std::string(tierName(test.param.tier)) + test.param.shape.name;
});

TEST_P(WholeSequence, IsWhatTheDefinitionsGive) {
    const auto backend = makeBackend(GetParam().tier, 2);
    const Session session = run(*backend, false);
    const double tolerance = GetParam().shape.kvType == DType::kF32 ? 1e-5 : 3e-3;
    for (std::size_t s = 0; s < m_sequences.size(); ++s) {
        std::vector<double> wanted = evaluate(m_list, m_sequences[s], m_types[s]);
        wanted.resize(session.results(s).size());
        const Difference d = compare(session.results(s), wanted);
        EXPECT_LE(d.error, tolerance * d.largest) << m_sequences[s].size() << " tokens";
    }
}

TEST_P(WholeSequence, HasTheSameBitsAloneInABatchAndWithAnyThreads) {
    const auto reference = makeBackend(GetParam().tier, 1, true);
    const Session alone = run(*reference, false);
    for (const std::int32_t threads : {1, 2, 5}) {
        const auto backend = makeBackend(GetParam().tier, threads);
        for (const bool isBatch : {false, true}) {
            const Session other = run(*backend, isBatch);
            for (std::size_t s = 0; s < m_sequences.size(); ++s) {
                EXPECT_TRUE(areSameBits(other.results(s), alone.results(s)))
                    << threads << " threads, " << (isBatch ? "batch" : "alone") << ", "
                    << m_sequences[s].size() << " tokens";
            }
        }
    }
}

TEST(WholeSequenceErrors, PartOfASequenceIsRefused) {
    const TestList list = makeEncoder({.name = "Mean"});
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    Session session(*backend, list, {randomTokens(9, kVocab, 1)});
    session.step({{0, 4}});
    try {
        session.step({{0, 5}});
        FAIL() << "the second half of a sequence was taken";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(),
                     "a sequence of 5 tokens up to position 8; the program takes sequences whole");
    }
}

TEST(WholeSequenceErrors, ATypeBeyondTheTableIsRefused) {
    const TestList list = makeEncoder({.name = "Mean"});
    const auto backend = makeBackend(CpuTier::kAuto, 1);
    Session session(*backend, list, {randomTokens(3, kVocab, 1)});
    session.setTypes({{0, 2, 0}});
    try {
        session.step({{0, 3}});
        FAIL() << "a third type was taken";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "token type 2; the model has 2");
    }
}

}  // namespace
}  // namespace quern::kernels::test
