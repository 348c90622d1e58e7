#include "kernels/cpu/panel_codes.h"

#include <array>
#include <cstring>

#include "kernels/quant/half.h"
#include "kernels/quant/k_scales.h"

namespace quern::kernels::cpu {

namespace {

/// What is added to a code so that it is not negative.
int codeOffset(PanelFormat format) {
    switch (format) {
        case PanelFormat::kQ4_0:
            return 8;
        case PanelFormat::kQ5_0:
            return 16;
        case PanelFormat::kQ6_K:
            return 32;
        case PanelFormat::kMXFP4:
            return kMxfp4Offset;
        default:
            return 0;
    }
}

/// Bits of a code beyond its nibble; 8 for whole bytes.
int bitsAboveNibble(PanelFormat format) {
    switch (format) {
        case PanelFormat::kQ4_0:
        case PanelFormat::kQ4_1:
        case PanelFormat::kQ4_K:
        case PanelFormat::kMXFP4:
            return 0;
        case PanelFormat::kQ5_0:
        case PanelFormat::kQ5_1:
        case PanelFormat::kQ5_K:
            return 1;
        case PanelFormat::kQ6_K:
            return 2;
        default:
            return 8;
    }
}

/// Where the bits of a code beyond its nibble stand.
struct HighBits {
    std::size_t byte;
    unsigned shift;
};

HighBits highBits(int bits, std::size_t group, std::size_t laneByte) {
    const auto width = static_cast<std::size_t>(bits);
    const std::size_t perByte = 8 / width;
    return {.byte = static_cast<std::size_t>(kNibbleBytes) + 32 * (group / perByte) + laneByte,
            .shift = static_cast<unsigned>(width * (group % perByte))};
}

template <class T>
void put(std::byte* to, std::size_t index, T value) {
    std::memcpy(to + index * sizeof value, &value, sizeof value);
}

void copyHalf(const std::byte* from, std::byte* to, std::size_t index) {
    std::memcpy(to + 2 * index, from, 2);
}

float halfAt(const std::byte* from, std::size_t index) {
    return readHalf(from + 2 * index);
}

}  // namespace

namespace {

/// Codes as unsigned bytes in the order of a panel: [group][output][4 columns].
using LaneCodes = std::array<std::array<std::uint8_t, 32>, 8>;

LaneCodes interleave(std::span<const IntBlock, 8> block, int offset) {
    LaneCodes codes;
    for (std::size_t lane = 0; lane < 8; ++lane) {
        for (std::size_t group = 0; group < 8; ++group) {
            std::memcpy(codes[group].data() + 4 * lane, block[lane].q.data() + 4 * group, 4);
        }
    }
    for (auto& group : codes) {
        for (std::uint8_t& code : group) {
            code = static_cast<std::uint8_t>(code + offset);
        }
    }
    return codes;
}

/// From values of MXFP4 to their numbers in kMxfp4Codes.
void numberMxfp4(LaneCodes& codes) {
    static constexpr auto kNumbers = [] {
        std::array<std::uint8_t, 2 * kMxfp4Offset + 1> numbers{};
        for (std::size_t i = 0; i + 1 < kMxfp4Codes.size(); ++i) {
            numbers[kMxfp4Codes[i]] = static_cast<std::uint8_t>(i);
        }
        return numbers;
    }();
    for (auto& group : codes) {
        for (std::uint8_t& code : group) {
            code = kNumbers[code];
        }
    }
}

/// Eight codes a step, as one word: loading a model runs this on each weight.
template <unsigned Bits>
void packHighBits(const LaneCodes& codes, std::byte* to) {
    constexpr std::size_t kPerByte = 8 / Bits;
    constexpr std::uint64_t kMask = 0x0101010101010101U * ((1U << Bits) - 1U);
    std::array<std::array<std::uint64_t, 4>, Bits> packed{};
    for (std::size_t group = 0; group < 8; ++group) {
        std::array<std::uint64_t, 4> words;
        std::memcpy(words.data(), codes[group].data(), sizeof words);
        for (std::size_t i = 0; i < words.size(); ++i) {
            packed[group / kPerByte][i] |= ((words[i] >> 4) & kMask) << (Bits * (group % kPerByte));
        }
    }
    std::memcpy(to, packed.data(), sizeof packed);
}

}  // namespace

void packCodes(PanelFormat format, std::span<const IntBlock, 8> block, std::byte* to) {
    LaneCodes codes = interleave(block, codeOffset(format));
    if (format == PanelFormat::kMXFP4) {
        numberMxfp4(codes);
    }
    const int bits = bitsAboveNibble(format);
    if (bits == 8) {
        std::memcpy(to, codes.data(), sizeof codes);
        return;
    }
    for (std::size_t j = 0; j < 4; ++j) {
        for (std::size_t i = 0; i < 32; ++i) {
            to[32 * j + i] =
                static_cast<std::byte>((codes[j][i] & 15) | ((codes[j + 4][i] & 15) << 4));
        }
    }
    if (bits == 1) {
        packHighBits<1>(codes, to + kNibbleBytes);
    } else if (bits == 2) {
        packHighBits<2>(codes, to + kNibbleBytes);
    }
}

void packScales(PanelFormat format, std::span<const std::byte* const, 8> file,
                std::span<const IntBlock, 8> block, std::size_t part, std::byte* to) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
        switch (format) {
            case PanelFormat::kQ4_0:
            case PanelFormat::kQ5_0:
            case PanelFormat::kQ8_0:
                copyHalf(file[lane], to, lane);
                break;
            case PanelFormat::kQ4_1:
            case PanelFormat::kQ5_1:
                copyHalf(file[lane], to, lane);
                copyHalf(file[lane] + 2, to, lane + 8);
                break;
            case PanelFormat::kQ4_K:
            case PanelFormat::kQ5_K: {
                const KScaleMin pair = scaleMinK(file[lane] + 4, part);
                to[lane] = static_cast<std::byte>(pair.scale);
                to[8 + lane] = static_cast<std::byte>(pair.min);
                break;
            }
            case PanelFormat::kQ6_K:
                std::memcpy(to + 2 * lane, file[lane] + 192 + 2 * part, 2);
                break;
            case PanelFormat::kMXFP4:
                to[lane] = file[lane][0];
                break;
            case PanelFormat::kSplit8:
            case PanelFormat::kSplitMin8:
                for (std::size_t half = 0; half < 2; ++half) {
                    put(to, 8 * half + lane, block[lane].scale[half]);
                    if (format == PanelFormat::kSplitMin8) {
                        put(to, 16 + 8 * half + lane, block[lane].min[half]);
                    }
                }
                break;
            case PanelFormat::kF32:
            case PanelFormat::kF16:
            case PanelFormat::kBF16:
                break;
        }
    }
}

void packHead(PanelFormat format, std::span<const std::byte* const, 8> file, std::byte* to) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
        if (format == PanelFormat::kQ6_K) {
            copyHalf(file[lane] + 208, to, lane);
        } else {
            copyHalf(file[lane], to, lane);
            copyHalf(file[lane] + 2, to, lane + 8);
        }
    }
}

namespace {

void unpackCodes(PanelFormat format, const std::byte* codes, std::size_t lane, IntBlock& out) {
    const int offset = codeOffset(format);
    const int bits = bitsAboveNibble(format);
    for (std::size_t k = 0; k < 32; ++k) {
        const std::size_t group = k / 4;
        const std::size_t laneByte = 4 * lane + k % 4;
        if (bits == 8) {
            out.q[k] = static_cast<std::int8_t>(codes[32 * group + laneByte]);
            continue;
        }
        const auto byte = std::to_integer<unsigned>(codes[32 * (group % 4) + laneByte]);
        unsigned code = (byte >> (group < 4 ? 0 : 4)) & 15U;
        if (bits > 0) {
            const HighBits high = highBits(bits, group, laneByte);
            const unsigned mask = (1U << bits) - 1U;
            code |= ((std::to_integer<unsigned>(codes[high.byte]) >> high.shift) & mask) << 4;
        }
        if (format == PanelFormat::kMXFP4) {
            code = kMxfp4Codes[code];
        }
        out.q[k] = static_cast<std::int8_t>(static_cast<int>(code) - offset);
    }
}

void unpackScales(PanelFormat format, const std::byte* head, const std::byte* scales,
                  std::size_t lane, IntBlock& out) {
    out.scale = {0.0F, 0.0F};
    out.min = {0.0F, 0.0F};
    switch (format) {
        case PanelFormat::kQ4_1:
        case PanelFormat::kQ5_1:
            out.min.fill(halfAt(scales, lane + 8));
            [[fallthrough]];
        case PanelFormat::kQ4_0:
        case PanelFormat::kQ5_0:
        case PanelFormat::kQ8_0:
            out.scale.fill(halfAt(scales, lane));
            break;
        case PanelFormat::kQ4_K:
        case PanelFormat::kQ5_K: {
            const auto scale = std::to_integer<int>(scales[lane]);
            const auto min = std::to_integer<int>(scales[8 + lane]);
            out.scale.fill(halfAt(head, lane) * static_cast<float>(scale));
            out.min.fill(-(halfAt(head, lane + 8) * static_cast<float>(min)));
            break;
        }
        case PanelFormat::kQ6_K:
            for (std::size_t half = 0; half < 2; ++half) {
                const auto scale = static_cast<std::int8_t>(scales[2 * lane + half]);
                out.scale[half] = halfAt(head, lane) * static_cast<float>(scale);
            }
            break;
        case PanelFormat::kMXFP4:
            out.scale.fill(halfE8M0(std::to_integer<std::uint32_t>(scales[lane])));
            break;
        case PanelFormat::kSplit8:
        case PanelFormat::kSplitMin8:
            for (std::size_t half = 0; half < 2; ++half) {
                out.scale[half] = readAs<float>(scales + 4 * (8 * half + lane));
                if (format == PanelFormat::kSplitMin8) {
                    out.min[half] = readAs<float>(scales + 4 * (16 + 8 * half + lane));
                }
            }
            break;
        case PanelFormat::kF32:
        case PanelFormat::kF16:
        case PanelFormat::kBF16:
            break;
    }
}

}  // namespace

IntBlock unpackBlock(PanelFormat format, const std::byte* panel, std::int64_t index,
                     std::size_t lane) {
    const PanelGeometry geometry = panelGeometry(format);
    const std::byte* scales = panel + geometry.blockAt(index);
    IntBlock out;
    unpackCodes(format, scales + geometry.scaleBytes, lane, out);
    unpackScales(format, panel + geometry.headOf(index), scales, lane, out);
    return out;
}

}  // namespace quern::kernels::cpu
