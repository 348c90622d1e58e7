// How files keep experts and latent attention, brought to canonical tensors.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <random>

#include "engine/formats/model_source.h"
#include "kernels/quant.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using test::SafetensorsBuilder;
using Floats = std::vector<float>;

std::string bytesOf(const Floats& values) {
    return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

/// 0, 1, 2, …: each element tells where it came from.
Floats counted(std::size_t count) {
    Floats values(count);
    std::iota(values.begin(), values.end(), 0.0F);
    return values;
}

Floats valuesOf(const ModelSource& model, const std::string& name) {
    const auto view = model.tensors->find(name);
    EXPECT_TRUE(view.has_value()) << name;
    if (!view) {
        return {};
    }
    Floats values(static_cast<std::size_t>(view->shape.elements()));
    const auto& traits = kernels::traits(view->type);
    const auto bytes = values.size() / static_cast<std::size_t>(traits.blockElements) *
                       static_cast<std::size_t>(traits.blockBytes);
    EXPECT_TRUE(kernels::dequantize(view->type, {view->data, bytes}, values).has_value());
    return values;
}

Result<ModelSource> openFolder(const std::string& fields, const SafetensorsBuilder& tensors) {
    const test::TempFolder folder;
    test::writeFile(folder.path() / "config.json",
                    R"({"vocab_size":8,"num_hidden_layers":1,"num_attention_heads":2,
                        "max_position_embeddings":64,)" +
                        fields + "}");
    test::writeFile(folder.path() / "model.safetensors", tensors.bytes());
    return openModel(folder.path());
}

constexpr const char* kMixtral = R"("model_type":"mixtral","hidden_size":4,"intermediate_size":3,
    "num_local_experts":2,"num_experts_per_tok":1)";

TEST(Experts, StackedGateAndUpBecomeViewsOfEachExpert) {
    SafetensorsBuilder tensors;
    tensors.raw("model.layers.0.mlp.experts.gate_up_proj", {2, 6, 4}, "F32", bytesOf(counted(48)));
    const auto model = openFolder(kMixtral, tensors);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const Floats all = counted(48);
    for (std::size_t expert = 0; expert < 2; ++expert) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(24 * expert);
        const std::string end = "_exps." + std::to_string(expert) + ".weight";
        EXPECT_EQ(valuesOf(*model, "blk.0.ffn_gate" + end), Floats(first, first + 12));
        EXPECT_EQ(valuesOf(*model, "blk.0.ffn_up" + end), Floats(first + 12, first + 24));
    }
}

TEST(Experts, AStackOfAnotherShapeIsRefused) {
    SafetensorsBuilder tensors;
    tensors.tensor("model.layers.0.mlp.experts.gate_up_proj", {2, 4, 6});
    const auto model = openFolder(kMixtral, tensors);
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(model.error().message,
              "tensor 'blk.0.ffn_gate_up_exps.weight' has shape [2, 4, 6] where the model's header "
              "wants [2, 6, 4]");
}

constexpr const char* kGptOss = R"("model_type":"gpt_oss","hidden_size":64,"intermediate_size":32,
    "head_dim":8,"num_local_experts":2,"num_experts_per_tok":1,
    "quantization_config":{"quant_method":"mxfp4"})";

TEST(Experts, ColumnsInTurnsBecomeRows) {
    SafetensorsBuilder tensors;
    const Floats gateUp = counted(2 * 64 * 64);
    const Floats down = counted(2 * 32 * 64);
    tensors.raw("model.layers.0.mlp.experts.gate_up_proj", {2, 64, 64}, "F32", bytesOf(gateUp))
        .raw("model.layers.0.mlp.experts.down_proj", {2, 32, 64}, "F32", bytesOf(down))
        .raw("model.layers.0.mlp.experts.gate_up_proj_bias", {2, 64}, "F32", bytesOf(counted(128)));
    const auto model = openFolder(kGptOss, tensors);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const Floats gate = valuesOf(*model, "blk.0.ffn_gate_exps.weight");
    const Floats up = valuesOf(*model, "blk.0.ffn_up_exps.weight");
    const Floats rows = valuesOf(*model, "blk.0.ffn_down_exps.weight");
    for (std::size_t e = 0; e < 2; ++e) {
        for (std::size_t i = 0; i < 32; ++i) {
            for (std::size_t h = 0; h < 64; ++h) {
                EXPECT_EQ(gate[(e * 32 + i) * 64 + h], gateUp[(e * 64 + h) * 64 + 2 * i]);
                EXPECT_EQ(up[(e * 32 + i) * 64 + h], gateUp[(e * 64 + h) * 64 + 2 * i + 1]);
                EXPECT_EQ(rows[(e * 64 + h) * 32 + i], down[(e * 32 + i) * 64 + h]);
            }
        }
    }
    EXPECT_EQ(valuesOf(*model, "blk.0.ffn_up_exps.bias")[32], 65.0F);
    EXPECT_EQ(valuesOf(*model, "blk.0.ffn_gate_exps.bias")[3], 6.0F);
}

/// The values of the OCP Microscaling format, two to a byte, low nibble first.
float mxfp4At(const std::string& blocks, const std::string& scales, std::size_t element) {
    constexpr float kValues[] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    const auto byte = static_cast<unsigned char>(blocks[element / 2]);
    const unsigned code = element % 2 == 0 ? byte & 15U : byte >> 4U;
    const int exponent = static_cast<unsigned char>(scales[element / 32]) - 127;
    return std::ldexp((code & 8U) != 0 ? -kValues[code & 7U] : kValues[code & 7U], exponent);
}

TEST(Experts, BlocksAndScalesOfMxfp4KeepTheirValues) {
    std::mt19937 random(5);
    const auto bytes = [&](std::size_t count, unsigned least, unsigned span) {
        std::string text(count, '\0');
        for (char& c : text) {
            c = static_cast<char>(least + random() % span);
        }
        return text;
    };
    const std::string gateUp = bytes(2 * 64 * 32, 0, 256);
    const std::string gateUpScales = bytes(2 * 64 * 2, 118, 16);
    const std::string down = bytes(2 * 64 * 16, 0, 256);
    const std::string downScales = bytes(2 * 64, 118, 16);
    SafetensorsBuilder tensors;
    const std::string at = "model.layers.0.mlp.experts.";
    tensors.raw(at + "gate_up_proj_blocks", {2, 64, 2, 16}, "U8", gateUp)
        .raw(at + "gate_up_proj_scales", {2, 64, 2}, "U8", gateUpScales)
        .raw(at + "down_proj_blocks", {2, 64, 1, 16}, "U8", down)
        .raw(at + "down_proj_scales", {2, 64, 1}, "U8", downScales);
    const auto model = openFolder(kGptOss, tensors);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(model->tensors->find("blk.0.ffn_up_exps.weight")->type, kernels::DType::kMXFP4);
    EXPECT_EQ(model->info.parameters, 2 * 3 * 32 * 64);
    EXPECT_EQ(model->info.activeParameters, 3 * 32 * 64);
    EXPECT_EQ(model->info.weightBytes, 2 * 3 * 32 * 64 / 32 * 17);
    const Floats gate = valuesOf(*model, "blk.0.ffn_gate_exps.weight");
    const Floats up = valuesOf(*model, "blk.0.ffn_up_exps.weight");
    for (std::size_t row = 0; row < 64; ++row) {
        for (std::size_t h = 0; h < 64; ++h) {
            EXPECT_EQ(gate[row * 64 + h], mxfp4At(gateUp, gateUpScales, 2 * row * 64 + h));
            EXPECT_EQ(up[row * 64 + h], mxfp4At(gateUp, gateUpScales, (2 * row + 1) * 64 + h));
        }
    }
    const Floats rows = valuesOf(*model, "blk.0.ffn_down_exps.weight");
    for (std::size_t i = 0; i < rows.size(); ++i) {
        EXPECT_EQ(rows[i], mxfp4At(down, downScales, i));
    }
}

TEST(Experts, BlocksWithoutTheirScalesAreRefused) {
    SafetensorsBuilder tensors;
    tensors.tensor("model.layers.0.mlp.experts.down_proj_blocks", {2, 64, 1, 16}, "U8", 1);
    const auto model = openFolder(kGptOss, tensors);
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().message, "tensor 'blk.0.ffn_down_exps.scales' is missing");
}

TEST(Experts, OtherQuantizedCheckpointsAreRefused) {
    const auto model = openFolder(
        R"("model_type":"mixtral","hidden_size":4,"intermediate_size":3,
           "quantization_config":{"quant_method":"awq"})",
        SafetensorsBuilder().tensor("model.norm.weight", {4}));
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(model.error().message.find("quantization_config"), std::string::npos);
}

TEST(Experts, EarlyFilesHaveATensorAnExpert) {
    test::GgufBuilder builder;
    builder.string("general.architecture", "llama")
        .u32("llama.block_count", 1)
        .u32("llama.context_length", 64)
        .u32("llama.embedding_length", 8)
        .u32("llama.feed_forward_length", 4)
        .u32("llama.attention.head_count", 2)
        .u32("llama.expert_count", 2)
        .u32("llama.expert_used_count", 1)
        .f32Tensor("token_embd.weight", {8, 6})
        .f32Tensor("blk.0.ffn_gate_inp.weight", {8, 2});
    for (const char* stem : {"gate", "up", "down"}) {
        for (int expert = 0; expert < 2; ++expert) {
            builder.f32Tensor(
                "blk.0.ffn_" + std::string(stem) + "." + std::to_string(expert) + ".weight", {8, 4},
                Floats(32, static_cast<float>(expert)));
        }
    }
    const test::TempFolder folder;
    builder.write(folder.path() / "m.gguf");
    const auto model = openModel(folder.path() / "m.gguf");
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(valuesOf(*model, "blk.0.ffn_down_exps.1.weight").front(), 1.0F);
    const ExpertsSpec& experts = model->spec.layers[0].experts;
    EXPECT_EQ(experts.count, 2);
    EXPECT_EQ(experts.intermediate, 4);
    EXPECT_TRUE(experts.normalizes);
}

/// The keys that every architecture has: one layer of width 8, two heads.
test::GgufBuilder smallFile(const std::string& architecture) {
    test::GgufBuilder builder;
    builder.string("general.architecture", architecture)
        .u32(architecture + ".block_count", 1)
        .u32(architecture + ".context_length", 64)
        .u32(architecture + ".embedding_length", 8)
        .u32(architecture + ".feed_forward_length", 4)
        .u32(architecture + ".attention.head_count", 2)
        .u32(architecture + ".expert_count", 4)
        .u32(architecture + ".expert_used_count", 2)
        .f32Tensor("token_embd.weight", {8, 6})
        .f32Tensor("blk.0.ffn_gate_inp.weight", {8, 4});
    return builder;
}

Result<ModelSource> openFile(const test::GgufBuilder& builder) {
    const test::TempFolder folder;
    builder.write(folder.path() / "m.gguf");
    return openModel(folder.path() / "m.gguf");
}

TEST(Experts, GptOssFilesSayLittleOfThemselves) {
    test::GgufBuilder builder = smallFile("gpt-oss");
    builder.u32("gpt-oss.attention.sliding_window", 16)
        .string("gpt-oss.rope.scaling.type", "yarn")
        .f32("gpt-oss.rope.scaling.factor", 32)
        .u32("gpt-oss.rope.scaling.original_context_length", 4096)
        .f32Tensor("blk.0.post_attention_norm.weight", {8})
        .f32Tensor("blk.0.attn_sinks.weight", {2});
    const auto model = openFile(builder);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_TRUE(model->tensors->find("blk.0.ffn_norm.weight").has_value());
    const LayerSpec& layer = model->spec.layers[0];
    EXPECT_TRUE(layer.attention.hasSinks);
    EXPECT_EQ(layer.attention.window, 16);
    EXPECT_EQ(layer.experts.gating, kernels::Gating::kSoftmaxOfChosen);
    EXPECT_EQ(layer.experts.gluLimit, 7.0F);
    EXPECT_FALSE(model->spec.ropes[0].yarnTruncate);
}

TEST(Experts, DeepSeekFilesSayHowTheyRoute) {
    test::GgufBuilder builder = smallFile("deepseek2");
    builder.u32("deepseek2.expert_gating_func", 2)
        .boolean("deepseek2.expert_weights_norm", true)
        .f32("deepseek2.expert_weights_scale", 2.5F)
        .u32("deepseek2.expert_group_count", 2)
        .u32("deepseek2.expert_group_used_count", 1)
        .u32("deepseek2.expert_feed_forward_length", 3)
        .u32("deepseek2.attention.key_length", 576)
        .u32("deepseek2.attention.value_length", 512)
        .u32("deepseek2.attention.key_length_mla", 12)
        .u32("deepseek2.attention.value_length_mla", 10)
        .u32("deepseek2.attention.kv_lora_rank", 16)
        .u32("deepseek2.attention.q_lora_rank", 6)
        .u32("deepseek2.rope.dimension_count", 4)
        .string("deepseek2.rope.scaling.type", "yarn")
        .f32("deepseek2.rope.scaling.factor", 40)
        .f32("deepseek2.rope.scaling.yarn_log_multiplier", 0.1F)
        .f32Tensor("blk.0.exp_probs_b.bias", {4})
        .f32Tensor("blk.0.ffn_up_shexp.weight", {8, 3});
    const auto model = openFile(builder);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const LayerSpec& layer = model->spec.layers[0];
    EXPECT_EQ(layer.experts.gating, kernels::Gating::kSigmoid);
    EXPECT_TRUE(layer.experts.normalizes);
    EXPECT_EQ(layer.experts.scale, 2.5F);
    EXPECT_EQ(layer.experts.groups, 2);
    EXPECT_EQ(layer.experts.groupsUsed, 1);
    EXPECT_TRUE(layer.experts.ranksGroupsByTwo);
    EXPECT_EQ(layer.experts.sharedIntermediate, 3);
    EXPECT_EQ(layer.attention.latent.nopeDim, 8);
    EXPECT_EQ(layer.attention.latent.valueDim, 10);
    EXPECT_EQ(layer.attention.keyDim, 20);
    const float mscale = 0.1F * std::log(40.0F) + 1.0F;
    EXPECT_FLOAT_EQ(layer.attention.scale, mscale * mscale / std::sqrt(12.0F));
    EXPECT_EQ(model->spec.ropes[0].attentionFactor, 1.0);
}

TEST(Experts, AnUnknownRouterIsRefused) {
    test::GgufBuilder builder = smallFile("qwen3moe");
    builder.u32("qwen3moe.expert_gating_func", 9);
    const auto model = openFile(builder);
    ASSERT_FALSE(model.has_value());
    EXPECT_EQ(model.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(model.error().message.find("expert_gating_func"), std::string::npos);
}

TEST(Experts, ExpertsOfAnArchitectureWithoutThemAreRefused) {
    const auto model = openFile(smallFile("qwen2"));
    ASSERT_FALSE(model.has_value());
    EXPECT_NE(model.error().message.find("qwen2.expert_count"), std::string::npos)
        << model.error().message;
}

TEST(Experts, HeadsOfLatentAttentionAreTakenApart) {
    constexpr std::size_t kNope = 3;
    constexpr std::size_t kValue = 2;
    constexpr std::size_t kRank = 4;
    SafetensorsBuilder tensors;
    const Floats both = counted(2 * (kNope + kValue) * kRank);
    tensors.raw("model.layers.0.self_attn.kv_b_proj.weight", {10, 4}, "F32", bytesOf(both));
    const auto model = openFolder(
        R"("model_type":"deepseek_v2","hidden_size":8,"intermediate_size":4,"kv_lora_rank":4,
           "q_lora_rank":null,"qk_nope_head_dim":3,"qk_rope_head_dim":2,"v_head_dim":2,
           "n_routed_experts":0)",
        tensors);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const Floats keys = valuesOf(*model, "blk.0.attn_k_b.weight");
    for (std::size_t head = 0; head < 2; ++head) {
        const std::size_t first = head * (kNope + kValue) * kRank;
        for (std::size_t r = 0; r < kRank; ++r) {
            for (std::size_t n = 0; n < kNope; ++n) {
                EXPECT_EQ(keys[(head * kRank + r) * kNope + n], both[first + n * kRank + r]);
            }
        }
        const Floats values =
            valuesOf(*model, "blk.0.attn_v_b." + std::to_string(head) + ".weight");
        EXPECT_EQ(values.front(), both[first + kNope * kRank]);
        EXPECT_EQ(values.size(), kValue * kRank);
    }
    const AttentionSpec& attention = model->spec.layers[0].attention;
    EXPECT_EQ(attention.kvHeads, 1);
    EXPECT_EQ(attention.keyDim, 6);
    EXPECT_EQ(attention.valueDim, 4);
    EXPECT_FLOAT_EQ(attention.scale, 1.0F / std::sqrt(5.0F));
}

TEST(Experts, YarnSharpensLatentAttention) {
    const auto scaleOf = [](const std::string& rope) {
        const auto model = openFolder(
            R"("model_type":"deepseek_v3","hidden_size":8,"intermediate_size":4,"kv_lora_rank":4,
               "qk_nope_head_dim":14,"qk_rope_head_dim":2,"v_head_dim":2,"n_routed_experts":0,
               "rope_scaling":)" +
                rope,
            SafetensorsBuilder().tensor("model.norm.weight", {8}));
        EXPECT_TRUE(model.has_value()) << model.error().message;
        return model ? model->spec.layers[0].attention.scale : 0.0F;
    };
    const float mscale = 0.1F * std::log(40.0F) + 1.0F;
    EXPECT_FLOAT_EQ(scaleOf(R"({"type":"yarn","factor":40,"mscale":1.0,"mscale_all_dim":1.0,
                               "original_max_position_embeddings":64})"),
                    0.25F * mscale * mscale);
    EXPECT_FLOAT_EQ(scaleOf(R"({"type":"yarn","factor":40,
                               "original_max_position_embeddings":64})"),
                    0.25F);
    EXPECT_FLOAT_EQ(scaleOf("null"), 0.25F);
}

}  // namespace
}  // namespace quern::engine
