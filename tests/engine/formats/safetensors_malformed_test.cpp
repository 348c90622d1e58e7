// safetensors files and their indices that break the format: each must give an error that names the
// field, and nothing else.
#include <gtest/gtest.h>

#include <cstdlib>
#include <random>

#include "engine/formats/safetensors.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using test::SafetensorsBuilder;

Result<std::vector<SafetensorsEntry>> parseHeader(const std::string& bytes) {
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
        {"DtypeNumber", "dtype", oneTensor(R"("dtype":32,"shape":[2],"data_offsets":[0,8])")},
        {"DtypeOtherWidth", "data_offsets",
         oneTensor(R"("dtype":"F16","shape":[2],"data_offsets":[0,8])")},
        {"ShapeTwice", "shape", oneTensor(R"("shape":[2],)" + good)},
        {"OffsetsTwice", "data_offsets", oneTensor(R"("data_offsets":[0,8],)" + good)},
        {"FieldUnknown", "strides", oneTensor(R"("strides":[1],)" + good)},
        {"MetadataNoTexts", "__metadata__", withHeader(R"({"__metadata__":[1]})")},
        {"MetadataOfObjects", "format", withHeader(R"({"__metadata__":{"format":{}}})")},
        {"DtypeUnknown", "'Q9'", oneTensor(R"("dtype":"Q9","shape":[2],"data_offsets":[0,8])"),
         ErrorCode::kUnsupported},
        {"ShapeNegative", "shape", oneTensor(R"("dtype":"F32","shape":[-2],"data_offsets":[0,8])")},
        {"ShapeFloat", "shape", oneTensor(R"("dtype":"F32","shape":[2.0],"data_offsets":[0,8])")},
        {"ShapeZero", "shape", oneTensor(R"("dtype":"F32","shape":[0],"data_offsets":[0,0])")},
        {"ShapeWraps", "shape",
         oneTensor(R"("dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8])")},
        {"ShapeWrapsToItsSize", "shape",
         oneTensor(R"("dtype":"F32","shape":[4611686018427387906],"data_offsets":[0,8])")},
        {"ShapeText", "shape", oneTensor(R"("dtype":"F32","shape":"2","data_offsets":[0,8])")},
        {"ShapeNested", "shape", oneTensor(R"("dtype":"F32","shape":[[2]],"data_offsets":[0,8])")},
        {"ShapeOfFiveWraps", "shape",
         oneTensor(R"("dtype":"F32","shape":[65536,65536,65536,65536,2],"data_offsets":[0,8])")},
        {"BitsMakeNoBytes", "data_offsets",
         oneTensor(R"("dtype":"F4","shape":[3],"data_offsets":[0,1])", 1)},
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
        {"OffsetsNegative", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[-8,0])")},
        {"OffsetsFloat", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[0.0,8])")},
        {"OffsetsText", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":["0","8"])")},
        {"OffsetsAllOnes", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,18446744073709551615])")},
        {"OffsetsWrap", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,0])")},
        {"OffsetsBeyondU64", "header",
         oneTensor(R"("dtype":"F32","shape":[2],"data_offsets":[0,99999999999999999999])")},
        {"OffsetsOtherSize", "data_offsets",
         oneTensor(R"("dtype":"F32","shape":[3],"data_offsets":[0,8])")},
        {"Cut", "data_offsets", oneTensor(good, 7)},
        {"Overlap", "lie inside",
         SafetensorsBuilder::withHeader(
             "{\"t\":{" + good + R"(},"u":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
             "12345678")},
        {"SameBytesTwice", "lie inside",
         SafetensorsBuilder::withHeader("{\"t\":{" + good + "},\"u\":{" + good + "}}", "12345678")},
        {"Gap", "'u': data_offsets: the 4 bytes before it",
         SafetensorsBuilder::withHeader(
             "{\"t\":{" + good + R"(},"u":{"dtype":"F32","shape":[1],"data_offsets":[12,16]}})",
             "1234567812345678")},
        {"GapBeforeAll", "'t': data_offsets: the 4 bytes before it",
         oneTensor(R"("dtype":"F32","shape":[1],"data_offsets":[4,8])")},
        {"BytesBehind", "the last 3 bytes", oneTensor(good, 11)},
        {"BytesBehindNothing", "the last 8 bytes", withHeader("{}")},
        {"NameLong", "header", withHeader("{\"" + std::string(100000, 'n') + "\":1}")},
    };
}

TEST(SafetensorsMalformed, EachNamesItsField) {
    for (const Malformed& malformed : malformedFiles()) {
        const auto parsed = parseHeader(malformed.bytes);
        ASSERT_FALSE(parsed.has_value()) << malformed.name;
        EXPECT_EQ(parsed.error().code, malformed.code) << malformed.name;
        EXPECT_NE(parsed.error().message.find(malformed.names), std::string::npos)
            << malformed.name << ": " << parsed.error().message;
        EXPECT_LT(parsed.error().message.size(), 400U) << malformed.name;
    }
}

TEST(SafetensorsMalformed, CutsAndDamageNeverCrash) {
    const std::string whole =
        SafetensorsBuilder().tensor("a", {2, 3}).tensor("b.weight", {4}, "BF16", 2).bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const std::string cut = whole.substr(0, size);
        EXPECT_FALSE(parseHeader(cut).has_value()) << size;
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
        const auto parsed = parseHeader(damaged);
        if (!parsed) {
            EXPECT_FALSE(parsed.error().message.empty());
        }
    }
}

// A folder of two files with a tensor each, "a" and "b", and an index.
class Shards {
public:
    Shards() {
        write("one.safetensors", SafetensorsBuilder().tensor("a", {2}).bytes());
        write("two.safetensors", SafetensorsBuilder().tensor("b", {2}).bytes());
    }
    void write(const char* name, const std::string& bytes) const {
        test::writeFile(m_folder.path() / name, bytes);
    }
    [[nodiscard]] Error open(const std::string& index) const {
        write("model.safetensors.index.json", index);
        const auto model = SafetensorsModel::open(m_folder.path());
        return model ? Error{} : model.error();
    }

private:
    test::TempFolder m_folder;
};

std::string mapOf(const std::string& members) {
    return "{\"weight_map\":{" + members + "}}";
}

constexpr const char* kRightMap = R"("a":"one.safetensors","b":"two.safetensors")";

TEST(SafetensorsMalformed, EachIndexNamesWhatIsWrong) {
    struct Wrong {
        std::string index;
        const char* names;
        ErrorCode code = ErrorCode::kCorrupt;
    };
    std::string zero = mapOf(R"("a":"one.safetensors\u0000x")");
    const Wrong wrongs[] = {
        {"", "index.json"},
        {"{", "not JSON"},
        {std::string(100, '['), "nested deeper"},
        {"[]", "weight_map"},
        {"{}", "weight_map"},
        {R"({"weight_map":null})", "weight_map"},
        {R"({"weight_map":["one.safetensors"]})", "weight_map"},
        {mapOf(""), "weight_map names no file"},
        {mapOf(R"("a":7)"), "'a' names no file"},
        {mapOf(R"("a":null)"), "'a' names no file"},
        {mapOf(R"("a":"")"), "'a' names no file"},
        {mapOf(R"("a":".")"), "'a' names no file"},
        {mapOf(R"("a":"..")"), "'a' names no file"},
        {mapOf(R"("a":"../one.safetensors")"), "'a' names no file"},
        {mapOf(R"("a":"/etc/passwd")"), "'a' names no file"},
        {mapOf(R"("a":"x/../one.safetensors")"), "'a' names no file"},
        {zero, "'a' names no file"},
        {mapOf(R"("a":"three.safetensors")"), "three.safetensors", ErrorCode::kNotFound},
        {mapOf(R"("a":"model.safetensors.index.json")"), "model.safetensors.index.json"},
        {mapOf(std::string(kRightMap) + R"(,"c":"one.safetensors")"), "'c' in 'one.safetensors'"},
        {mapOf(R"("a":"two.safetensors","b":"one.safetensors")"), "'a' in 'two.safetensors'"},
    };
    const Shards shards;
    ASSERT_EQ(shards.open(mapOf(kRightMap)).message, "");
    for (const Wrong& wrong : wrongs) {
        const Error error = shards.open(wrong.index);
        EXPECT_EQ(error.code, wrong.code) << wrong.index << ": " << error.message;
        EXPECT_NE(error.message.find(wrong.names), std::string::npos)
            << wrong.index << ": " << error.message;
    }
}

TEST(SafetensorsMalformed, EachShardNamesItself) {
    const Shards shards;
    const std::string index = mapOf(kRightMap);
    const auto refusal = [&](const std::string& bytes) {
        shards.write("two.safetensors", bytes);
        return shards.open(index).message;
    };
    const auto expect = [&](const std::string& bytes, const char* names) {
        const std::string message = refusal(bytes);
        EXPECT_NE(message.find("two.safetensors"), std::string::npos) << message;
        EXPECT_NE(message.find(names), std::string::npos) << message;
    };
    const std::string right = SafetensorsBuilder().tensor("b", {2}).bytes();
    EXPECT_EQ(refusal(right), "");
    expect("", "is empty");
    expect("GGUF", "header length");
    expect(right.substr(0, right.size() - 1), "data_offsets");
    expect(right + "x", "the last 1 bytes");
    expect(SafetensorsBuilder().tensor("a", {2}).bytes(), "'a' is in 'one.safetensors' already");
    expect(SafetensorsBuilder().tensor("c", {2}).bytes(), "'b' in 'two.safetensors'");
}

// A map of every tensor there could be is read in the time that its length takes.
TEST(SafetensorsMalformed, AWideIndexIsNoTrouble) {
    std::string members;
    for (int i = 0; i < 200'000; ++i) {
        members += (i > 0 ? ",\"t" : "\"t") + std::to_string(i) + "\":\"one.safetensors\"";
    }
    const Error error = Shards().open(mapOf(members));
    EXPECT_NE(error.message.find("'t0' in 'one.safetensors'"), std::string::npos) << error.message;
}

}  // namespace
}  // namespace quern::engine
