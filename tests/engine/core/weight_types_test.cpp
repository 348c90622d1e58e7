// Every type of golden/quants as the weights of a model: the same answers as from its values in
// float32, and a load report that says what was repacked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"
#include "engine/formats/gguf_types.h"
#include "engine/score.h"
#include "kernels/quant.h"
#include "kernels/weight_formats.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using kernels::DType;

constexpr std::size_t kSize = 256;
constexpr std::size_t kVocabulary = 32;

// A stock of whole blocks that hold finite values, and these values.
struct Stock {
    std::string blocks;
    std::vector<float> values;
};

Stock readStock(const std::filesystem::path& folder, const std::string& name, DType type) {
    const std::string blocks = test::readFile(folder / (name + ".bin"));
    const std::string floats = test::readFile(folder / (name + ".f32"));
    const auto& traits = kernels::traits(type);
    const auto elements =
        static_cast<std::size_t>(std::max<std::int64_t>(traits.blockElements, 64));
    const std::size_t bytes = elements / static_cast<std::size_t>(traits.blockElements) *
                              static_cast<std::size_t>(traits.blockBytes);
    Stock stock;
    for (std::size_t i = 0; (i + 1) * bytes <= blocks.size(); ++i) {
        std::vector<float> values(elements);
        std::memcpy(values.data(), floats.data() + i * elements * sizeof(float),
                    elements * sizeof(float));
        if (std::all_of(values.begin(), values.end(), [](float value) {
                return std::isfinite(value) && std::fabs(value) < 1e3F;
            })) {
            stock.blocks.append(blocks, i * bytes, bytes);
            stock.values.insert(stock.values.end(), values.begin(), values.end());
        }
    }
    return stock;
}

float rootMeanSquare(const std::vector<float>& values) {
    double sum = 0;
    for (const float value : values) {
        sum += static_cast<double>(value) * static_cast<double>(value);
    }
    return static_cast<float>(std::sqrt(sum / static_cast<double>(values.size())));
}

// A llama of one layer whose matrices are made of the stock, as blocks or as float32.
void writeModel(const Stock& stock, DType type, bool asBlocks, const std::filesystem::path& path) {
    test::GgufBuilder builder;
    builder.string("general.architecture", "llama")
        .u32("llama.block_count", 1)
        .u32("llama.context_length", 64)
        .u32("llama.embedding_length", kSize)
        .u32("llama.feed_forward_length", kSize)
        .u32("llama.attention.head_count", 4)
        .u32("llama.attention.head_count_kv", 4)
        .f32("llama.attention.layer_norm_rms_epsilon", 1e-5F);
    std::size_t drawn = 0;
    const auto matrix = [&](const char* name, std::size_t rows) {
        const std::size_t elements = rows * kSize;
        const std::size_t unit = asBlocks ? 1 : sizeof(float);
        const std::string all =
            asBlocks ? stock.blocks
                     : std::string(reinterpret_cast<const char*>(stock.values.data()),
                                   stock.values.size() * unit);
        const std::size_t perElement = all.size();
        std::string bytes;
        const std::size_t wanted = elements * perElement / stock.values.size();
        const std::size_t shift = drawn * perElement / stock.values.size();
        for (std::size_t at = shift % all.size(); bytes.size() < wanted; at = 0) {
            bytes.append(all, at, wanted - bytes.size());
        }
        drawn += 256;  // the next one begins elsewhere
        builder.rawTensor(name, {kSize, rows}, asBlocks ? *ggmlTypeOf(type) : 0U, bytes);
    };
    const float weight = 1.0F / (16.0F * rootMeanSquare(stock.values));
    const std::vector<float> norm(kSize, weight);
    matrix("token_embd.weight", kVocabulary);
    for (const char* name : {"blk.0.attn_q.weight", "blk.0.attn_k.weight", "blk.0.attn_v.weight",
                             "blk.0.attn_output.weight", "blk.0.ffn_gate.weight",
                             "blk.0.ffn_up.weight", "blk.0.ffn_down.weight"}) {
        matrix(name, kSize);
    }
    matrix("output.weight", kVocabulary);
    for (const char* name :
         {"output_norm.weight", "blk.0.attn_norm.weight", "blk.0.ffn_norm.weight"}) {
        builder.f32Tensor(name, {kSize}, norm);
    }
    builder.write(path);
}

std::vector<float> logitsOf(const std::filesystem::path& path) {
    const auto scorer = Scorer::create(path, {});
    EXPECT_TRUE(scorer.has_value()) << scorer.error().message;
    const std::vector<TokenId> ids{3, 17, 5, 30, 0, 11};
    const auto logits = scorer ? (*scorer)->logits(ids) : Result<std::vector<float>>();
    EXPECT_TRUE(logits.has_value());
    return logits.value_or(std::vector<float>());
}

std::string notesOf(const std::filesystem::path& path) {
    auto engine = makeEngine({.threads = 1});
    EXPECT_TRUE(engine.has_value());
    const auto model = (*engine)->load({.path = path, .name = "m"}, nullptr);
    EXPECT_TRUE(model.has_value()) << model.error().message;
    std::string notes;
    for (const std::string& note : (*model)->notes) {
        notes += note + "\n";
    }
    // What was estimated must cover what is held.
    EXPECT_GE((*model)->estimate.totalBytes, (*model)->info.weightBytes);
    return notes;
}

TEST(WeightTypes, EachGivesTheAnswersOfItsValues) {
    QUERN_GOLDEN_OR_SKIP(folder, "quants");
    const test::TempFolder temp;
    const auto types = test::readJson(folder / "types.json");
    int checked = 0;
    for (const auto& [name, facts] : types["types"].items()) {
        SCOPED_TRACE(name);
        const DType type = kernels::dtypeFromName(name).value();
        const Stock stock = readStock(folder, name, type);
        ASSERT_GE(stock.values.size(), 1024U);
        writeModel(stock, type, true, temp.path() / "blocks.gguf");
        writeModel(stock, type, false, temp.path() / "floats.gguf");
        const std::vector<float> a = logitsOf(temp.path() / "blocks.gguf");
        const std::vector<float> b = logitsOf(temp.path() / "floats.gguf");
        ASSERT_EQ(a.size(), b.size());
        float most = 0.0F;
        for (const float logit : b) {
            ASSERT_TRUE(std::isfinite(logit));
            most = std::max(most, std::fabs(logit));
        }
        EXPECT_GT(most, 0.0F);
        for (std::size_t i = 0; i < a.size(); ++i) {
            ASSERT_NEAR(a[i], b[i], 2e-4F * most) << "logit " << i;
        }
        const std::string notes = notesOf(temp.path() / "blocks.gguf");
        const std::string said = name + " has no fast kernel of its own";
        EXPECT_EQ(notes.find(said) != std::string::npos, kernels::heldAs(type).has_value())
            << notes;
        ++checked;
    }
    EXPECT_EQ(checked, 25);
}

}  // namespace
}  // namespace quern::engine
