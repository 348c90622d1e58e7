// Adapters as files have them: names, fused matrices, the order of rows.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "engine/formats/adapter_source.h"
#include "engine/formats/model_source.h"
#include "tests/engine/formats/adapter_files.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using test::ascending;
using test::GgufBuilder;
using test::PeftFolder;
using test::queryAdapter;
using test::TempFolder;
using test::tinyLlama;

std::vector<float> valuesOf(const kernels::TensorView& view) {
    std::vector<float> values(static_cast<std::size_t>(view.shape.elements()));
    std::memcpy(values.data(), view.data, values.size() * sizeof(float));
    return values;
}

TEST(AdapterSource, PeftNamesBecomeCanonical) {
    PeftFolder folder;
    folder.pair("model.layers.0.self_attn.v_proj", 2, 8, 4)
        .pair("model.layers.0.mlp.down_proj", 2, 12, 8)
        .pair("lm_head", 2, 8, 10);
    const auto adapter = openAdapter(folder.write(), tinyLlama(false));
    ASSERT_TRUE(adapter) << adapter.error().message;
    EXPECT_EQ(adapter->info.format, "PEFT folder");
    EXPECT_EQ(adapter->info.rank, 2);
    EXPECT_EQ(adapter->info.matrices, 3);
    EXPECT_EQ(adapter->info.bytes, 4 * 2 * (8 + 4 + 12 + 8 + 8 + 10));
    std::vector<std::string> weights;
    for (const AdapterMatrix& matrix : adapter->matrices) {
        weights.push_back(matrix.weight);
        EXPECT_FLOAT_EQ(matrix.scale, 3.0F);
        EXPECT_EQ(valuesOf(matrix.b),
                  ascending(static_cast<std::size_t>(matrix.b.shape.elements())));
    }
    EXPECT_EQ(weights, (std::vector<std::string>{"blk.0.attn_v.weight", "blk.0.ffn_down.weight",
                                                 "output.weight"}));
}

TEST(AdapterSource, RotatedRowsTakeTheOrderOfTheModelsFile) {
    // Row i of halves, as files from Hugging Face have them, becomes row 2i or 2(i − 2) + 1.
    PeftFolder folder = queryAdapter();
    const auto asPairs = openAdapter(folder.write(), tinyLlama(true));
    ASSERT_TRUE(asPairs) << asPairs.error().message;
    EXPECT_EQ(valuesOf(asPairs->matrices[0].b),
              (std::vector<float>{1, 2, 5, 6, 3, 4, 7, 8, 9, 10, 13, 14, 11, 12, 15, 16}));
    const auto asHalves = openAdapter(folder.path(), tinyLlama(false));
    ASSERT_TRUE(asHalves);
    EXPECT_EQ(valuesOf(asHalves->matrices[0].b), ascending(16));

    // And back: a GGUF adapter for a folder.
    TempFolder temp;
    GgufBuilder gguf;
    gguf.string("general.architecture", "llama")
        .string("general.type", "adapter")
        .string("adapter.type", "lora")
        .f32("adapter.lora.alpha", 6.0F)
        .f32Tensor("blk.0.attn_q.weight.lora_a", {8, 2}, ascending(16))
        .f32Tensor("blk.0.attn_q.weight.lora_b", {2, 8}, valuesOf(asPairs->matrices[0].b))
        .write(temp.path() / "a.gguf");
    const auto back = openAdapter(temp.path() / "a.gguf", tinyLlama(false));
    ASSERT_TRUE(back) << back.error().message;
    EXPECT_EQ(valuesOf(back->matrices[0].b), ascending(16));
    EXPECT_FLOAT_EQ(back->matrices[0].scale, 3.0F);
    EXPECT_EQ(back->matrices[0].weight, "blk.0.attn_q.weight");
}

TEST(AdapterSource, FusedMatricesArePartedByRows) {
    PeftFolder folder;
    folder.pair("model.layers.0.self_attn.qkv_proj", 2, 8, 16)
        .pair("model.layers.0.mlp.gate_up_proj", 2, 8, 24);
    MatrixLayout layout = tinyLlama(false);
    layout.architecture = architectureOfGguf("phi3");
    const auto adapter = openAdapter(folder.write(), layout);
    ASSERT_TRUE(adapter) << adapter.error().message;
    std::vector<std::pair<std::string, std::int64_t>> parts;
    for (const AdapterMatrix& matrix : adapter->matrices) {
        parts.emplace_back(matrix.weight, matrix.b.shape.rows());
        EXPECT_EQ(matrix.a.shape.rows(), 2);
        EXPECT_EQ(valuesOf(matrix.a), ascending(16));
    }
    EXPECT_EQ(parts,
              (std::vector<std::pair<std::string, std::int64_t>>{{"blk.0.attn_k.weight", 4},
                                                                 {"blk.0.attn_q.weight", 8},
                                                                 {"blk.0.attn_v.weight", 4},
                                                                 {"blk.0.ffn_gate.weight", 12},
                                                                 {"blk.0.ffn_up.weight", 12}}));
    EXPECT_EQ(valuesOf(adapter->matrices[4].b).front(), 25) << "up's rows follow gate's";
}

TEST(AdapterSource, ScalesAreThoseOfTheConfig) {
    const auto scaleOf = [](const std::string& config) {
        PeftFolder folder = queryAdapter(config);
        const auto adapter = openAdapter(folder.write(), tinyLlama(false));
        return adapter ? adapter->matrices[0].scale : std::nanf("");
    };
    EXPECT_FLOAT_EQ(scaleOf(R"({"peft_type":"LORA","r":2,"lora_alpha":5})"), 2.5F);
    EXPECT_FLOAT_EQ(scaleOf(R"({"peft_type":"LORA","r":2,"lora_alpha":5,"use_rslora":true})"),
                    5.0F / std::sqrt(2.0F));
    EXPECT_FLOAT_EQ(
        scaleOf(R"({"peft_type":"LORA","r":8,"lora_alpha":5,"rank_pattern":{"q_proj":2}})"), 2.5F);
    EXPECT_FLOAT_EQ(scaleOf(R"({"peft_type":"LORA","r":2,"lora_alpha":5,"alpha_pattern":)"
                            R"({"k_proj":1,"^model\\.layers\\.0\\.self_attn\\.q_proj$":8}})"),
                    4.0F);
    // Of several patterns that are the name's end the first of the file holds.
    EXPECT_FLOAT_EQ(scaleOf(R"({"peft_type":"LORA","r":2,"lora_alpha":5,"alpha_pattern":)"
                            R"({"x":1,"self_attn.q_proj":6,"q_proj":8,"0.self_attn.q_proj":10}})"),
                    3.0F);
    EXPECT_FLOAT_EQ(scaleOf(R"({"peft_type":"LORA","r":2,"lora_alpha":5,"alpha_pattern":)"
                            R"({"j":1,"q_proj":8,"self_attn.q_proj":6,"_proj":3}})"),
                    4.0F);
}

/// A matrix of rank 1, whose A has lost a dimension in a GGUF file.
TEST(AdapterSource, RankOne) {
    TempFolder temp;
    GgufBuilder()
        .string("general.architecture", "llama")
        .string("general.type", "adapter")
        .string("adapter.type", "lora")
        .f32Tensor("blk.0.attn_v.weight.lora_a", {8, 1}, ascending(8))
        .f32Tensor("blk.0.attn_v.weight.lora_b", {1, 4}, ascending(4))
        .write(temp.path() / "a.gguf");
    const auto adapter = openAdapter(temp.path() / "a.gguf", tinyLlama(true));
    ASSERT_TRUE(adapter) << adapter.error().message;
    EXPECT_EQ(adapter->info.rank, 1);
    EXPECT_FLOAT_EQ(adapter->matrices[0].scale, 1.0F) << "without an alpha the numbers are as is";
    EXPECT_EQ(adapter->matrices[0].b.shape.rows(), 4);
}

/// The two forms of one adapter hold the same numbers for the same model.
TEST(AdapterSource, GoldenFormsAreTheSame) {
    QUERN_GOLDEN_OR_SKIP(golden, "lora");
    QUERN_GOLDEN_OR_SKIP(models, "models");
    for (const char* name : {"llama-r4", "llama-r16-attention"}) {
        for (const auto& base : {models / "llama", models / "llama" / "model.gguf"}) {
            const auto model = openModel(base);
            ASSERT_TRUE(model) << model.error().message;
            const auto peft = openAdapter(golden / name, *model->layout);
            const auto gguf = openAdapter(golden / name / "adapter.gguf", *model->layout);
            ASSERT_TRUE(peft) << peft.error().message;
            ASSERT_TRUE(gguf) << gguf.error().message;
            ASSERT_EQ(peft->matrices.size(), gguf->matrices.size());
            for (std::size_t i = 0; i < peft->matrices.size(); ++i) {
                EXPECT_EQ(peft->matrices[i].weight, gguf->matrices[i].weight);
                EXPECT_EQ(peft->matrices[i].scale, gguf->matrices[i].scale);
                EXPECT_EQ(valuesOf(peft->matrices[i].a), valuesOf(gguf->matrices[i].a));
                EXPECT_EQ(valuesOf(peft->matrices[i].b), valuesOf(gguf->matrices[i].b))
                    << base << " " << peft->matrices[i].weight;
            }
        }
    }
}

}  // namespace
}  // namespace quern::engine
