#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "engine/formats/gguf.h"
#include "engine/formats/model_source.h"
#include "engine/model_file.h"
#include "kernels/quant.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;

std::vector<float> valuesOf(const GgufTensor& tensor) {
    std::vector<float> values(static_cast<std::size_t>(tensor.view.shape.elements()));
    const std::span bytes(tensor.view.data, static_cast<std::size_t>(tensor.bytes));
    EXPECT_TRUE(kernels::dequantize(tensor.view.type, bytes, values).has_value());
    return values;
}

std::shared_ptr<const GgufFile> opened(const fs::path& path) {
    auto file = GgufFile::open(path);
    EXPECT_TRUE(file.has_value()) << file.error().message;
    return file ? *file : nullptr;
}

void expectSameTensors(const GgufFile& ours, const GgufFile& theirs) {
    std::set<std::string_view> names;
    for (const GgufTensor& tensor : theirs.tensors()) {
        names.insert(tensor.name);
        const GgufTensor* own = ours.find(tensor.name);
        ASSERT_NE(own, nullptr) << tensor.name;
        EXPECT_EQ(own->view.shape.elements(), tensor.view.shape.elements()) << tensor.name;
        EXPECT_EQ(own->view.shape.cols(), tensor.view.shape.cols()) << tensor.name;
        const std::vector<float> a = valuesOf(*own);
        const std::vector<float> b = valuesOf(tensor);
        // What is computed is rounded by either side for itself.
        const bool isComputed =
            tensor.name == "rope_freqs.weight" || tensor.name.ends_with("ssm_a");
        const float tolerance = isComputed ? 1e-6F : 0.0F;
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_LE(std::fabs(a[i] - b[i]), tolerance * std::fabs(b[i]))
                << tensor.name << " element " << i;
        }
    }
    for (const GgufTensor& tensor : ours.tensors()) {
        EXPECT_TRUE(names.contains(tensor.name)) << tensor.name;
    }
}

// Why a key of llama.cpp's converter is another here, or is not here; empty where it must be equal.
std::string_view whyOther(std::string_view key) {
    const std::map<std::string_view, std::string_view> reasons{
        {"general.name", "made up from the folder's name"},
        {"general.size_label", "for people"},
        {"falcon.context_length", "a constant there; the config's here"},
        {"falcon.tensor_data_layout", "of no use to a reader"},
        {"nemotron.attention.layer_norm_rms_epsilon", "the norm is no RMS norm"},
        {"phi3.attention.sliding_window", "0 is what its absence means"},
        {"phi3.rope.scaling.original_context_length", "there is no scaling that needs it"},
        {"command-r.rope.scaling.type", "'none' is what its absence means"},
        {"cohere2.rope.scaling.type", "'none' is what its absence means"},
        {"nemotron.rope.scaling.type", "'none' is what its absence means"},
    };
    const auto found = reasons.find(key);
    return key.starts_with("tokenizer.") ? "a placeholder there"
           : found == reasons.end()      ? std::string_view()
                                         : found->second;
}

void expectSameKeys(const GgufFile& ours, const GgufFile& theirs) {
    for (const auto& [key, value] : theirs.metadata().entries()) {
        if (!whyOther(key).empty()) {
            continue;
        }
        const GgufValue* own = ours.metadata().find(key);
        ASSERT_NE(own, nullptr) << key;
        EXPECT_EQ(describeValue(*own), describeValue(value)) << key;
    }
}

TEST(ImportModel, EqualsWhatTheFieldsConverterWrites) {
    QUERN_GOLDEN_OR_SKIP(models, "models");
    const test::TempFolder temp;
    int compared = 0;
    for (const auto& entry : fs::directory_iterator(models)) {
        const fs::path theirs = entry.path() / "model.gguf";
        if (!fs::exists(theirs) || !openModel(entry.path())) {
            continue;
        }
        SCOPED_TRACE(entry.path().filename().string());
        const fs::path target = temp.path() / (entry.path().filename().string() + ".gguf");
        const auto report =
            importModel({.source = entry.path(), .target = target, .quantization = "F32"});
        ASSERT_TRUE(report.has_value()) << report.error().message;
        expectSameTensors(*opened(target), *opened(theirs));
        expectSameKeys(*opened(target), *opened(theirs));
        ++compared;
    }
    EXPECT_GE(compared, test::goldenDir() ? 28 : 6);
}

constexpr const char* kLlamaConfig = R"({"model_type":"llama","vocab_size":8,"hidden_size":256,
    "num_hidden_layers":2,"num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":512,
    "max_position_embeddings":64,"tie_word_embeddings":false})";

void writeLlama(const fs::path& folder, const std::string& config = kLlamaConfig) {
    test::writeFile(folder / "config.json", config);
    test::writeFile(folder / "model.safetensors", test::llamaTensors(2, 256, 512, 8, 128).bytes());
}

TEST(ImportModel, EveryQuantizationOpensAndSaysWhatItIs) {
    const test::TempFolder folder;
    writeLlama(folder.path());
    for (const char* name : {"F32", "F16", "BF16", "Q8_0", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K_M",
                             "Q5_K_M", "Q6_K"}) {
        const fs::path target = folder.path() / (std::string(name) + ".gguf");
        const auto report = importModel({.source = folder.path(),
                                         .target = target,
                                         .quantization = name,
                                         .name = "Tiny",
                                         .threads = 3});
        ASSERT_TRUE(report.has_value()) << name << ": " << report.error().message;
        EXPECT_EQ(report->fileBytes, static_cast<std::int64_t>(fs::file_size(target))) << name;
        const auto model = openModel(target);
        ASSERT_TRUE(model.has_value()) << name << ": " << model.error().message;
        EXPECT_EQ(model->info.name, "Tiny");
        EXPECT_TRUE(std::string_view(name).starts_with(model->info.quantization))
            << name << " is mostly " << model->info.quantization;
    }
}

TEST(ImportModel, AGgufFileIsRewrittenTensorByTensor) {
    const test::TempFolder folder;
    writeLlama(folder.path());
    const auto write = [&](const fs::path& source, const char* target, const char* type) {
        return importModel(
            {.source = source, .target = folder.path() / target, .quantization = type});
    };
    ASSERT_TRUE(write(folder.path(), "a.gguf", "Q4_K_M").has_value());
    // A type that a tensor has already is not rounded again.
    ASSERT_TRUE(write(folder.path() / "a.gguf", "b.gguf", "Q4_K_M").has_value());
    ASSERT_TRUE(write(folder.path() / "b.gguf", "b2.gguf", "Q4_K_M").has_value());
    expectSameTensors(*opened(folder.path() / "b.gguf"), *opened(folder.path() / "a.gguf"));
    EXPECT_TRUE(test::readFile(folder.path() / "b.gguf") ==
                test::readFile(folder.path() / "b2.gguf"));
    const auto twice = write(folder.path() / "a.gguf", "c.gguf", "Q8_0");
    ASSERT_TRUE(twice.has_value()) << twice.error().message;
    ASSERT_EQ(twice->notes.size(), 1U);
    EXPECT_NE(twice->notes.front().find("quantized already"), std::string::npos);
    EXPECT_EQ(openModel(folder.path() / "c.gguf")->info.quantization, "Q8_0");
    // Models that cannot run here can be written.
    test::GgufBuilder()
        .string("general.architecture", "martian")
        .u32("martian.block_count", 1)
        .f32Tensor("blk.0.attn_v.weight", {256, 4})
        .write(folder.path() / "m.gguf");
    const auto martian = write(folder.path() / "m.gguf", "n.gguf", "Q6_K");
    ASSERT_TRUE(martian.has_value()) << martian.error().message;
    EXPECT_EQ(opened(folder.path() / "n.gguf")->tensors()[0].view.type, kernels::DType::kQ6_K);
}

TEST(ImportModel, ThreadsChangeNoByte) {
    QUERN_GOLDEN_OR_SKIP(model, "models/llama");
    const test::TempFolder folder;
    for (const std::int32_t threads : {1, 4}) {
        ASSERT_TRUE(importModel({.source = model,
                                 .target = folder.path() / std::to_string(threads),
                                 .quantization = "Q5_0",
                                 .threads = threads})
                        .has_value());
    }
    EXPECT_TRUE(test::readFile(folder.path() / "1") == test::readFile(folder.path() / "4"));
}

TEST(ImportModel, NothingStaysAfterACancellationOrAnError) {
    const test::TempFolder folder;
    const test::TempFolder target;
    writeLlama(folder.path());
    int calls = 0;
    ImportOptions options{.source = folder.path(),
                          .target = target.path() / "m.gguf",
                          .quantization = "Q8_0",
                          .progress = [&](const ImportProgress& progress) {
                              EXPECT_LE(progress.doneBytes, progress.totalBytes);
                              return ++calls < 4;
                          }};
    EXPECT_EQ(importModel(options).error().code, ErrorCode::kCancelled);
    EXPECT_EQ(calls, 4);
    EXPECT_TRUE(fs::is_empty(target.path()));
    options.progress = nullptr;
    options.quantization = "Q9";
    EXPECT_EQ(importModel(options).error().code, ErrorCode::kInvalidArgument);
    options.quantization = "Q8_0";
    ASSERT_TRUE(importModel(options).has_value());
    EXPECT_EQ(importModel(options).error().code, ErrorCode::kConflict);
    options.target = target.path() / "n.gguf";
    options.source = folder.path() / "none";
    EXPECT_EQ(importModel(options).error().code, ErrorCode::kNotFound);
    EXPECT_FALSE(fs::exists(options.target));
}

TEST(ImportModel, ASourceThatIsCutWhileItIsReadIsNamed) {
    const test::TempFolder folder;
    const fs::path source = folder.path() / "source.gguf";
    test::GgufBuilder()
        .string("general.architecture", "martian")
        .u32("martian.block_count", 1)
        .f32Tensor("blk.0.attn_k.weight", {256, 64})
        .f32Tensor("blk.0.attn_v.weight", {256, 64})
        .write(source);
    const ImportOptions options{.source = source,
                                .target = folder.path() / "target.gguf",
                                .quantization = "F32",
                                .progress = [&](const ImportProgress&) {
                                    fs::resize_file(source, 4096);
                                    return true;
                                }};
    const auto report = importModel(options);
    ASSERT_FALSE(report.has_value());
    EXPECT_EQ(report.error().code, ErrorCode::kIo);
    EXPECT_EQ(report.error().message, source.string() + " was cut while it was read");
    EXPECT_FALSE(fs::exists(options.target));
}

// What GGUF has no key for must not be lost in silence.
TEST(ImportModel, RefusesWhatGgufCannotSay) {
    const test::TempFolder folder;
    std::string config = kLlamaConfig;
    config.insert(1, R"("rope_scaling":{"rope_type":"dynamic","factor":2.0},)");
    writeLlama(folder.path(), config);
    const auto dynamic = importModel(
        {.source = folder.path(), .target = folder.path() / "m.gguf", .quantization = "F32"});
    ASSERT_FALSE(dynamic.has_value());
    EXPECT_EQ(dynamic.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(dynamic.error().message.find("dynamic"), std::string::npos);
    config = kLlamaConfig;
    config.insert(1, R"("rope_scaling":{"rope_type":"yarn","factor":2.0,"truncate":false,
        "original_max_position_embeddings":32},)");
    writeLlama(folder.path(), config);
    const auto yarn = importModel(
        {.source = folder.path(), .target = folder.path() / "m.gguf", .quantization = "F32"});
    ASSERT_FALSE(yarn.has_value());
    EXPECT_NE(yarn.error().message.find("rope 0"), std::string::npos) << yarn.error().message;
    EXPECT_FALSE(fs::exists(folder.path() / "m.gguf"));
}

TEST(ImportModel, PoolingComesBack) {
    const test::TempFolder folder;
    writeLlama(folder.path(), kLlamaConfig);
    fs::create_directories(folder.path() / "1_Pooling");
    test::writeFile(folder.path() / "1_Pooling" / "config.json",
                    R"({"pooling_mode_lasttoken": true})");
    test::writeFile(folder.path() / "modules.json",
                    R"([{"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])");
    const fs::path target = folder.path() / "m.gguf";
    const auto made =
        importModel({.source = folder.path(), .target = target, .quantization = "F32"});
    ASSERT_TRUE(made.has_value()) << made.error().message;
    EXPECT_EQ(openModel(target)->spec.pooling, Pooling::kLast);
    // The folder has no module that brings vectors to length 1, which a file cannot say.
    EXPECT_TRUE(std::ranges::any_of(made->notes, [](const std::string& note) {
        return note.find("length") != std::string::npos;
    }));
}

// An expert's matrix comes from its own tensor, from a stack, or from one with gate and up.
TEST(ImportModel, ExpertsAreStackedWhateverTheFolderHas) {
    QUERN_GOLDEN_OR_SKIP(model, "models/gpt-oss");
    const test::TempFolder folder;
    for (const char* type : {"F32", "BF16", "Q8_0"}) {
        const fs::path target = folder.path() / (std::string(type) + ".gguf");
        const auto made =
            importModel({.source = model, .target = target, .quantization = type, .threads = 2});
        ASSERT_TRUE(made.has_value()) << type << ": " << made.error().message;
        const auto file = opened(target);
        const GgufTensor* gate = file->find("blk.1.ffn_gate_exps.weight");
        ASSERT_NE(gate, nullptr);
        EXPECT_EQ(gate->view.shape.rank, 3);
        EXPECT_EQ(kernels::traits(gate->view.type).name, type);
        const GgufTensor* bias = file->find("blk.1.ffn_up_exps.bias");
        ASSERT_NE(bias, nullptr);
        EXPECT_EQ(bias->view.type, kernels::DType::kF32);
    }
}

}  // namespace
}  // namespace quern::engine
