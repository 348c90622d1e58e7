#include "engine/formats/model_source.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <set>

#include "engine/model/forward.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;
using test::GgufBuilder;

constexpr const char* kLlamaConfig = R"({"model_type":"llama","vocab_size":8,"hidden_size":8,
    "num_hidden_layers":2,"num_attention_heads":2,"num_key_value_heads":1,"intermediate_size":12,
    "max_position_embeddings":64,"tie_word_embeddings":false})";

void writeLlamaFolder(const fs::path& folder, const std::string& config = kLlamaConfig) {
    test::writeFile(folder / "config.json", config);
    test::writeFile(folder / "model.safetensors", test::llamaTensors(2, 8, 12, 8, 4).bytes());
}

// A llama of one layer: hidden size 8, two heads that share one key/value head.
GgufBuilder tinyLlama() {
    GgufBuilder builder;
    builder.string("general.architecture", "llama")
        .u32("llama.block_count", 1)
        .u32("llama.context_length", 64)
        .u32("llama.embedding_length", 8)
        .u32("llama.feed_forward_length", 12)
        .u32("llama.attention.head_count", 2)
        .u32("llama.attention.head_count_kv", 1)
        .f32("llama.attention.layer_norm_rms_epsilon", 1e-5F)
        .f32Tensor("token_embd.weight", {8, 6})
        .f32Tensor("output_norm.weight", {8})
        .f32Tensor("blk.0.attn_norm.weight", {8})
        .f32Tensor("blk.0.attn_q.weight", {8, 8})
        .f32Tensor("blk.0.attn_k.weight", {8, 4})
        .f32Tensor("blk.0.attn_v.weight", {8, 4})
        .f32Tensor("blk.0.attn_output.weight", {8, 8})
        .f32Tensor("blk.0.ffn_norm.weight", {8})
        .f32Tensor("blk.0.ffn_gate.weight", {8, 12})
        .f32Tensor("blk.0.ffn_up.weight", {8, 12})
        .f32Tensor("blk.0.ffn_down.weight", {12, 8});
    return builder;
}

Result<ModelSource> openBuilt(const GgufBuilder& builder) {
    const test::TempFolder folder;
    builder.write(folder.path() / "m.gguf");
    return openModel(folder.path() / "m.gguf");
}

// Canonical names; matrices of experts or heads may be a tensor each ("ffn_up_exps.7.weight") or
// stacked, which is the same.
std::set<std::string> stackedNames(const TensorSource& tensors) {
    std::set<std::string> names;
    for (std::string name : tensors.names()) {
        const std::size_t dot = name.find_first_of("0123456789", name.find('.', 4) + 1);
        if (name.starts_with("blk.") && dot != std::string::npos && name[dot - 1] == '.') {
            name.erase(dot - 1, name.find('.', dot) - dot + 1);
        }
        names.insert(std::move(name));
    }
    return names;
}

TEST(ModelSource, GoldenModelsOpenInBothFormatsAndAgree) {
    QUERN_GOLDEN_OR_SKIP(models, "models");
    int supported = 0;
    int inBoth = 0;
    for (const auto& entry : fs::directory_iterator(models)) {
        const auto folder = openModel(entry.path());
        if (!folder) {
            ASSERT_EQ(folder.error().code, ErrorCode::kUnsupported)
                << entry.path() << ": " << folder.error().message;
            const auto info = inspectModel(entry.path());
            ASSERT_TRUE(info.has_value()) << entry.path();
            EXPECT_FALSE(info->isSupported);
            EXPECT_NE(info->whyNot.find(info->architecture), std::string::npos) << info->whyNot;
            EXPECT_FALSE(info->tensors.empty());
            continue;
        }
        ++supported;
        const auto pass = buildForward(folder->spec, *folder->tensors);
        ASSERT_TRUE(pass.has_value()) << entry.path() << ": " << pass.error().message;
        const fs::path path = entry.path() / "model.gguf";
        if (!fs::exists(path)) {
            continue;
        }
        ++inBoth;
        const auto file = openModel(path);
        ASSERT_TRUE(file.has_value()) << path << ": " << file.error().message;
        const auto filePass = buildForward(file->spec, *file->tensors);
        ASSERT_TRUE(filePass.has_value()) << path << ": " << filePass.error().message;

        auto ofFile = stackedNames(*file->tensors);
        ofFile.erase("rope_freqs.weight");  // the folder's config says it in numbers
        EXPECT_EQ(stackedNames(*folder->tensors), ofFile) << path;
        EXPECT_EQ(folder->spec.architecture, file->spec.architecture);
        EXPECT_EQ(folder->spec.layers.size(), file->spec.layers.size());
        for (std::size_t i = 0; i < file->spec.layers.size(); ++i) {
            const LayerSpec& a = folder->spec.layers[i];
            const LayerSpec& b = file->spec.layers[i];
            EXPECT_EQ(a.attention.window, b.attention.window) << path << " layer " << i;
            EXPECT_EQ(a.attention.rope, b.attention.rope) << path << " layer " << i;
            EXPECT_FLOAT_EQ(a.attention.scale, b.attention.scale) << path << " layer " << i;
            EXPECT_EQ(a.attention.softcap, b.attention.softcap) << path << " layer " << i;
            EXPECT_EQ(a.mlp.activation, b.mlp.activation) << path << " layer " << i;
            EXPECT_EQ(a.isParallel, b.isParallel) << path << " layer " << i;
            EXPECT_EQ(a.experts.count, b.experts.count) << path << " layer " << i;
            EXPECT_EQ(a.experts.gating, b.experts.gating) << path << " layer " << i;
            EXPECT_EQ(a.experts.sharedIntermediate, b.experts.sharedIntermediate) << path;
            EXPECT_EQ(a.attention.latent.nopeDim, b.attention.latent.nopeDim) << path;
        }
        EXPECT_FLOAT_EQ(folder->spec.embeddingScale, file->spec.embeddingScale) << path;
        EXPECT_FLOAT_EQ(folder->spec.logitScale, file->spec.logitScale) << path;
        EXPECT_FLOAT_EQ(folder->spec.norm.eps, file->spec.norm.eps) << path;
        EXPECT_EQ(folder->spec.isHeadTied, file->spec.isHeadTied) << path;
    }
    EXPECT_GE(supported, 5);
    EXPECT_GE(inBoth, 3);
}

TEST(ModelSource, SpecsOfTheFirstArchitectures) {
    QUERN_GOLDEN_OR_SKIP(models, "models");
    const auto llama = openModel(models / "llama" / "model.gguf");
    ASSERT_TRUE(llama.has_value()) << llama.error().message;
    EXPECT_EQ(llama->spec.ropes.at(0).layout, kernels::RopeLayout::kPairs);
    EXPECT_EQ(openModel(models / "llama")->spec.ropes.at(0).layout, kernels::RopeLayout::kHalves);
    EXPECT_EQ(llama->info.parameters, 133568);
    EXPECT_EQ(llama->info.quantization, "F32");

    const auto scaled = openModel(models / "llama3-rope" / "model.gguf");
    ASSERT_TRUE(scaled.has_value()) << scaled.error().message;
    EXPECT_EQ(scaled->spec.ropes.at(0).factors.size(), 8U);
    EXPECT_TRUE(scaled->spec.isHeadTied);
    EXPECT_EQ(openModel(models / "llama3-rope")->spec.ropes.at(0).scaling,
              RopeSpec::Scaling::kLlama3);

    const auto gemma = openModel(models / "gemma3");
    ASSERT_TRUE(gemma.has_value()) << gemma.error().message;
    ASSERT_EQ(gemma->spec.ropes.size(), 2U);
    EXPECT_EQ(gemma->spec.ropes[0].theta, 1e6);
    EXPECT_EQ(gemma->spec.ropes[1].theta, 1e4);
    EXPECT_EQ(gemma->spec.layers.at(0).attention.window, 8);
    EXPECT_EQ(gemma->spec.layers.at(0).attention.rope, 1);
    EXPECT_EQ(gemma->spec.layers.at(5).attention.window, 0);
    EXPECT_EQ(gemma->spec.layers.at(5).attention.rope, 0);
    EXPECT_EQ(gemma->spec.norm.weightOffset, 1.0F);
    EXPECT_TRUE(gemma->spec.layers.at(0).attentionNorms.hasPost);
    EXPECT_TRUE(gemma->spec.layers.at(0).attention.hasQkNorm);
    EXPECT_EQ(gemma->spec.embeddingScale, 8.0F);
}

TEST(ModelSource, AdmissionIsAskedWithAllThatLoadingTakes) {
    QUERN_GOLDEN_OR_SKIP(models, "models");
    const auto latent = models / "deepseek-v2";
    const auto config = test::readJson(latent / "config.json");
    const std::int64_t keys = config["num_hidden_layers"].get<std::int64_t>() *
                              config["num_attention_heads"].get<std::int64_t>() *
                              config["qk_nope_head_dim"].get<std::int64_t>() *
                              config["kv_lora_rank"].get<std::int64_t>();
    std::vector<Rewritten> asked;
    const auto refused = openModel(latent, [&](const ModelInfo& info) -> Status {
        asked = info.rewritten;
        return fail(ErrorCode::kOutOfMemory, "too large");
    });
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().message, "too large");
    ASSERT_EQ(asked.size(), 1U);
    EXPECT_EQ(asked[0].from, kernels::DType::kBF16);
    EXPECT_EQ(asked[0].bytes, keys * 4);
    EXPECT_EQ(asked[0].fileBytes, keys * 2);
    EXPECT_EQ(inspectModel(latent)->rewritten.size(), 1U);
    EXPECT_TRUE(inspectModel(models / "llama")->rewritten.empty());
}

TEST(ModelSource, RealFilesOpen) {
    int opened = 0;
    for (const char* name : {"SmolLM2-135M-Instruct.Q4_1.gguf", "gemma-3-270m-q4_k_m.gguf"}) {
        const fs::path path = test::modelsDir() / name;
        if (!fs::exists(path)) {
            continue;
        }
        const auto model = openModel(path);
        ASSERT_TRUE(model.has_value()) << name << ": " << model.error().message;
        EXPECT_TRUE(model->info.isSupported);
        EXPECT_FALSE(model->info.license.empty());
        EXPECT_EQ(model->spec.vocabSize, model->info.vocabSize);
        const auto pass = buildForward(model->spec, *model->tensors);
        EXPECT_TRUE(pass.has_value()) << name << ": " << pass.error().message;
        ++opened;
    }
    if (opened == 0) {
        GTEST_SKIP() << "no real model files (set QUERN_MODELS to their folder)";
    }
}

TEST(ModelSource, TinyFileOpensAndTellsItsFacts) {
    const auto model = openBuilt(tinyLlama()
                                     .string("general.name", "Tiny")
                                     .strings("tokenizer.ggml.tokens", {"a", "b", "c", "d"}));
    ASSERT_TRUE(model.has_value()) << model.error().message;
    EXPECT_EQ(model->info.name, "Tiny");
    EXPECT_EQ(model->info.format, "GGUF v3");
    EXPECT_EQ(model->info.vocabSize, 6);  // rows: more than tokens is normal
    ASSERT_EQ(model->info.cacheLayers.size(), 1U);
    EXPECT_EQ(model->info.cacheLayers[0].elementsPerToken, 8);
    EXPECT_TRUE(model->spec.isHeadTied);
}

TEST(ModelSource, HeadersThatContradictAreErrorsThatNameTheField) {
    struct Wrong {
        const char* key;
        GgufBuilder builder;
        ErrorCode code = ErrorCode::kCorrupt;
    };
    // A later key cannot replace an earlier one, so wrong files are built up from their parts.
    const auto without = [](const char* left, const auto& add) {
        GgufBuilder builder;
        const std::vector<std::pair<const char*, std::uint32_t>> sizes{
            {"llama.block_count", 1},          {"llama.context_length", 64},
            {"llama.embedding_length", 8},     {"llama.feed_forward_length", 12},
            {"llama.attention.head_count", 2}, {"llama.attention.head_count_kv", 1}};
        builder.string("general.architecture", "llama");
        for (const auto& [key, value] : sizes) {
            if (std::string_view(key) != left) {
                builder.u32(key, value);
            }
        }
        add(builder);
        const GgufBuilder tensors = tinyLlama();
        builder.tensors = tensors.tensors;
        builder.data = tensors.data;
        return builder;
    };
    const auto nothing = [](GgufBuilder&) {};
    const auto value = [](const char* key, std::uint32_t number) {
        return [=](GgufBuilder& builder) { builder.u32(key, number); };
    };
    const std::vector<Wrong> wrongs{
        {"llama.block_count", without("llama.block_count", nothing)},
        {"llama.context_length", without("llama.context_length", nothing)},
        {"llama.embedding_length", without("llama.embedding_length", nothing)},
        {"llama.attention.head_count", without("llama.attention.head_count", nothing)},
        {"llama.block_count", without("llama.block_count", value("llama.block_count", 0))},
        {"llama.block_count",
         without("llama.block_count", value("llama.block_count", 4000000000U))},
        {"head count",
         without("llama.attention.head_count", value("llama.attention.head_count", 0))},
        {"hidden size",
         without("llama.embedding_length", value("llama.embedding_length", 1U << 31))},
        {"context length", without("llama.context_length", value("llama.context_length", 0))},
        {"llama.block_count",
         without("llama.block_count",
                 [](GgufBuilder& b) { b.string("llama.block_count", "one"); })},
        {"llama.attention.head_count", without("llama.attention.head_count",
                                               [](GgufBuilder& b) {
                                                   b.u32s("llama.attention.head_count", {2, 2, 2});
                                               })},
        {"llama.rope.scaling.type",
         without("", [](GgufBuilder& b) { b.string("llama.rope.scaling.type", "spiral"); }),
         ErrorCode::kUnsupported},
        {"llama.expert_count", without("", value("llama.expert_count", 8))},
        {"tokenizer.ggml.tokens",
         without("",
                 [](GgufBuilder& b) {
                     b.strings("tokenizer.ggml.tokens", {"1", "2", "3", "4", "5", "6", "7"});
                 })},
        {"tokenizer.ggml.tokens", without("", value("tokenizer.ggml.tokens", 6))},
        {"general.architecture", GgufBuilder().f32Tensor("token_embd.weight", {8, 6})},
        {"token_embd.weight", GgufBuilder()
                                  .string("general.architecture", "llama")
                                  .u32("llama.block_count", 1)
                                  .f32Tensor("output_norm.weight", {8})},
        {"blk.0.attn_q_norm.weight", tinyLlama().f32Tensor("blk.0.attn_q_norm.weight", {4}),
         ErrorCode::kUnsupported},
        {"blk.1.attn_q.weight", tinyLlama().f32Tensor("blk.1.attn_q.weight", {8, 8})},
        {"blk.x.attn_q.weight", tinyLlama().f32Tensor("blk.x.attn_q.weight", {8, 8}),
         ErrorCode::kUnsupported},
        {"'martian'", GgufBuilder().string("general.architecture", "martian").f32Tensor("t", {1}),
         ErrorCode::kUnsupported},
        {"vocabulary", GgufBuilder().string("general.architecture", "llama"),
         ErrorCode::kUnsupported},
    };
    for (const Wrong& wrong : wrongs) {
        const auto model = openBuilt(wrong.builder);
        ASSERT_FALSE(model.has_value()) << wrong.key;
        EXPECT_EQ(model.error().code, wrong.code) << wrong.key << ": " << model.error().message;
        EXPECT_NE(model.error().message.find(wrong.key), std::string::npos)
            << wrong.key << ": " << model.error().message;
    }
}

TEST(ModelSource, FusedTensorsBecomeViewsOfTheirRows) {
    const auto fused = [](std::uint64_t rows) {
        GgufBuilder builder;
        builder.string("general.architecture", "phi3")
            .u32("phi3.block_count", 1)
            .u32("phi3.context_length", 64)
            .u32("phi3.embedding_length", 8)
            .u32("phi3.feed_forward_length", 3)
            .u32("phi3.attention.head_count", 2)
            .u32("phi3.attention.head_count_kv", 1);
        std::vector<float> values(rows * 8);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const std::size_t row = i / 8;
            values[i] = static_cast<float>(row);
        }
        builder.f32Tensor("token_embd.weight", {8, 6})
            .f32Tensor("blk.0.attn_qkv.weight", {8, rows}, values)
            .f32Tensor("blk.0.ffn_up.weight", {8, 6}, std::span(values).first(48));
        return openBuilt(builder);
    };
    const auto model = fused(16);
    ASSERT_TRUE(model.has_value()) << model.error().message;
    const auto firstValue = [&](const char* name) {
        const auto view = model->tensors->find(name);
        EXPECT_TRUE(view.has_value()) << name;
        return view ? reinterpret_cast<const float*>(view->data)[0] : -1.0F;
    };
    EXPECT_EQ(firstValue("blk.0.attn_q.weight"), 0.0F);
    EXPECT_EQ(firstValue("blk.0.attn_k.weight"), 8.0F);
    EXPECT_EQ(firstValue("blk.0.attn_v.weight"), 12.0F);
    EXPECT_EQ(firstValue("blk.0.ffn_gate.weight"), 0.0F);
    EXPECT_EQ(firstValue("blk.0.ffn_up.weight"), 3.0F);
    EXPECT_EQ(model->tensors->find("blk.0.attn_k.weight")->shape.rows(), 4);
    EXPECT_FALSE(model->tensors->find("blk.0.attn_qkv.weight").has_value());
    EXPECT_EQ(fused(15).error().code, ErrorCode::kCorrupt);
}

TEST(ModelSource, FolderFacts) {
    const test::TempFolder folder;
    writeLlamaFolder(folder.path());
    test::writeFile(folder.path() / "README.md",
                    "---\nlanguage: en\nlicense: apache-2.0\n---\nText");
    const auto info = inspectModel(folder.path());
    ASSERT_TRUE(info.has_value()) << info.error().message;
    EXPECT_TRUE(info->isSupported);
    EXPECT_EQ(info->license, "apache-2.0");
    EXPECT_EQ(info->format, "Hugging Face folder");
}

TEST(ModelSource, FoldersThatLackSomethingSayWhat) {
    const test::TempFolder folder;
    EXPECT_EQ(openModel(folder.path() / "none").error().code, ErrorCode::kNotFound);
    EXPECT_NE(openModel(folder.path()).error().message.find("config.json"), std::string::npos);
    const auto openWith = [&](const std::string& config) {
        writeLlamaFolder(folder.path(), config);
        return openModel(folder.path());
    };
    ASSERT_TRUE(openWith(kLlamaConfig).has_value());
    EXPECT_EQ(openWith("[]").error().code, ErrorCode::kCorrupt);
    EXPECT_EQ(openWith("{").error().code, ErrorCode::kCorrupt);
    EXPECT_NE(openWith("{}").error().message.find("model_type"), std::string::npos);
    EXPECT_EQ(openWith(R"({"model_type":"martian"})").error().code, ErrorCode::kUnsupported);

    test::writeFile(folder.path() / "config.json", kLlamaConfig);
    test::writeFile(folder.path() / "model.safetensors",
                    test::llamaTensors(2, 8, 12, 8, 4)
                        .tensor("model.layers.0.self_attn.wings.weight", {2})
                        .bytes());
    const auto odd = openModel(folder.path());
    EXPECT_EQ(odd.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(odd.error().message.find("wings"), std::string::npos);
    test::writeFile(folder.path() / "model.safetensors",
                    test::llamaTensors(2, 8, 12, 8, 4)
                        .tensor("model.layers.1.self_attn.q_norm.weight", {4})
                        .tensor("model.layers.0.self_attn.rotary_emb.inv_freq", {2})
                        .bytes());
    EXPECT_NE(openModel(folder.path()).error().message.find("blk.1.attn_q_norm"),
              std::string::npos);
}

// Reads of a damaged file may succeed or fail, but never crash; what opens must be safe to build.
TEST(ModelSource, RandomDamageNeverCrashes) {
    const char* wanted = std::getenv("QUERN_SEED");
    const auto seed =
        wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : std::random_device()();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    const test::TempFolder folder;
    const std::string gguf = tinyLlama().bytes();
    const std::size_t header = gguf.size() - tinyLlama().data.size();
    const std::string config = kLlamaConfig;
    writeLlamaFolder(folder.path());
    int opened = 0;
    for (int round = 0; round < 1500; ++round) {
        std::string damaged = gguf;
        std::string damagedConfig = config;
        for (unsigned i = 0; i < 1 + random() % 3; ++i) {
            damaged[random() % header] ^= static_cast<char>(1U << (random() % 7));
            damagedConfig[random() % config.size()] ^= static_cast<char>(1U << (random() % 7));
        }
        test::writeFile(folder.path() / "m.gguf", damaged);
        test::writeFile(folder.path() / "config.json", damagedConfig);
        for (const fs::path& path : {folder.path() / "m.gguf", folder.path()}) {
            const auto model = openModel(path);
            (void)inspectModel(path);
            if (model) {
                opened += buildForward(model->spec, *model->tensors).has_value() ? 1 : 0;
            }
        }
    }
    EXPECT_GT(opened, 0);
}

}  // namespace
}  // namespace quern::engine
