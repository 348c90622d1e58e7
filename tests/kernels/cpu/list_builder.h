#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "kernels/kernels.h"

namespace quern::kernels::test {

/// An op list with random weights, for tests.
struct TestList {
    OpList ops;
    KvLayout kv;
    std::vector<std::vector<std::byte>> data;     // of each weight, in its type
    std::vector<std::vector<float>> dequantized;  // of each weight
    std::vector<TensorView> borrowed;             // of each weight instead, where data is another's
    [[nodiscard]] std::vector<TensorView> views() const;
};

/// Puts op lists together. Every value's name is its op's.
class ListBuilder {
public:
    explicit ListBuilder(std::uint32_t seed) : m_random(seed) { m_list.kv.type = DType::kF32; }

    TestList& list() { return m_list; }
    float uniform(float least, float most);
    /// A matrix or vector of numbers in ±range, stored as `type`.
    WeightId weight(const std::string& name, std::int64_t rows, std::int64_t cols,
                    DType type = DType::kF32, float range = 0.0F);
    WeightId weightOf(const std::string& name, std::vector<float> values);
    ValueId value(const std::string& name, std::int64_t cols, Rows rows = Rows::kTokens);
    void op(const std::string& name, OpVariant variant);

    ValueId embed(std::int64_t vocab, std::int64_t cols);
    ValueId matMul(const std::string& name, ValueId in, std::int64_t cols, DType type = DType::kF32,
                   bool hasBias = false);
    /// A matrix of `outputs` rows for each slot: chosen by `routing`, or one a slot (kNone).
    ValueId grouped(const std::string& name, ValueId in, ValueId routing, std::int64_t matrices,
                    std::int64_t inputs, std::int64_t outputs, DType type = DType::kF32,
                    bool hasBias = false);
    /// A gated feed-forward block of experts, routed by a matrix of its own.
    ValueId experts(const std::string& name, ValueId in, std::int64_t experts, RouteOp route,
                    std::int64_t inner, DType type = DType::kF32, bool hasBias = false);
    ValueId norm(const std::string& name, ValueId in, std::int64_t groupCols = 0);
    ValueId gather(const std::string& name, ValueId in);
    [[nodiscard]] std::int64_t cols(ValueId id) const;
    [[nodiscard]] Rows rows(ValueId id) const;

private:
    std::mt19937 m_random;
    TestList m_list;
};

/// A small transformer with every feature that changes a plan.
struct ModelShape {
    std::int64_t vocab = 50;
    std::int64_t hidden = 64;
    std::int64_t layers = 2;
    std::int64_t heads = 4;
    std::int64_t kvHeads = 2;
    std::int64_t keyDim = 16;
    std::int64_t valueDim = 16;
    std::int64_t inner = 96;
    DType type = DType::kF32;
    DType tableType = DType::kF32;
    DType kvType = DType::kF32;
    bool hasBias = false;
    bool hasQkNorm = false;
    bool isQkNormWholeRow = false;
    bool hasPostNorm = false;
    bool isParallel = false;
    bool isTied = false;
    bool hasSinks = false;
    bool isGated = true;
    RopeLayout layout = RopeLayout::kHalves;
    std::int64_t window = 0;  // of every second layer
    float softcap = 0.0F;
    float logitSoftcap = 0.0F;
    Activation activation = Activation::kSilu;
    std::int64_t experts = 0;  // beside a gated block that all rows take; 0: none
    std::int64_t expertsUsed = 0;
};
[[nodiscard]] TestList makeModel(const ModelShape& shape, std::uint32_t seed);

}  // namespace quern::kernels::test
