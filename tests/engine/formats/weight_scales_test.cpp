#include "engine/formats/weight_scales.h"

#include <gtest/gtest.h>

#include <cstring>

#include "engine/formats/model_source.h"
#include "engine/formats/tensor_table.h"
#include "kernels/quant.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using kernels::DType;
using kernels::Shape;
using kernels::TensorView;

TensorView viewOf(const std::vector<float>& values, std::int64_t rows, std::int64_t cols) {
    return {.type = DType::kF32,
            .shape = {.dims = {rows, cols, 1, 1}, .rank = 2},
            .data = reinterpret_cast<const std::byte*>(values.data())};
}

std::vector<float> scaled(const WeightScales& scales, std::int64_t row, std::size_t cols) {
    std::vector<float> values(cols, 1.0F);
    scales.apply(row, values);
    return values;
}

TEST(WeightScales, OneOneARowAndOneATile) {
    const Shape matrix{.dims = {3, 5, 1, 1}, .rank = 2};
    const std::vector<float> values{2, 3, 4, 5, 6, 7};
    TensorView single = viewOf(values, 1, 1);
    single.shape = {.dims = {1, 1, 1, 1}, .rank = 0};
    const auto one = WeightScales::create(single, matrix, 128, 128);
    ASSERT_TRUE(one.has_value()) << one.error().message;
    EXPECT_EQ(scaled(*one, 2, 5), (std::vector<float>{2, 2, 2, 2, 2}));
    const auto byRow = WeightScales::create(viewOf(values, 3, 1), matrix, 128, 128);
    ASSERT_TRUE(byRow.has_value()) << byRow.error().message;
    EXPECT_EQ(scaled(*byRow, 1, 5), (std::vector<float>{3, 3, 3, 3, 3}));
    // Tiles of two rows and two columns, cut at the edges.
    const auto byTile = WeightScales::create(viewOf(values, 2, 3), matrix, 2, 2);
    ASSERT_TRUE(byTile.has_value()) << byTile.error().message;
    EXPECT_EQ(scaled(*byTile, 1, 5), (std::vector<float>{2, 2, 3, 3, 4}));
    EXPECT_EQ(scaled(*byTile, 2, 5), (std::vector<float>{5, 5, 6, 6, 7}));
}

TEST(WeightScales, RefusesShapesThatDoNotFit) {
    const std::vector<float> values(6, 1.0F);
    const Shape matrix{.dims = {3, 5, 1, 1}, .rank = 2};
    for (const auto& [rows, cols] : {std::pair{2, 1}, std::pair{3, 3}, std::pair{1, 3}}) {
        const auto wrong = WeightScales::create(viewOf(values, rows, cols), matrix, 2, 2);
        ASSERT_FALSE(wrong.has_value());
        EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt);
        EXPECT_NE(wrong.error().message.find("[3, 5]"), std::string::npos);
    }
    EXPECT_FALSE(WeightScales::create(viewOf(values, 2, 3), matrix, 0, 2).has_value());
}

// A llama whose first query matrix is of 8-bit floats, all 1.5, in one row of two tiles.
std::string eightBitLlama(const std::string& scaleName, float second) {
    constexpr std::size_t kBytes = 256 * 256;
    const std::string rest = test::llamaTensors(1, 256, 256, 8, 256).bytes();
    std::uint64_t length = 0;
    std::memcpy(&length, rest.data(), sizeof length);
    std::string header = rest.substr(8, length);
    std::string data = rest.substr(8 + length);
    const std::string name = "model.layers.0.self_attn.q_proj.weight";
    const std::size_t at = header.find("\"" + name + "\"");
    EXPECT_NE(at, std::string::npos);
    header.replace(at + 1, name.size(), "model.rotary_emb.inv_freq");  // makes room for ours
    const std::size_t end = header.rfind('}');
    const std::size_t first = data.size();
    const auto entry = [](const std::string& tensor, const char* dtype, const char* shape,
                          std::size_t from, std::size_t bytes) {
        return ",\"" + tensor + "\":{\"dtype\":\"" + dtype + "\",\"shape\":" + shape +
               ",\"data_offsets\":[" + std::to_string(from) + "," + std::to_string(from + bytes) +
               "]}";
    };
    header.insert(end, entry(name, "F8_E4M3", "[256,256]", first, kBytes) +
                           entry(scaleName, "F32", "[2,2]", first + kBytes, 16));
    data += std::string(kBytes, '\x3C');  // 1.5
    const std::vector<float> scales{0.5F, second, 2.0F, 4.0F};
    data.append(reinterpret_cast<const char*>(scales.data()), 16);
    return test::SafetensorsBuilder::withHeader(header, data);
}

TEST(WeightScales, EightBitCheckpointsGiveTheirRealWeights) {
    const test::TempFolder folder;
    test::writeFile(folder.path() / "config.json",
                    R"({"model_type":"llama","vocab_size":8,"hidden_size":256,
        "num_hidden_layers":1,"num_attention_heads":4,"num_key_value_heads":4,
        "intermediate_size":256,"max_position_embeddings":64,"tie_word_embeddings":false,
        "quantization_config":{"quant_method":"fp8","weight_block_size":[128,128]}})");
    const std::string name = "model.layers.0.self_attn.q_proj.weight_scale_inv";
    for (const float second : {0.25F, 0.3F}) {
        test::writeFile(folder.path() / "model.safetensors", eightBitLlama(name, second));
        const auto model = openModel(folder.path());
        ASSERT_TRUE(model.has_value()) << model.error().message;
        const auto view = model->tensors->find("blk.0.attn_q.weight");
        ASSERT_TRUE(view.has_value());
        ASSERT_EQ(model->info.rewritten.size(), 1U);
        EXPECT_EQ(model->info.rewritten[0].from, DType::kF8E4M3);
        EXPECT_EQ(model->info.rewritten[0].fileBytes, 256 * 256);
        EXPECT_EQ(model->info.rewritten[0].bytes, 256 * 256 * 4);
        // BF16 where it is exact, F32 where it is not.
        EXPECT_EQ(view->type, second == 0.25F ? DType::kBF16 : DType::kF32);
        std::vector<float> row(256);
        const auto bytes = static_cast<std::size_t>(256 * (second == 0.25F ? 2 : 4));
        ASSERT_TRUE(kernels::dequantize(view->type, {view->data, bytes}, row).has_value());
        EXPECT_EQ(row[0], 0.75F);
        EXPECT_EQ(row[127], 0.75F);
        EXPECT_EQ(row[128], 1.5F * second);
        const std::byte* last = view->data + 255 * bytes;
        ASSERT_TRUE(kernels::dequantize(view->type, {last, bytes}, row).has_value());
        EXPECT_EQ(row[0], 3.0F);
        EXPECT_EQ(row[255], 6.0F);
    }
    test::writeFile(folder.path() / "model.safetensors",
                    eightBitLlama("model.layers.0.self_attn.wings.weight_scale", 1.0F));
    EXPECT_EQ(openModel(folder.path()).error().code, ErrorCode::kUnsupported);
}

}  // namespace
}  // namespace quern::engine
