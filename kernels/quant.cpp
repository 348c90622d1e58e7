#include "kernels/quant.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "kernels/quant/half.h"
#include "kernels/quant/int_block.h"

namespace quern::kernels {

namespace {

// Indexed by DType.
constexpr std::array<DTypeTraits, 30> kTraits{{
    {"F32", 1, 4, false},     {"F16", 1, 2, false},       {"BF16", 1, 2, false},
    {"F8_E4M3", 1, 1, false}, {"F8_E5M2", 1, 1, false},   {"I8", 1, 1, false},
    {"I32", 1, 4, false},     {"Q4_0", 32, 18, true},     {"Q4_1", 32, 20, true},
    {"Q5_0", 32, 22, true},   {"Q5_1", 32, 24, true},     {"Q8_0", 32, 34, true},
    {"Q2_K", 256, 84, true},  {"Q3_K", 256, 110, true},   {"Q4_K", 256, 144, true},
    {"Q5_K", 256, 176, true}, {"Q6_K", 256, 210, true},   {"IQ1_S", 256, 50, true},
    {"IQ1_M", 256, 56, true}, {"IQ2_XXS", 256, 66, true}, {"IQ2_XS", 256, 74, true},
    {"IQ2_S", 256, 82, true}, {"IQ3_XXS", 256, 98, true}, {"IQ3_S", 256, 110, true},
    {"IQ4_NL", 32, 18, true}, {"IQ4_XS", 256, 136, true}, {"TQ1_0", 256, 54, true},
    {"TQ2_0", 256, 66, true}, {"MXFP4", 32, 17, true},    {"NVFP4", 64, 36, true},
}};

}  // namespace

const DTypeTraits& traits(DType type) {
    return kTraits[static_cast<std::size_t>(type)];
}

Result<DType> dtypeFromName(std::string_view name) {
    const auto equalsIgnoringCase = [&](std::string_view other) {
        return std::equal(name.begin(), name.end(), other.begin(), other.end(), [](char a, char b) {
            return std::toupper(static_cast<unsigned char>(a)) ==
                   std::toupper(static_cast<unsigned char>(b));
        });
    };
    std::string known;
    for (std::size_t i = 0; i < kTraits.size(); ++i) {
        if (equalsIgnoringCase(kTraits[i].name)) {
            return static_cast<DType>(i);
        }
        known += known.empty() ? "" : ", ";
        known += kTraits[i].name;
    }
    return fail(ErrorCode::kInvalidArgument,
                "unknown type '" + std::string(name) + "'; known types: " + known);
}

Result<std::int64_t> rowBytes(DType type, std::int64_t cols) {
    const DTypeTraits& t = traits(type);
    if (cols < 0 || cols % t.blockElements != 0) {
        return fail(ErrorCode::kInvalidArgument,
                    "a row of " + std::to_string(cols) + " elements is not whole " +
                        std::string(t.name) + " blocks of " + std::to_string(t.blockElements));
    }
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(cols / t.blockElements, t.blockBytes, &bytes)) {
        return fail(ErrorCode::kInvalidArgument,
                    "a row of " + std::to_string(cols) + " elements is too long");
    }
    return bytes;
}

namespace {

void dequantizeBlocks(BlockDecoder decoder, const DTypeTraits& t, const std::byte* from,
                      std::span<float> out) {
    std::array<IntBlock, 8> parts;
    const auto blockElements = static_cast<std::size_t>(t.blockElements);
    for (std::size_t start = 0; start < out.size(); start += blockElements) {
        decoder(from, parts.data());
        for (std::size_t i = 0; i < blockElements; ++i) {
            const IntBlock& part = parts[i / 32];
            const std::size_t half = (i % 32) / 16;
            out[start + i] = part.scale[half] * static_cast<float>(part.q[i % 32]) + part.min[half];
        }
        from += t.blockBytes;
    }
}

template <class Stored, class Convert>
void convertEach(const std::byte* from, std::span<float> out, Convert convert) {
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = convert(readAs<Stored>(from + i * sizeof(Stored)));
    }
}

}  // namespace

Status dequantize(DType type, std::span<const std::byte> blocks, std::span<float> out) {
    const DTypeTraits& t = traits(type);
    const auto expected = rowBytes(type, static_cast<std::int64_t>(out.size()));
    if (!expected) {
        return tl::unexpected<Error>(expected.error());
    }
    if (static_cast<std::int64_t>(blocks.size()) != *expected) {
        return fail(ErrorCode::kInvalidArgument,
                    std::to_string(out.size()) + " elements of " + std::string(t.name) + " take " +
                        std::to_string(*expected) + " bytes, not " + std::to_string(blocks.size()));
    }
    if (const BlockDecoder decoder = blockDecoder(type)) {
        dequantizeBlocks(decoder, t, blocks.data(), out);
        return {};
    }
    switch (type) {
        case DType::kF32:
            convertEach<float>(blocks.data(), out, [](float value) { return value; });
            return {};
        case DType::kF16:
            convertEach<std::uint16_t>(blocks.data(), out, halfToFloat);
            return {};
        case DType::kBF16:
            convertEach<std::uint16_t>(blocks.data(), out, bf16ToFloat);
            return {};
        case DType::kF8E4M3:
            convertEach<std::uint8_t>(blocks.data(), out, f8E4M3ToFloat);
            return {};
        case DType::kF8E5M2:
            convertEach<std::uint8_t>(blocks.data(), out, f8E5M2ToFloat);
            return {};
        case DType::kI8:
            convertEach<std::int8_t>(blocks.data(), out,
                                     [](std::int8_t value) { return static_cast<float>(value); });
            return {};
        case DType::kI32:
            convertEach<std::int32_t>(blocks.data(), out,
                                      [](std::int32_t value) { return static_cast<float>(value); });
            return {};
        default:
            return fail(ErrorCode::kUnsupported, "type " + std::string(t.name) + " has no reader");
    }
}

}  // namespace quern::kernels
