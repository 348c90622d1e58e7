// One arithmetic, many tilings: the bits of a token's result depend on its sequence alone.
#include <gtest/gtest.h>

#include "tests/kernels/cpu/session.h"

namespace quern::kernels::test {
namespace {

struct NamedShape {
    const char* name;
    ModelShape shape;
};

std::vector<NamedShape> shapes() {
    return {
        {"Float", {}},
        {"QuantizedWithHalfCache",
         {.type = DType::kQ8_0, .tableType = DType::kQ8_0, .kvType = DType::kF16, .isTied = true}},
        {"Llama",
         {.heads = 9,
          .kvHeads = 3,
          .keyDim = 32,
          .valueDim = 32,
          .type = DType::kQ4_1,
          .tableType = DType::kQ4_1,
          .kvType = DType::kF16,
          .layout = RopeLayout::kPairs}},
        {"Qwen",
         {.heads = 6,
          .kvHeads = 2,
          .type = DType::kQ4_0,
          .tableType = DType::kQ4_0,
          .kvType = DType::kF16,
          .hasBias = true,
          .hasQkNorm = true}},
        {"Gemma",
         {.layers = 4,
          .kvHeads = 1,
          .type = DType::kQ5_0,
          .tableType = DType::kQ5_0,
          .kvType = DType::kF16,
          .hasQkNorm = true,
          .hasPostNorm = true,
          .isTied = true,
          .window = 24,
          .softcap = 30.0F,
          .logitSoftcap = 9.0F,
          .activation = Activation::kGeluTanh}},
        {"Experts", {.hasBias = true, .experts = 5, .expertsUsed = 2}},
        {"QuantizedExperts",
         {.type = DType::kQ4_0, .kvType = DType::kF16, .experts = 9, .expertsUsed = 4}},
        {"Olmo", {.hasQkNorm = true, .isQkNormWholeRow = true, .hasPostNorm = true}},
        {"ParallelWithSinks",
         {.kvHeads = 4,
          .keyDim = 20,
          .valueDim = 12,
          .type = DType::kBF16,
          .tableType = DType::kBF16,
          .isParallel = true,
          .hasSinks = true,
          .isGated = false,
          .activation = Activation::kGelu}},
    };
}

struct Case {
    CpuTier tier;
    NamedShape shape;
};

class EqualityTest : public testing::TestWithParam<Case> {
protected:
    void SetUp() override {
        m_list = makeModel(GetParam().shape.shape, 21);
        // Longer than one span, ending inside a block; short; exactly a block.
        for (const std::int64_t length : {531, 7, 16}) {
            m_sequences.push_back(randomTokens(length, GetParam().shape.shape.vocab,
                                               static_cast<std::uint32_t>(length)));
        }
        const auto reference = makeBackend(GetParam().tier, 1, true);
        Session session(*reference, m_list, m_sequences);
        session.runAll(64);
        for (std::size_t s = 0; s < m_sequences.size(); ++s) {
            m_wanted.push_back(session.results(s));
        }
    }

    void expectWanted(const Session& session, const std::string& what) {
        for (std::size_t s = 0; s < m_sequences.size(); ++s) {
            EXPECT_TRUE(areSameBits(session.results(s), m_wanted[s])) << what << ", sequence " << s;
        }
    }

    TestList m_list;
    std::vector<Tokens> m_sequences;
    std::vector<std::vector<float>> m_wanted;
};

std::vector<Case> cases() {
    std::vector<Case> cases;
    for (const CpuTier tier : availableCpuTiers()) {
        for (const NamedShape& shape : shapes()) {
            cases.push_back({tier, shape});
        }
    }
    return cases;
}

INSTANTIATE_TEST_SUITE_P(Models, EqualityTest, testing::ValuesIn(cases()), [](const auto& param) {
    return std::string(tierName(param.param.tier)) + param.param.shape.name;
});

TEST_P(EqualityTest, AnyThreadsAndChunks) {
    struct Chunks {
        std::int32_t head;
        std::int32_t chunk;
    };
    for (const std::int32_t threads : {1, 2, 5}) {
        const auto backend = makeBackend(GetParam().tier, threads);
        for (const Chunks& c : {Chunks{0, 1000}, {0, 37}, {500, 1}, {250, 3}}) {
            if (threads == 5 && c.chunk < 30) {
                continue;  // far more threads than processors: hundreds of slow barriers
            }
            Session session(*backend, m_list, m_sequences);
            session.runAll(c.chunk, c.head);
            expectWanted(session, std::to_string(threads) + " threads, chunks of " +
                                      std::to_string(c.chunk));
        }
    }
}

TEST_P(EqualityTest, ReferenceInSmallChunksIsTheSame) {
    const auto backend = makeBackend(GetParam().tier, 2, true);
    Session session(*backend, m_list, m_sequences);
    session.runAll(50);
    expectWanted(session, "reference");
}

TEST_P(EqualityTest, AnyBlockTables) {
    const auto backend = makeBackend(GetParam().tier, 2);
    for (const std::uint32_t seed : {2U, 3U}) {
        Session session(*backend, m_list, m_sequences, seed);
        session.runAll(100);
        expectWanted(session, "blocks by seed " + std::to_string(seed));
    }
}

TEST_P(EqualityTest, BatchesOfPrefillAndDecode) {
    const auto backend = makeBackend(GetParam().tier, 2);
    Session session(*backend, m_list, m_sequences);
    session.step({{0, 300}, {1, 3}});
    session.step({{1, 1}, {0, 1}, {2, 1}});  // decode of all
    session.step({{2, 1}, {0, 1}});
    session.step({{2, 2}, {1, 1}, {0, 20}});
    session.step({{0, 1}, {1, 1}, {2, 1}});
    session.step({{0, 5}});
    session.step({{0, 203}, {1, 1}, {2, 11}});
    expectWanted(session, "mixed batches");
}

TEST(Equality, TiersAgreeWithinRounding) {
    const TestList list = makeModel({}, 4);
    const Tokens sequence = randomTokens(30, 50, 4);
    std::vector<float> first;
    for (const CpuTier tier : availableCpuTiers()) {
        const auto backend = makeBackend(tier, 2);
        Session session(*backend, list, {sequence});
        session.runAll(30);
        if (first.empty()) {
            first = session.results(0);
        }
        const std::vector<double> wanted(first.begin(), first.end());
        const Difference d = compare(session.results(0), wanted);
        EXPECT_LE(d.error, 2e-5 * d.largest) << tierName(tier);
    }
}

}  // namespace
}  // namespace quern::kernels::test
