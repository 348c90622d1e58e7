#include "engine/formats/safetensors.h"

#include <gtest/gtest.h>

#include <vector>

#include "kernels/quant.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using test::SafetensorsBuilder;

TEST(Safetensors, ReadsTensorsOfEveryType) {
    const std::string bytes = SafetensorsBuilder()
                                  .tensor("a", {2, 3}, "BF16", 2)
                                  .tensor("b", {}, "F32", 4)
                                  .tensor("c", {4}, "I64", 8)
                                  .tensor("d", {1, 1, 1, 1, 2}, "F16", 2)
                                  .bytes();
    const auto parsed = parseSafetensors(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    ASSERT_EQ(parsed->size(), 4U);
    EXPECT_EQ((*parsed)[0].type, kernels::DType::kBF16);
    EXPECT_EQ((*parsed)[0].shape.rows(), 2);
    EXPECT_EQ((*parsed)[0].data.size(), 12U);
    EXPECT_EQ((*parsed)[1].shape.rank, 0);
    EXPECT_FALSE((*parsed)[2].type.has_value());
    EXPECT_FALSE((*parsed)[3].type.has_value());  // five dimensions: nothing here computes with it
}

// Headers of old files end anywhere, and a tensor of bytes moves those behind it.
TEST(Safetensors, TensorsMayLieAtOddPlaces) {
    const std::string header = R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                               R"("t":{"dtype":"F32","shape":[2],"data_offsets":[3,11]}} )";
    const float values[] = {1.5F, -2.0F};
    std::string data = "xyz";
    data.append(reinterpret_cast<const char*>(values), sizeof(values));
    const std::string bytes = SafetensorsBuilder::withHeader(header, data);
    const auto parsed = parseSafetensors(std::as_bytes(std::span(bytes)));
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    std::vector<float> read(2);
    ASSERT_TRUE(kernels::dequantize(kernels::DType::kF32, (*parsed)[1].data, read));
    EXPECT_EQ(read, (std::vector<float>{1.5F, -2.0F}));
}

TEST(Safetensors, OpensShardsThroughTheIndex) {
    const test::TempFolder folder;
    test::writeFile(folder.path() / "one.safetensors",
                    SafetensorsBuilder().tensor("a", {2}).bytes());
    test::writeFile(folder.path() / "two.safetensors",
                    SafetensorsBuilder().tensor("b", {2}).bytes());
    const auto openWith = [&](const std::string& index) {
        test::writeFile(folder.path() / "model.safetensors.index.json", index);
        return SafetensorsModel::open(folder.path());
    };
    const auto right = openWith(R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})");
    ASSERT_TRUE(right.has_value()) << right.error().message;
    EXPECT_EQ((*right)->entries().size(), 2U);
}

TEST(Safetensors, SaysWhatAFolderLacks) {
    const test::TempFolder folder;
    const auto opened = SafetensorsModel::open(folder.path());
    EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace quern::engine
