#include "engine/formats/safetensors.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "tests/support/gguf_builder.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using test::SafetensorsBuilder;

Result<std::vector<SafetensorsEntry>> parse(const std::string& bytes) {
    return parseSafetensors(std::as_bytes(std::span(bytes)));
}

std::string oneTensor(const std::string& fields, std::size_t dataBytes = 8) {
    return SafetensorsBuilder::withHeader("{\"t\":{" + fields + "}}", std::string(dataBytes, 'x'));
}

struct Malformed {
    const char* name;
    const char* names;  // what the message must name
    std::string bytes;
    ErrorCode code = ErrorCode::kCorrupt;
};

std::vector<Malformed> malformedFiles() {
    const std::string good = R"("dtype":"F32","shape":[2],"data_offsets":[0,8])";
    const auto withHeader = [](const std::string& header) {
        return SafetensorsBuilder::withHeader(header, "12345678");
    };
    std::string hugeLength(8, '\xff');
    std::string deep = "{\"t\":";
    deep += std::string(100000, '[');
    return {
        {"Empty", "header length", ""},
        {"SevenBytes", "header length", "1234567"},
        {"HeaderLongerThanFile", "header length",
         SafetensorsBuilder::withHeader("{}", "").substr(0, 9)},
        {"HeaderLengthAllOnes", "header length", hugeLength + "{}"},
        {"NotJson", "header", withHeader("{\"t\":}")},
        {"HeaderCut", "header", withHeader("{\"t\":{" + good)},
        {"HeaderNoObject", "header", withHeader("[1]")},
        {"HeaderNumber", "header", withHeader("7")},
        {"BadUtf8", "header", withHeader("{\"\xff\":{" + good + "}}")},
        {"NestedDeep", "header", withHeader(deep)},
        {"TwoObjects", "header", withHeader("{}{}")},
        {"TensorNoObject", "'t'", withHeader("{\"t\":1}")},
        {"TensorTwice", "'t' is there twice",
         withHeader("{\"t\":{" + good + "},\"t\":{" + good + "}}")},
        {"NoDtype", "dtype", oneTensor(R"("shape":[2],"data_offsets":[0,8])")},
        {"NoShape", "shape", oneTensor(R"("dtype":"F32","data_offsets":[0,8])")},
        {"NoOffsets", "data_offsets", oneTensor(R"("dtype":"F32","shape":[2])")},
        {"DtypeTwice", "dtype", oneTensor(R"("dtype":"F32",)" + good)},
        {"DtypeUnknown", "'Q9'", oneTensor(R"("dtype":"Q9","shape":[2],"data_offsets":[0,8])"),
         ErrorCode::kUnsupported},
        {"ShapeNegative", "shape", oneTensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])")},
        {"ShapeFloat", "shape", oneTensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])")},
        {"ShapeZero", "shape", oneTensor(R"("dtype":"F32","shape":[0],"data_offsets":[0,0])")},
        {"ShapeWraps", "shape",
         oneTensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])")},
        {"ShapeBeyondU64", "header",
         oneTensor(R"("dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,8])")},
        {"OffsetsOne", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[8])")},
        {"OffsetsThree", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,8,8])")},
        {"OffsetsBackwards", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,0])")},
        {"OffsetsBeyondFile", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[8,16])")},
        {"OffsetsOtherSize", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])")},
        {"Cut", "data_offsets", oneTensor(good, 7)},
        {"Overlap", "lie inside",
         SafetensorsBuilder::withHeader(
             "{\"t\":{" + good + R"(},"u":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
             "12345678")},
    };
}

TEST(Safetensors, EachMalformedFileNamesItsField) {
    for (const Malformed& malformed : malformedFiles()) {
        const auto parsed = parse(malformed.bytes);
        ASSERT_FALSE(parsed.has_value()) << malformed.name;
        EXPECT_EQ(parsed.error().code, malformed.code) << malformed.name;
        EXPECT_NE(parsed.error().message.find(malformed.names), std::string::npos)
            << malformed.name << ": " << parsed.error().message;
    }
}

TEST(Safetensors, ReadsTensorsOfEveryType) {
    const std::string bytes = SafetensorsBuilder()
                                  .tensor("a", {2, 3}, "BF16", 2)
                                  .tensor("b", {}, "F32", 4)
                                  .tensor("c", {4}, "I64", 8)
                                  .tensor("d", {1, 1, 1, 1, 2}, "F16", 2)
                                  .bytes();
    const auto parsed = parse(bytes);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    ASSERT_EQ(parsed->size(), 4U);
    EXPECT_EQ((*parsed)[0].type, kernels::DType::kBF16);
    EXPECT_EQ((*parsed)[0].shape.rows(), 2);
    EXPECT_EQ((*parsed)[0].data.size(), 12U);
    EXPECT_EQ((*parsed)[1].shape.rank, 0);
    EXPECT_FALSE((*parsed)[2].type.has_value());
    EXPECT_FALSE((*parsed)[3].type.has_value());  // five dimensions: nothing here computes with it
}

TEST(Safetensors, CutsAndDamageNeverCrash) {
    const std::string whole =
        SafetensorsBuilder().tensor("a", {2, 3}).tensor("b.weight", {4}, "BF16", 2).bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string cut = whole.substr(0, size);
        EXPECT_FALSE(parse(cut).has_value()) << size;
    }
    const char* wanted = std::getenv("QUERN_SEED");
    const auto seed =
        wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : std::random_device()();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    for (int round = 0; round < 20000; ++round) {
        std::string damaged = whole;
        for (unsigned i = 0; i < 1 + round % 3U; ++i) {
            damaged[random() % damaged.size()] = static_cast<char>(random() % 256);
        }
        const auto parsed = parse(damaged);
        if (!parsed) {
            EXPECT_FALSE(parsed.error().message.empty());
        }
    }
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

    for (const std::string index :
         {R"({})", R"([])", R"({"weight_map":[]})", R"({"weight_map":{"a":7}})",
          R"({"weight_map":{"a":"../one.safetensors"}})", R"({"weight_map":{"a":""}})",
          R"({"weight_map":{"a":"one.safetensors","c":"one.safetensors"}})"}) {
        const auto wrong = openWith(index);
        ASSERT_FALSE(wrong.has_value()) << index;
        EXPECT_EQ(wrong.error().code, ErrorCode::kCorrupt) << index;
        EXPECT_NE(wrong.error().message.find("weight_map"), std::string::npos)
            << index << ": " << wrong.error().message;
    }
    EXPECT_EQ(openWith(R"({"weight_map":{"a":"three.safetensors"}})").error().code,
              ErrorCode::kNotFound);
    test::writeFile(folder.path() / "two.safetensors",
                    SafetensorsBuilder().tensor("a", {2}).bytes());
    EXPECT_EQ(
        openWith(R"({"weight_map":{"a":"one.safetensors","b":"two.safetensors"}})").error().code,
        ErrorCode::kCorrupt);
}

TEST(Safetensors, SaysWhatAFolderLacks) {
    const test::TempFolder folder;
    const auto opened = SafetensorsModel::open(folder.path());
    EXPECT_EQ(opened.error().code, ErrorCode::kNotFound);
}

}  // namespace
}  // namespace quern::engine
