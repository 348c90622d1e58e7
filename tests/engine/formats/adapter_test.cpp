// Adapters as files have them: names, fused matrices, the order of rows, and files that are wrong.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "engine/formats/adapter_source.h"
#include "engine/formats/model_source.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using test::GgufBuilder;
using test::SafetensorsBuilder;
using test::TempFolder;

std::vector<float> ascending(std::size_t count) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) {
        values[i] = static_cast<float>(i + 1);
    }
    return values;
}

std::vector<float> valuesOf(const kernels::TensorView& view) {
    std::vector<float> values(static_cast<std::size_t>(view.shape.elements()));
    std::memcpy(values.data(), view.data, values.size() * sizeof(float));
    return values;
}

// A llama of one layer: 2 heads of 4, one key/value head, hidden size 8.
MatrixLayout tinyLlama(bool isGguf) {
    MatrixLayout layout{.architecture = architectureOfGguf("llama"), .isGguf = isGguf};
    Hyperparameters& p = layout.parameters;
    p.vocabSize = 10;
    p.hiddenSize = 8;
    p.contextTokens = 16;
    p.heads = {2};
    p.kvHeads = {1};
    p.intermediate = {12};
    p.keepsState = {false};
    p.keyDim = 4;
    p.valueDim = 4;
    p.rope.rotaryDim = 4;
    return layout;
}

constexpr const char* kConfig = R"({"peft_type":"LORA","r":2,"lora_alpha":6,"bias":"none"})";

// A PEFT folder with one matrix, unless a test says otherwise.
class PeftFolder {
public:
    explicit PeftFolder(const std::string& config = kConfig) {
        test::writeFile(m_folder->path() / "adapter_config.json", config);
    }
    SafetensorsBuilder& tensors() { return m_tensors; }
    PeftFolder& pair(const std::string& module, std::int64_t rank, std::int64_t inputs,
                     std::int64_t outputs) {
        const std::string name = "base_model.model." + module;
        m_tensors.values(name + ".lora_A.weight", {rank, inputs},
                         ascending(static_cast<std::size_t>(rank * inputs)));
        m_tensors.values(name + ".lora_B.weight", {outputs, rank},
                         ascending(static_cast<std::size_t>(outputs * rank)));
        return *this;
    }
    const std::filesystem::path& write() {
        test::writeFile(m_folder->path() / "adapter_model.safetensors", m_tensors.bytes());
        return m_folder->path();
    }
    const std::filesystem::path& path() { return m_folder->path(); }

private:
    std::unique_ptr<TempFolder> m_folder = std::make_unique<TempFolder>();
    SafetensorsBuilder m_tensors;
};

PeftFolder queryAdapter(const std::string& config = kConfig) {
    PeftFolder folder(config);
    folder.pair("model.layers.0.self_attn.q_proj", 2, 8, 8);
    return folder;
}

std::string messageOf(const std::filesystem::path& path, bool isGguf = false) {
    const auto adapter = openAdapter(path, tinyLlama(isGguf));
    return adapter ? "none" : adapter.error().message;
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
}

TEST(AdapterSource, WhatItCannotDoIsRefusedByName) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"("use_dora":true)", "use_dora"},
        {R"("modules_to_save":["lm_head"])", "modules_to_save"},
        {R"("bias":"all")", "bias"},
        {R"("lora_bias":true)", "lora_bias"},
        {R"("use_rslora":"yes")", "use_rslora is neither true nor false"},
        {R"("layer_replication":[[0,1]])", "layer_replication"},
        {R"("target_parameters":["x"])", "target_parameters"},
        {R"("alora_invocation_tokens":[1])", "alora_invocation_tokens"},
        {R"("trainable_token_indices":[1])", "trainable_token_indices"},
        {R"("alpha_pattern":{".*q_proj":1})", "'.*q_proj' is no plain name"},
        {R"("rank_pattern":[1])", "rank_pattern is no object"},
        {R"("rank_pattern":{"q_proj":3})", "has rank 2; adapter_config.json says 3"},
    };
    for (const auto& [field, named] : cases) {
        PeftFolder folder =
            queryAdapter(R"({"peft_type":"LORA","r":2,"lora_alpha":6,)" + field + "}");
        const std::string message = messageOf(folder.write());
        EXPECT_NE(message.find(named), std::string::npos) << field << ": " << message;
    }
    for (const auto& [config, named] : std::vector<std::pair<std::string, std::string>>{
             {R"({"peft_type":"LOHA","r":2,"lora_alpha":6})", "peft_type"},
             {R"({"r":2,"lora_alpha":6})", "peft_type"},
             {R"({"peft_type":"LORA","lora_alpha":6})", "r is missing"},
             {R"({"peft_type":"LORA","r":2,"lora_alpha":"6"})", "lora_alpha"},
             {R"({"peft_type":"LORA","r":2,"lora_alpha":1e300})", "lora_alpha"},
             {R"([1])", "is no object"},
             {R"({"peft_type":)", "adapter_config.json"}}) {
        PeftFolder folder = queryAdapter(config);
        const std::string message = messageOf(folder.write());
        EXPECT_NE(message.find(named), std::string::npos) << config << ": " << message;
    }
}

TEST(AdapterSource, WrongTensorsAreNamed) {
    const auto expect = [](PeftFolder& folder, const std::string& wanted) {
        const std::string message = messageOf(folder.write());
        EXPECT_NE(message.find(wanted), std::string::npos) << message;
    };
    {
        PeftFolder folder;
        expect(folder, "holds no matrices");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                {2, 8});
        expect(folder, "its B matrix is missing");
    }
    {
        PeftFolder folder;
        folder.tensors()
            .tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", {2, 8})
            .tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", {8, 3});
        expect(folder, "A of shape [2, 8] and B of shape [8, 3] are of different ranks");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                {2, 2, 2});
        expect(folder, "a matrix was expected");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                {2, 8}, "I64", 8);
        expect(folder, "dtype I64");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.embed_tokens.lora_embedding_A", {2, 10});
        expect(folder, "adapters of the embedding");
    }
    {
        PeftFolder folder = queryAdapter();
        folder.tensors().tensor("base_model.model.lm_head.weight", {10, 8});
        expect(folder, "neither A nor B");
    }
    {
        PeftFolder folder;
        folder.pair("model.layers.0.self_attn.wrong_proj", 2, 8, 8);
        expect(folder, "'model.layers.0.self_attn.wrong_proj', which the model does not have");
    }
    {
        PeftFolder folder;
        folder.tensors()
            .values("base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight", {1, 2},
                    {1.0F, std::nanf("")})
            .values("base_model.model.model.layers.0.self_attn.v_proj.lora_B.weight", {1, 1},
                    {1.0F});
        test::writeFile(folder.path() / "adapter_config.json",
                        R"({"peft_type":"LORA","r":1,"lora_alpha":6})");
        expect(folder, "numbers that are not finite");
    }
    PeftFolder cut = queryAdapter();
    test::writeFile(cut.path() / "adapter_model.safetensors", cut.tensors().bytes().substr(0, 300));
    EXPECT_NE(messageOf(cut.path()).find("adapter_model.safetensors"), std::string::npos);
    PeftFolder odd;
    odd.pair("model.layers.0.self_attn.q_proj", 2, 8, 7);
    EXPECT_NE(messageOf(odd.write(), true).find("heads have 4 rows"), std::string::npos);
}

TEST(AdapterSource, WhatIsNoAdapterIsTold) {
    TempFolder temp;
    EXPECT_NE(messageOf(temp.path() / "nothing").find("no adapter at"), std::string::npos);
    EXPECT_NE(messageOf(temp.path()).find("has no adapter_config.json"), std::string::npos);
    test::writeFile(temp.path() / "adapter_config.json", kConfig);
    EXPECT_NE(messageOf(temp.path()).find("has no adapter_model.safetensors"), std::string::npos);
    test::writeFile(temp.path() / "adapter_model.bin", "x");
    EXPECT_NE(messageOf(temp.path()).find("adapter_model.bin is a program"), std::string::npos);
    test::writeFile(temp.path() / "text.gguf", "no GGUF");
    EXPECT_NE(messageOf(temp.path() / "text.gguf").find("magic"), std::string::npos);
}

TEST(AdapterSource, WrongGgufKeysAreNamed) {
    const auto build = [](const char* type, const char* kind, const char* architecture) {
        GgufBuilder gguf;
        gguf.string("general.architecture", architecture)
            .string("general.type", type)
            .string("adapter.type", kind)
            .f32("adapter.lora.alpha", 6.0F);
        return gguf;
    };
    TempFolder temp;
    const auto expect = [&](const GgufBuilder& gguf, const std::string& wanted) {
        gguf.write(temp.path() / "a.gguf");
        const std::string message = messageOf(temp.path() / "a.gguf", true);
        EXPECT_NE(message.find(wanted), std::string::npos) << message;
    };
    const auto good = [&](GgufBuilder gguf) {
        gguf.f32Tensor("blk.0.attn_v.weight.lora_a", {8, 2});
        gguf.f32Tensor("blk.0.attn_v.weight.lora_b", {2, 4});
        return gguf;
    };
    expect(good(build("adapter", "lora", "llama")), "none");
    expect(good(build("model", "lora", "llama")), "general.type is 'model'");
    expect(good(build("adapter", "vera", "llama")), "adapter.type is 'vera'");
    expect(good(build("adapter", "lora", "qwen3")),
           "made for architecture 'qwen3'; the model's is 'llama'");
    GgufBuilder extra = good(build("adapter", "lora", "llama"));
    extra.f32Tensor("blk.0.attn_norm.weight", {8});
    expect(extra, "'blk.0.attn_norm.weight' is neither A nor B");
    GgufBuilder infinite = good(GgufBuilder()
                                    .string("general.architecture", "llama")
                                    .string("general.type", "adapter")
                                    .string("adapter.type", "lora")
                                    .f32("adapter.lora.alpha", HUGE_VALF));
    expect(infinite, "adapter.lora.alpha");
    GgufBuilder table = build("adapter", "lora", "llama");
    table.f32Tensor("token_embd.weight.lora_a", {8, 2})
        .f32Tensor("token_embd.weight.lora_b", {2, 10});
    expect(table, "adapters of the embedding");
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
