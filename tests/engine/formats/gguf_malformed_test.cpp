// Files that break the format: each must give an error that names the field, and nothing else.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <limits>
#include <random>

#include "engine/formats/gguf_parser.h"
#include "tests/support/gguf_builder.h"

namespace quern::engine {
namespace {

using test::appendBytes;
using test::GgufBuilder;

Result<ParsedGguf> parse(const std::string& bytes) {
    return parseGguf(std::as_bytes(std::span(bytes)));
}

GgufBuilder goodFile() {
    GgufBuilder builder;
    builder.string("general.architecture", "llama")
        .u32("llama.block_count", 2)
        .strings("tokens", {"a", "b"})
        .f32Tensor("one", {8, 2})
        .f32Tensor("two", {4});
    return builder;
}

std::string lengthThenText(std::uint64_t length, std::string_view text) {
    std::string bytes;
    appendBytes(bytes, length);
    bytes += text;
    return bytes;
}

std::string arrayHead(std::uint32_t type, std::uint64_t count) {
    std::string bytes;
    appendBytes(bytes, type);
    appendBytes(bytes, count);
    return bytes;
}

struct Malformed {
    std::string name;
    std::string names;  // what the message must name
    std::function<std::string()> bytes;
    ErrorCode code = ErrorCode::kCorrupt;
};

std::string withTensor(const std::function<void(GgufBuilder::Tensor&)>& change) {
    GgufBuilder builder = goodFile();
    change(builder.tensors.back());
    return builder.bytes();
}

std::string withVersion(std::uint32_t version) {
    GgufBuilder builder = goodFile();
    builder.version = version;
    return builder.bytes();
}

std::string withAlignment(std::uint32_t value) {
    GgufBuilder builder;
    builder.u32("general.alignment", value).f32Tensor("one", {8});
    return builder.bytes();
}

std::vector<Malformed> malformedFiles() {
    constexpr auto kMaxI64 = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    return {
        {"BadMagic", "magic", [] { return "FUGG" + goodFile().bytes().substr(4); }},
        {"NoBytesAfterMagic", "version", [] { return std::string("GGUF"); }},
        {"Version0", "version", [] { return withVersion(0); }},
        {"Version1", "version", [] { return withVersion(1); }, ErrorCode::kUnsupported},
        {"VersionFuture", "version", [] { return withVersion(99); }, ErrorCode::kUnsupported},
        {"VersionByteSwapped", "big-endian", [] { return withVersion(0x03000000); },
         ErrorCode::kUnsupported},
        {"TensorCountHuge", "n_tensors",
         [] {
             GgufBuilder builder = goodFile();
             builder.extraTensors = std::uint64_t{1} << 60;
             return builder.bytes();
         }},
        {"TensorCountAllOnes", "n_tensors",
         [] {
             GgufBuilder builder = goodFile();
             builder.extraTensors = ~std::uint64_t{0} - builder.tensors.size();
             return builder.bytes();
         }},
        {"KeyCountHuge", "n_kv",
         [] {
             GgufBuilder builder = goodFile();
             builder.extraKeys = std::uint64_t{1} << 60;
             return builder.bytes();
         }},
        {"KeyCountOneTooMany", "tensor number 0",
         [] {
             GgufBuilder builder = goodFile();
             builder.extraKeys = 1;
             return builder.bytes();
         }},
        {"TensorCountOneTooMany", "tensor number 2",
         [] {
             GgufBuilder builder = goodFile();
             builder.extraTensors = 1;
             return builder.bytes();
         }},
        {"KeyLongerThanFile", "metadata key number 0",
         [] {
             GgufBuilder builder;
             builder.rawKeys(lengthThenText(1 << 20, "abcdefgh"), 1);
             return builder.bytes();
         }},
        {"KeyLengthAllOnes", "metadata key number 0",
         [] {
             GgufBuilder builder;
             builder.rawKeys(lengthThenText(~std::uint64_t{0}, "abcdefgh"), 1);
             return builder.bytes();
         }},
        {"KeyEmpty", "metadata key number 3",
         [] { return GgufBuilder(goodFile()).u32("", 1).bytes(); }},
        {"KeyTooLong", "metadata key number 3",
         [] { return GgufBuilder(goodFile()).u32(std::string(65536, 'k'), 1).bytes(); }},
        {"KeyTwice", "'llama.block_count' is there twice",
         [] { return GgufBuilder(goodFile()).u32("llama.block_count", 1).bytes(); }},
        {"ValueTypeUnknown", "'bad'",
         [] { return GgufBuilder(goodFile()).raw("bad", 13, "12345678").bytes(); }},
        {"ValueTypeAllOnes", "'bad'",
         [] { return GgufBuilder(goodFile()).raw("bad", ~0U, "12345678").bytes(); }},
        {"ElementTypeUnknown", "'bad'",
         [] { return GgufBuilder(goodFile()).raw("bad", 9, arrayHead(77, 1)).bytes(); }},
        {"ArrayOfArrays", "'bad'",
         [] { return GgufBuilder(goodFile()).raw("bad", 9, arrayHead(9, 1)).bytes(); },
         ErrorCode::kUnsupported},
        {"ArrayOfStringsHuge", "'bad'",
         [] {
             return GgufBuilder(goodFile())
                 .raw("bad", 9, arrayHead(8, std::uint64_t{1} << 40))
                 .bytes();
         }},
        {"ArrayOfNumbersWraps", "'bad'",
         [] {
             return GgufBuilder(goodFile())
                 .raw("bad", 9, arrayHead(10, (std::uint64_t{1} << 61) + 1))
                 .bytes();
         }},
        {"StringLongerThanFile", "'bad'",
         [] {
             return GgufBuilder(goodFile()).raw("bad", 8, lengthThenText(1 << 30, "x")).bytes();
         }},
        {"AlignmentZero", "general.alignment", [] { return withAlignment(0); }},
        {"AlignmentNoPowerOfTwo", "general.alignment", [] { return withAlignment(24); }},
        {"AlignmentWrongType", "general.alignment",
         [] { return GgufBuilder(goodFile()).f32("general.alignment", 32.0F).bytes(); }},
        {"AlignmentString", "general.alignment",
         [] { return GgufBuilder(goodFile()).string("general.alignment", "32").bytes(); }},
        {"AlignmentArray", "general.alignment",
         [] { return GgufBuilder(goodFile()).u32s("general.alignment", {32}).bytes(); }},
        {"AlignmentBeyondFile", "tensor data",
         [] {
             GgufBuilder builder;
             builder.u32("general.alignment", 1U << 31).f32Tensor("one", {8});
             return builder.bytes();
         }},
        {"TensorNameTooLong", "tensor number 1",
         [] { return withTensor([](auto& t) { t.name = std::string(64, 'n'); }); }},
        {"TensorNameEmpty", "tensor number 1",
         [] { return withTensor([](auto& t) { t.name = ""; }); }},
        {"TensorNameTwice", "'one' is there twice",
         [] { return withTensor([](auto& t) { t.name = "one"; }); }},
        {"NoDims", "n_dims", [] { return withTensor([](auto& t) { t.ne = {}; }); }},
        {"FiveDims", "n_dims", [] { return withTensor([](auto& t) {
                                        t.ne = {4, 1, 1, 1, 1};
                                    }); }},
        {"DimZero", "dimension 0", [] { return withTensor([](auto& t) { t.ne = {0}; }); }},
        {"DimZeroInside", "dimension 1",
         [] { return withTensor([](auto& t) {
                  t.ne = {4, 0, 2};
              }); }},
        {"DimNegative", "dimension 0",
         [] { return withTensor([](auto& t) { t.ne = {~std::uint64_t{0}}; }); }},
        {"DimsProductWraps", "'two'",
         [] {
             return withTensor([](auto& t) {
                 t.ne = {(std::uint64_t{1} << 42) + 1, std::uint64_t{1} << 22};
             });
         }},
        {"DimsProductTwiceMax", "'two'",
         [] { return withTensor([](auto& t) {
                  t.ne = {kMaxI64, 2};
              }); }},
        {"BytesWrap", "'two'",
         [] {
             return withTensor(
                 [](auto& t) { t.ne = {std::numeric_limits<std::size_t>::max() / 4}; });
         }},
        {"BytesWrapOverRows", "'two'",
         [] { return withTensor([](auto& t) {
                  t.ne = {4, std::uint64_t{1} << 60};
              }); }},
        {"TensorTypeUnknown", "'two'",
         [] { return withTensor([](auto& t) { t.ggmlType = 4711; }); }},
        {"TensorTypeRemoved", "'two'", [] { return withTensor([](auto& t) { t.ggmlType = 4; }); },
         ErrorCode::kUnsupported},
        {"RowNoWholeBlocks", "'two'",
         [] {
             return withTensor([](auto& t) {
                 t.ne = {33};
                 t.ggmlType = 3;
             });
         }},
        {"OffsetUnaligned", "'two'", [] { return withTensor([](auto& t) { t.offset += 1; }); }},
        {"OffsetBeyondFile", "'two'",
         [] { return withTensor([](auto& t) { t.offset = 1 << 20; }); }},
        {"OffsetAllOnes", "'two'",
         [] { return withTensor([](auto& t) { t.offset = ~std::uint64_t{31}; }); }},
        {"Overlap", "'two'", [] { return withTensor([](auto& t) { t.offset = 32; }); }},
        {"CutInTensorData", "'two'",
         [] {
             const std::string whole = goodFile().bytes();
             return whole.substr(0, whole.size() - 1);
         }},
    };
}

TEST(GgufMalformed, EachNamesItsField) {
    for (const Malformed& malformed : malformedFiles()) {
        const std::string bytes = malformed.bytes();
        const auto parsed = parse(bytes);
        ASSERT_FALSE(parsed.has_value()) << malformed.name;
        EXPECT_EQ(parsed.error().code, malformed.code) << malformed.name;
        EXPECT_NE(parsed.error().message.find(malformed.names), std::string::npos)
            << malformed.name << ": " << parsed.error().message;
        EXPECT_LT(parsed.error().message.size(), 400U) << malformed.name;
    }
}

TEST(GgufMalformed, TheGoodFileIsGood) {
    const std::string bytes = goodFile().bytes();
    const auto parsed = parse(bytes);
    ASSERT_TRUE(parsed.has_value()) << parsed.error().message;
    EXPECT_EQ(parsed->tensors.size(), 2U);
}

TEST(GgufMalformed, OtherAlignmentsAreRead) {
    for (const std::uint32_t alignment : {1U, 8U, 4096U}) {
        GgufBuilder builder;
        builder.alignment = alignment;
        builder.u32("general.alignment", alignment).f32Tensor("one", {3}).f32Tensor("two", {5});
        const std::string bytes = builder.bytes();
        EXPECT_TRUE(parse(bytes).has_value()) << alignment;
    }
}

TEST(GgufMalformed, CutAtEveryByte) {
    const std::string whole = goodFile().bytes();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // A copy of its own on the heap, so that a sanitizer sees one byte too far.
        const std::string cut = whole.substr(0, size);
        EXPECT_FALSE(parse(cut).has_value()) << size;
    }
}

TEST(GgufMalformed, RandomDamageNeverCrashes) {
    const char* wanted = std::getenv("QUERN_SEED");
    const auto seed =
        wanted != nullptr ? static_cast<unsigned>(std::atoi(wanted)) : std::random_device()();
    std::printf("seed %u\n", seed);
    std::mt19937 random(seed);
    const std::string whole = goodFile().bytes();
    for (int round = 0; round < 20000; ++round) {
        std::string damaged = whole;
        const unsigned flips = 1 + random() % 4;
        for (unsigned i = 0; i < flips; ++i) {
            const std::size_t at = random() % damaged.size();
            damaged[at] = static_cast<char>(damaged[at] ^ static_cast<char>(1U << (random() % 8)));
        }
        const auto parsed = parse(damaged);
        if (!parsed) {
            EXPECT_FALSE(parsed.error().message.empty());
            continue;
        }
        unsigned sum = 0;
        for (const GgufTensor& tensor : parsed->tensors) {
            sum += static_cast<unsigned>(tensor.view.data[tensor.bytes - 1]);
        }
        for (const auto& [key, value] : parsed->metadata.entries()) {
            sum += static_cast<unsigned>(describeValue(value).size() + key.size());
        }
        EXPECT_LT(sum, 1U << 20U);
    }
}

}  // namespace
}  // namespace quern::engine
