// Adapters (LoRA): what they add, against the double-precision oracle with merged weights, and the
// bits of rows with and without them in any company.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <stdexcept>

#include "tests/kernels/cpu/tier_test.h"

namespace quern::kernels::test {
namespace {

constexpr std::int64_t kModelVocab = 50;

/// Random A and B for matrices of a list.
struct TestAdapter {
    std::vector<std::vector<float>> data;
    std::vector<LowRank> parts;
};

TensorView viewOf(const std::vector<float>& data, std::int64_t rows, std::int64_t cols) {
    return {.type = DType::kF32,
            .shape = {.dims = {rows, cols, 1, 1}, .rank = 2},
            .data = reinterpret_cast<const std::byte*>(data.data())};
}

// For every `every`-th matrix that a MatMulOp has.
TestAdapter randomAdapter(const TestList& list, std::int64_t rank, std::uint32_t seed,
                          std::size_t every = 1, float scale = 0.7F) {
    std::mt19937 random(seed);
    TestAdapter adapter;
    std::size_t number = 0;
    for (const Op& op : list.ops.ops) {
        const auto* matMul = std::get_if<MatMulOp>(&op.op);
        if (matMul == nullptr || number++ % every != 0) {
            continue;
        }
        const Weight& weight = list.ops.weights[static_cast<std::size_t>(matMul->weight)];
        const auto filled = [&](std::int64_t count, float range) {
            std::uniform_real_distribution<float> numbers(-range, range);
            std::vector<float> data(static_cast<std::size_t>(count));
            std::generate(data.begin(), data.end(), [&] { return numbers(random); });
            adapter.data.push_back(std::move(data));
        };
        filled(rank * weight.cols, 0.1F);
        filled(weight.rows * rank, 0.3F);
        adapter.parts.push_back({.weight = matMul->weight, .a = {}, .b = {}, .scale = scale});
    }
    for (std::size_t i = 0; i < adapter.parts.size(); ++i) {
        LowRank& part = adapter.parts[i];
        const Weight& weight = list.ops.weights[static_cast<std::size_t>(part.weight)];
        part.a = viewOf(adapter.data[2 * i], rank, weight.cols);
        part.b = viewOf(adapter.data[2 * i + 1], weight.rows, rank);
    }
    return adapter;
}

// The list with W + scale · B · A in place of W, for the oracle.
TestList merged(TestList list, const TestAdapter& adapter) {
    for (std::size_t i = 0; i < adapter.parts.size(); ++i) {
        const LowRank& part = adapter.parts[i];
        std::vector<float>& weight = list.dequantized[static_cast<std::size_t>(part.weight)];
        const auto rank = static_cast<std::size_t>(part.a.shape.dims[0]);
        const auto cols = static_cast<std::size_t>(part.a.shape.dims[1]);
        for (std::size_t at = 0; at < weight.size(); ++at) {
            double sum = weight[at];
            for (std::size_t r = 0; r < rank; ++r) {
                sum += double{part.scale} * adapter.data[2 * i + 1][at / cols * rank + r] *
                       adapter.data[2 * i][r * cols + at % cols];
            }
            weight[at] = static_cast<float>(sum);
        }
    }
    return list;
}

std::unique_ptr<Adapter> make(Backend& backend, const Program& program,
                              const TestAdapter& adapter) {
    auto made = backend.makeAdapter(program, adapter.parts);
    if (!made) {
        throw std::runtime_error(made.error().message);
    }
    return std::move(*made);
}

class AdaptersTest : public TierTest {};
QUERN_ON_EVERY_TIER(AdaptersTest);

TEST_P(AdaptersTest, AddWhatTheOracleAdds) {
    struct Case {
        ModelShape shape;
        std::vector<std::int64_t> ranks;
    };
    const std::vector<Case> cases{{{}, {1, 17}},
                                  {{.hidden = 72,
                                    .heads = 3,
                                    .kvHeads = 1,
                                    .keyDim = 20,
                                    .valueDim = 12,
                                    .inner = 101,
                                    .hasBias = true,
                                    .hasQkNorm = true,
                                    .hasPostNorm = true},
                                   {3}},
                                  {{.type = DType::kF16,
                                    .isParallel = true,
                                    .isGated = false,
                                    .activation = Activation::kGelu},
                                   {64}},
                                  {{.experts = 5, .expertsUsed = 2}, {8}}};
    for (const auto& [shape, ranks] : cases) {
        const TestList list = makeModel(shape, 3);
        for (const std::int64_t rank : ranks) {
            SCOPED_TRACE("hidden " + std::to_string(shape.hidden) + ", rank " +
                         std::to_string(rank));
            const TestAdapter adapter =
                randomAdapter(list, rank, 7, 1, 1.0F / static_cast<float>(rank));
            const Tokens sequence = randomTokens(37, kModelVocab, 5);
            const std::vector<double> wanted = evaluate(merged(list, adapter), sequence);
            for (const bool isReference : {false, true}) {
                const auto backend = makeBackend(GetParam(), 3, isReference);
                for (const std::int32_t chunk : {37, 5, 1}) {
                    Session session(*backend, list, {sequence});
                    const auto made = make(*backend, session.program(), adapter);
                    session.setAdapters({made.get()});
                    session.runAll(chunk);
                    const Difference d = compare(session.results(0), wanted);
                    EXPECT_LE(d.error, 2e-5 * d.largest) << "chunk " << chunk;
                }
            }
        }
    }
}

/// With quantized weights an adapter gets the rows before they are quantized.
TEST_P(AdaptersTest, AddToQuantizedMatricesInFloat) {
    for (const DType type : {DType::kQ8_0, DType::kQ4_K, DType::kQ4_1}) {
        ListBuilder b(11);
        const ValueId x = b.embed(kModelVocab, 256);
        b.list().ops.output = b.gather("out", b.matMul("m", b.norm("n", x), 129, type));
        const TestAdapter adapter = randomAdapter(b.list(), 5, 13);
        // What the adapter adds by itself: the same list with a matrix of zeros.
        TestList alone = b.list();
        const auto weight = static_cast<std::size_t>(adapter.parts[0].weight);
        std::ranges::fill(alone.dequantized[weight], 0.0F);
        const Tokens sequence = randomTokens(21, kModelVocab, 5);
        const std::vector<double> wanted = evaluate(merged(alone, adapter), sequence);
        const auto backend = makeBackend(GetParam(), 2);
        for (const std::int32_t chunk : {21, 4, 1}) {
            Session bare(*backend, b.list(), {sequence});
            bare.runAll(chunk);
            Session adapted(*backend, b.list(), {sequence});
            const auto made = make(*backend, adapted.program(), adapter);
            adapted.setAdapters({made.get()});
            adapted.runAll(chunk);
            std::vector<float> added = adapted.results(0);
            for (std::size_t i = 0; i < added.size(); ++i) {
                added[i] -= bare.results(0)[i];
            }
            const Difference d = compare(added, wanted);
            const double largest = std::ranges::max(bare.results(0));
            // What float32 loses where large results are taken from each other.
            EXPECT_LE(d.error, 1e-5 * d.largest + 2e-7 * largest) << "chunk " << chunk;
        }
    }
}

TEST_P(AdaptersTest, KeepTheirBitsInAnyCompany) {
    for (const ModelShape& shape :
         {ModelShape{.hasBias = true},
          ModelShape{.type = DType::kQ4_1, .kvType = DType::kF16, .hasQkNorm = true},
          ModelShape{.type = DType::kQ8_0, .experts = 5, .expertsUsed = 2}}) {
        const TestList list = makeModel(shape, 3);
        const TestAdapter first = randomAdapter(list, 4, 7);
        const TestAdapter second = randomAdapter(list, 19, 8, 3);
        const std::vector<Tokens> sequences{
            randomTokens(40, kModelVocab, 1), randomTokens(40, kModelVocab, 2),
            randomTokens(40, kModelVocab, 1), randomTokens(40, kModelVocab, 1),
            randomTokens(40, kModelVocab, 2)};
        const auto alone = [&](std::size_t s, const TestAdapter* adapter) {
            const auto backend = makeBackend(GetParam(), 1);
            Session session(*backend, list, {sequences[s]});
            std::unique_ptr<Adapter> made;
            if (adapter != nullptr) {
                made = make(*backend, session.program(), *adapter);
                session.setAdapters({made.get()});
            }
            session.runAll(40);
            return session.results(0);
        };
        const std::vector<const TestAdapter*> owners{&first, &second, nullptr, &second, &first};
        std::vector<std::vector<float>> wanted;
        for (std::size_t s = 0; s < sequences.size(); ++s) {
            wanted.push_back(alone(s, owners[s]));
        }
        EXPECT_FALSE(areSameBits(wanted[0], wanted[2]));
        EXPECT_FALSE(areSameBits(wanted[0], wanted[3]));

        const auto backend = makeBackend(GetParam(), 3);
        Session session(*backend, list, sequences);
        const auto a = make(*backend, session.program(), first);
        const auto b = make(*backend, session.program(), second);
        session.setAdapters({a.get(), b.get(), nullptr, b.get(), a.get()});
        // A long piece among others, then some, then one token each, then two sequences alone.
        session.step({{.sequence = 1, .count = 17}, {.sequence = 0, .count = 30}});
        session.step({{.sequence = 2, .count = 3},
                      {.sequence = 3, .count = 5},
                      {.sequence = 4, .count = 1},
                      {.sequence = 1, .count = 13}});
        for (std::int32_t i = 0; i < 10; ++i) {
            session.step({{.sequence = 0, .count = 1},
                          {.sequence = 1, .count = 1},
                          {.sequence = 2, .count = 1},
                          {.sequence = 3, .count = 2},
                          {.sequence = 4, .count = 1}});
        }
        session.step({{.sequence = 2, .count = 27}, {.sequence = 4, .count = 29}});
        session.step({{.sequence = 3, .count = 15}});
        for (std::size_t s = 0; s < sequences.size(); ++s) {
            EXPECT_TRUE(areSameBits(session.results(s), wanted[s])) << "sequence " << s;
        }
    }
}

TEST_P(AdaptersTest, MayComeInTypesOfAFile) {
    const TestList list = makeModel({}, 3);
    TestAdapter adapter = randomAdapter(list, 32, 7);
    const auto backend = makeBackend(GetParam(), 2);
    const Tokens sequence = randomTokens(20, kModelVocab, 5);
    // Half floats that float32 holds too: the same numbers in two types.
    std::vector<std::vector<std::uint16_t>> halves;
    for (std::vector<float>& data : adapter.data) {
        std::vector<std::uint16_t>& half = halves.emplace_back();
        for (float& x : data) {
            std::uint32_t bits = 0;
            std::memcpy(&bits, &x, sizeof(bits));
            bits &= 0xFFFF0000U;
            std::memcpy(&x, &bits, sizeof(bits));
            half.push_back(static_cast<std::uint16_t>(bits >> 16U));
        }
    }
    Session plain(*backend, list, {sequence});
    const auto asFloats = make(*backend, plain.program(), adapter);
    plain.setAdapters({asFloats.get()});
    plain.runAll(6);
    for (std::size_t i = 0; i < adapter.parts.size(); ++i) {
        for (const auto& [view, data] : {std::pair(&adapter.parts[i].a, &halves[2 * i]),
                                         std::pair(&adapter.parts[i].b, &halves[2 * i + 1])}) {
            view->type = DType::kBF16;
            view->data = reinterpret_cast<const std::byte*>(data->data());
        }
    }
    Session half(*backend, list, {sequence});
    const auto asHalves = make(*backend, half.program(), adapter);
    half.setAdapters({asHalves.get()});
    half.runAll(6);
    EXPECT_TRUE(areSameBits(plain.results(0), half.results(0)));
    EXPECT_LT(asHalves->bytes(), asFloats->bytes());
}

TEST(Adapters, ThatDoNotFitAreRefused) {
    const auto backend = makeBackend(CpuTier::kGeneric, 1);
    ListBuilder b(11);
    const ValueId x = b.embed(kModelVocab, 24);
    b.list().ops.output = b.gather("out", b.matMul("m", x, 7));
    const TestList& list = b.list();
    const TestAdapter good = randomAdapter(list, 5, 13);
    auto program = backend->compile(list.ops, list.kv, list.views(), {});
    ASSERT_TRUE(program.has_value());
    const auto messageOf = [&](const std::vector<LowRank>& parts) {
        const auto made = backend->makeAdapter(**program, parts);
        return made ? std::string("none") : made.error().message;
    };
    EXPECT_EQ(messageOf(good.parts), "none");
    EXPECT_EQ(messageOf({good.parts[0], good.parts[0]}),
              "adapter of weight 'm.weight': it is there twice");
    LowRank part = good.parts[0];
    part.a.shape.dims[1] = 23;
    EXPECT_EQ(messageOf({part}),
              "adapter of weight 'm.weight': A has [5, 23] where [rank, 24] is expected");
    part = good.parts[0];
    part.b.shape.dims[1] = 4;
    EXPECT_EQ(messageOf({part}),
              "adapter of weight 'm.weight': B has [7, 4] where [7, 5] is expected");
    part = good.parts[0];
    part.scale = HUGE_VALF;
    EXPECT_EQ(messageOf({part}), "adapter of weight 'm.weight': its scale is not finite");
    part = good.parts[0];
    part.weight = 0;  // the table
    EXPECT_EQ(messageOf({part}), "an adapter can add to matrices only, not to weight 'table'");
    part.weight = 99;
    EXPECT_EQ(messageOf({part}), "adapter of weight 99; the program has 2");
}

TEST(Adapters, OfAnotherProgramAreRefused) {
    const auto backend = makeBackend(CpuTier::kGeneric, 1);
    const TestList list = makeModel({}, 3);
    const TestAdapter adapter = randomAdapter(list, 5, 13);
    Session one(*backend, list, {randomTokens(4, kModelVocab, 5)});
    Session other(*backend, list, {randomTokens(4, kModelVocab, 5)});
    const auto made = make(*backend, other.program(), adapter);
    one.setAdapters({made.get()});
    EXPECT_THROW(one.step({{.sequence = 0, .count = 2}}), std::runtime_error);
}

}  // namespace
}  // namespace quern::kernels::test
