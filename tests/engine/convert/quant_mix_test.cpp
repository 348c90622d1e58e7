#include "engine/convert/quant_mix.h"

#include <gtest/gtest.h>

namespace quern::engine::convert {
namespace {

using kernels::DType;

DType typeIn(const char* mix, const char* name, std::int64_t cols = 1024, std::int64_t rows = 512,
             const MixFacts& facts = {.layers = 24}, DType held = DType::kBF16) {
    return typeOfTensor(findQuantMix(mix).value(), name,
                        {.dims = {rows, cols, 1, 1}, .rank = rows == 1 ? 1 : 2}, held, facts);
}

TEST(QuantMix, NamesAreFoundInAnyCase) {
    EXPECT_EQ(findQuantMix("q4_k_m").value().name, "Q4_K_M");
    const auto unknown = findQuantMix("Q9");
    ASSERT_FALSE(unknown.has_value());
    EXPECT_NE(unknown.error().message.find("Q5_K_M"), std::string::npos);
}

TEST(QuantMix, MixturesSpendBitsWhereErrorsGrow) {
    struct Case {
        const char* mix;
        const char* tensor;
        DType type;
    };
    const std::vector<Case> cases{
        {"Q4_K_M", "output.weight", DType::kQ6_K},
        {"Q4_K_M", "token_embd.weight", DType::kQ4_K},
        {"Q4_K_M", "blk.0.attn_q.weight", DType::kQ4_K},
        {"Q4_K_M", "blk.0.attn_v.weight", DType::kQ6_K},  // the first eighth
        {"Q4_K_M", "blk.3.attn_v.weight", DType::kQ4_K},
        {"Q4_K_M", "blk.5.ffn_down.weight", DType::kQ6_K},  // every third between
        {"Q4_K_M", "blk.4.ffn_down.weight", DType::kQ4_K},
        {"Q4_K_M", "blk.23.ffn_down.weight", DType::kQ6_K},  // the last eighth
        {"Q4_K_M", "blk.9.attn_qkv.weight", DType::kQ5_K},
        {"Q5_K_M", "blk.9.attn_qkv.weight", DType::kQ6_K},
        {"Q5_K_M", "blk.3.attn_v.weight", DType::kQ5_K},
        {"Q5_K_M", "blk.0.attn_v.weight", DType::kQ6_K},
        {"Q6_K", "blk.0.attn_v.weight", DType::kQ6_K},
        {"Q8_0", "output.weight", DType::kQ8_0},
        {"Q4_0", "output.weight", DType::kQ6_K},
        {"Q4_0", "blk.0.attn_v.weight", DType::kQ4_0},
        {"BF16", "output.weight", DType::kBF16},
        {"F32", "blk.0.ffn_up.weight", DType::kF32},
        {"Q4_K_M", "position_embd.weight", DType::kF32},
        {"Q4_K_M", "blk.0.ffn_gate_inp.weight", DType::kF32},
        {"Q4_K_M", "blk.0.attn_q_norm.weight", DType::kF32},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(typeIn(c.mix, c.tensor), c.type) << c.mix << " " << c.tensor;
    }
    EXPECT_EQ(typeIn("Q4_K_M", "blk.0.attn_norm.weight", 1024, 1), DType::kF32);
    EXPECT_EQ(typeIn("Q4_K_M", "token_embd.weight", 1024, 512, {.layers = 24, .isHeadTied = true}),
              DType::kQ6_K);
    EXPECT_EQ(typeIn("Q4_K_M", "blk.9.attn_k.weight", 1024, 512, {.layers = 24, .experts = 8}),
              DType::kQ8_0);
}

TEST(QuantMix, RowsThatBlocksDoNotFitTakeTheNearestType) {
    EXPECT_EQ(typeIn("Q4_K_M", "blk.9.attn_q.weight", 576), DType::kQ5_0);
    EXPECT_EQ(typeIn("Q5_K_M", "blk.9.attn_q.weight", 576), DType::kQ5_1);
    EXPECT_EQ(typeIn("Q6_K", "blk.9.attn_q.weight", 576), DType::kQ8_0);
    EXPECT_EQ(typeIn("Q4_0", "output.weight", 576), DType::kQ8_0);
    EXPECT_EQ(typeIn("Q4_K_M", "blk.9.attn_q.weight", 100), DType::kF16);
    EXPECT_EQ(typeIn("BF16", "blk.9.attn_q.weight", 100), DType::kBF16);
}

TEST(QuantMix, WhatMustNotBeRoundedIsNot) {
    const auto held = [](const char* mix, const char* name, DType type) {
        return typeIn(mix, name, 1024, 512, {.layers = 24}, type);
    };
    for (const char* name : {"blk.0.ssm_a", "blk.0.ssm_d", "blk.0.ssm_norm.weight",
                             "blk.0.ffn_gate_exps.bias", "blk.0.shortconv.conv.weight"}) {
        EXPECT_EQ(held("Q4_K_M", name, DType::kBF16), DType::kF32) << name;
    }
    // Experts that were trained in MXFP4 stay in it, unless floats are asked for.
    EXPECT_EQ(held("Q4_K_M", "blk.0.ffn_up_exps.weight", DType::kMXFP4), DType::kMXFP4);
    EXPECT_EQ(held("Q8_0", "blk.0.ffn_up_exps.weight", DType::kMXFP4), DType::kMXFP4);
    EXPECT_EQ(held("BF16", "blk.0.ffn_up_exps.weight", DType::kMXFP4), DType::kBF16);
    EXPECT_EQ(held("Q8_0", "blk.0.table", DType::kI32), DType::kI32);
}

}  // namespace
}  // namespace quern::engine::convert
