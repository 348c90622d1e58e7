#include "kernels/quantize.h"

#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>

#include "kernels/quant.h"
#include "kernels/quant/encode.h"
#include "kernels/quant/half.h"

namespace quern::kernels {

namespace {

/// Null for types that have none.
encode::BlockWriter blockWriter(DType type) {
    switch (type) {
        case DType::kQ4_0:
            return encode::q4_0;
        case DType::kQ4_1:
            return encode::q4_1;
        case DType::kQ5_0:
            return encode::q5_0;
        case DType::kQ5_1:
            return encode::q5_1;
        case DType::kQ8_0:
            return encode::q8_0;
        case DType::kQ4_K:
            return encode::kWriters().q4K;
        case DType::kQ5_K:
            return encode::kWriters().q5K;
        case DType::kQ6_K:
            return encode::kWriters().q6K;
        default:
            return nullptr;
    }
}

/// Block formats have binary16 scales; what a scale can hold, they can.
Status checkRange(std::span<const float> values, std::string_view name) {
    constexpr float kMost = 65504.0F;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!(std::fabs(values[i]) <= kMost)) {
            return fail(ErrorCode::kInvalidArgument,
                        "element " + std::to_string(i) + " is " + std::to_string(values[i]) +
                            ", which " + std::string(name) +
                            " cannot hold: finite values up to 65504 can be quantized");
        }
    }
    return {};
}

}  // namespace

bool canQuantize(DType type) {
    return blockWriter(type) != nullptr || type == DType::kF32 || type == DType::kF16 ||
           type == DType::kBF16;
}

Status quantize(DType type, std::span<const float> values, std::span<std::byte> blocks) {
    const DTypeTraits& t = traits(type);
    if (!canQuantize(type)) {
        return fail(ErrorCode::kUnsupported, "type " + std::string(t.name) + " has no writer");
    }
    const auto expected = rowBytes(type, static_cast<std::int64_t>(values.size()));
    if (!expected) {
        return tl::unexpected<Error>(expected.error());
    }
    if (static_cast<std::int64_t>(blocks.size()) != *expected) {
        return fail(ErrorCode::kInvalidArgument, std::to_string(values.size()) + " elements of " +
                                                     std::string(t.name) + " take " +
                                                     std::to_string(*expected) + " bytes, not " +
                                                     std::to_string(blocks.size()));
    }
    std::byte* to = blocks.data();
    if (const encode::BlockWriter writer = blockWriter(type)) {
        if (auto status = checkRange(values, t.name); !status) {
            return status;
        }
        const auto step = static_cast<std::size_t>(t.blockElements);
        for (std::size_t at = 0; at < values.size(); at += step, to += t.blockBytes) {
            writer(values.data() + at, to);
        }
    } else if (type == DType::kF32) {
        std::memcpy(to, values.data(), values.size_bytes());
    } else {
        for (std::size_t i = 0; i < values.size(); ++i) {
            writeAs(to + 2 * i,
                    type == DType::kF16 ? floatToHalf(values[i]) : floatToBf16(values[i]));
        }
    }
    return {};
}

}  // namespace quern::kernels
