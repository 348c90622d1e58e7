#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>

#include "kernels/quant/encode.h"
#include "kernels/quant/half.h"
#include "kernels/quant/k_scales.h"

// The K formats; layouts as in decode_k.cpp. A sub-block's scale (and minimum) is found by trying
// steps around the one that spans its values, fitting scale and minimum to each choice of codes by
// weighted least squares, and keeping the best; elements that are larger than others weigh more,
// for they move a product more. What the sub-blocks' scales share is rounded first, each then takes
// the integer scale nearest to its own that leaves the smallest error.

namespace quern::kernels::encode {

namespace {

constexpr std::size_t kSuper = 256;

/// To the nearest integer, for |x| < 2²²; vectorizes where std::nearbyint does not.
inline float rounded(float x) {
    constexpr float kShift = 12582912.0F;  // 1.5 · 2²³
    return (x + kShift) - kShift;
}

inline float clampCode(float code, float least, float most) {
    return std::min(std::max(code, least), most);
}

template <std::size_t N>
using Values = std::array<float, N>;

/// Sums in eight lanes, so that compilers may vectorize: the order is written here.
template <std::size_t N, class Term>
float laneSum(Term term) {
    std::array<float, 8> lanes{};
    for (std::size_t i = 0; i < N; i += lanes.size()) {
        for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
            lanes[lane] += term(i + lane);
        }
    }
    return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
           ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

template <std::size_t N>
float weightedError(const float* x, const Values<N>& weights, const Values<N>& codes, float scale,
                    float min) {
    return laneSum<N>([&](std::size_t i) {
        const float difference = scale * codes[i] + min - x[i];
        return weights[i] * difference * difference;
    });
}

template <std::size_t N>
Values<N> codesOf(const float* x, float scale, float min, float least, float most) {
    const float factor = scale > 0.0F ? 1.0F / scale : 0.0F;
    Values<N> codes;
    for (std::size_t i = 0; i < N; ++i) {
        codes[i] = clampCode(rounded((x[i] - min) * factor), least, most);
    }
    return codes;
}

struct ScaleMin {
    float scale = 0.0F;
    float min = 0.0F;  // at most 0: the formats subtract
};

/// Scale and minimum that fit the codes best.
template <std::size_t N>
ScaleMin fit(const float* x, const Values<N>& weights, const Values<N>& codes) {
    const float w = laneSum<N>([&](std::size_t i) { return weights[i]; });
    const float wl = laneSum<N>([&](std::size_t i) { return weights[i] * codes[i]; });
    const float wll = laneSum<N>([&](std::size_t i) { return weights[i] * codes[i] * codes[i]; });
    const float wx = laneSum<N>([&](std::size_t i) { return weights[i] * x[i]; });
    const float wxl = laneSum<N>([&](std::size_t i) { return weights[i] * x[i] * codes[i]; });
    const float determinant = w * wll - wl * wl;
    ScaleMin best{.scale = wll > 0.0F ? wxl / wll : 0.0F};  // with no minimum
    if (determinant > 0.0F) {
        const float min = (wll * wx - wl * wxl) / determinant;
        if (min <= 0.0F) {
            best = {.scale = (w * wxl - wl * wx) / determinant, .min = min};
        }
    }
    return best;
}

constexpr std::size_t kSub = 32;

/// Scale and minimum of one sub-block of Q4_K or Q5_K.
ScaleMin searchScaleMin(const float* x, const Values<kSub>& weights, float mostCode) {
    const auto [least, most] = std::minmax_element(x, x + kSub);
    const float bottom = std::min(*least, 0.0F);
    const float range = *most - bottom;
    if (!(range > 0.0F)) {
        return {.scale = 0.0F, .min = bottom};
    }
    ScaleMin best{.scale = range / mostCode, .min = bottom};
    auto bestError = std::numeric_limits<float>::infinity();
    constexpr int kSteps = 20;
    for (int step = 0; step <= kSteps; ++step) {
        // From one step fewer than there are codes to one more.
        const float steps = mostCode - 1.0F + 2.0F * static_cast<float>(step) / kSteps;
        const auto codes = codesOf<kSub>(x, range / steps, bottom, 0.0F, mostCode);
        const ScaleMin found = fit<kSub>(x, weights, codes);
        const float error = weightedError<kSub>(x, weights, codes, found.scale, found.min);
        if (found.scale > 0.0F && error < bestError) {
            best = found;
            bestError = error;
        }
    }
    return best;
}

/// Large elements weigh more, but not all: the mean keeps the others in.
Values<kSub> weightsOf(const float* x) {
    const float mean = std::sqrt(laneSum<kSub>([&](std::size_t i) { return x[i] * x[i]; }) / kSub);
    Values<kSub> weights;
    for (std::size_t i = 0; i < kSub; ++i) {
        weights[i] = mean + std::fabs(x[i]);
    }
    return weights;
}

struct SubBlock {
    KScaleMin parts{};  // 6 bits each
    Values<kSub> codes{};
};

/// The integer scale and minimum, near the real ones, whose codes err least.
SubBlock chooseParts(const float* x, const Values<kSub>& weights, const ScaleMin& wanted,
                     float shared, float sharedMin, float mostCode) {
    constexpr int kMostPart = 63;
    const auto near = [](float value, float unit) {
        return unit > 0.0F
                   ? static_cast<int>(clampCode(rounded(value / unit), 0.0F, float{kMostPart}))
                   : 0;
    };
    const int scale = near(wanted.scale, shared);
    const int min = near(-wanted.min, sharedMin);
    SubBlock best;
    auto bestError = std::numeric_limits<float>::infinity();
    for (int s = std::max(scale - 1, 0); s <= std::min(scale + 1, kMostPart); ++s) {
        for (int m = std::max(min - 1, 0); m <= std::min(min + 1, kMostPart); ++m) {
            const float realScale = shared * static_cast<float>(s);
            const float realMin = -(sharedMin * static_cast<float>(m));
            const auto codes = codesOf<kSub>(x, realScale, realMin, 0.0F, mostCode);
            const float error = weightedError<kSub>(x, weights, codes, realScale, realMin);
            if (error < bestError) {
                bestError = error;
                best = {.parts = {.scale = s, .min = m}, .codes = codes};
            }
        }
    }
    return best;
}

using SubBlocks = std::array<SubBlock, kSuper / kSub>;

/// Writes the head that Q4_K and Q5_K share (two halves and 12 bytes of parts) and gives the codes.
SubBlocks encodeWithMinima(const float* values, float mostCode, std::byte* block) {
    std::array<Values<kSub>, kSuper / kSub> weights;
    std::array<ScaleMin, kSuper / kSub> wanted;
    float mostScale = 0.0F;
    float mostMin = 0.0F;
    for (std::size_t b = 0; b < wanted.size(); ++b) {
        weights[b] = weightsOf(values + b * kSub);
        wanted[b] = searchScaleMin(values + b * kSub, weights[b], mostCode);
        mostScale = std::max(mostScale, wanted[b].scale);
        mostMin = std::max(mostMin, -wanted[b].min);
    }
    constexpr float kMostPart = 63.0F;
    writeAs(block, floatToHalf(mostScale / kMostPart));
    writeAs(block + 2, floatToHalf(mostMin / kMostPart));
    const float shared = readHalf(block);
    const float sharedMin = readHalf(block + 2);
    SubBlocks subBlocks;
    std::array<KScaleMin, kSuper / kSub> parts;
    for (std::size_t b = 0; b < subBlocks.size(); ++b) {
        subBlocks[b] =
            chooseParts(values + b * kSub, weights[b], wanted[b], shared, sharedMin, mostCode);
        parts[b] = subBlocks[b].parts;
    }
    packScaleMinsK(parts, block + 4);
    return subBlocks;
}

int codeAt(const SubBlocks& subBlocks, std::size_t b, std::size_t i) {
    return static_cast<int>(subBlocks[b].codes[i]);
}

/// The low four bits: of two sub-blocks in 32 bytes.
void writeNibbles(const SubBlocks& subBlocks, std::byte* to) {
    for (std::size_t b = 0; b < subBlocks.size(); b += 2) {
        for (std::size_t i = 0; i < kSub; ++i) {
            to[b / 2 * kSub + i] = static_cast<std::byte>(
                (codeAt(subBlocks, b, i) & 15) | ((codeAt(subBlocks, b + 1, i) & 15) << 4));
        }
    }
}

// Q6_K: sixteen sub-blocks of 16 with a signed scale each and no minimum.

constexpr std::size_t kShort = 16;
constexpr float kLeastCode6 = -32.0F;
constexpr float kMostCode6 = 31.0F;

Values<kShort> signedCodes(const float* x, float scale) {
    const float factor = scale == 0.0F ? 0.0F : 1.0F / scale;
    Values<kShort> codes;
    for (std::size_t i = 0; i < kShort; ++i) {
        codes[i] = clampCode(rounded(x[i] * factor), kLeastCode6, kMostCode6);
    }
    return codes;
}

/// The scale (either sign: the larger side may take the code that only one side has) that fits the
/// values best; squares weigh.
float searchScale(const float* x) {
    const float* extreme = std::max_element(
        x, x + kShort, [](float a, float b) { return std::fabs(a) < std::fabs(b); });
    if (std::fabs(*extreme) < 1e-30F) {
        return 0.0F;
    }
    float best = 0.0F;
    float bestFit = 0.0F;
    constexpr int kSteps = 18;
    for (int step = 0; step <= kSteps; ++step) {
        const float steps = 31.0F + 2.0F * static_cast<float>(step) / kSteps;
        const auto codes = signedCodes(x, *extreme / -steps);
        const float xl =
            laneSum<kShort>([&](std::size_t i) { return x[i] * x[i] * x[i] * codes[i]; });
        const float ll =
            laneSum<kShort>([&](std::size_t i) { return x[i] * x[i] * codes[i] * codes[i]; });
        // The weighted error is a constant less this.
        if (ll > 0.0F && xl * xl > bestFit * ll) {
            best = xl / ll;
            bestFit = xl * best;
        }
    }
    return best;
}

struct ShortBlock {
    int scale = 0;
    Values<kShort> codes{};
};

ShortBlock chooseScale(const float* x, float wanted, float shared) {
    const int nearest =
        shared == 0.0F ? 0 : static_cast<int>(clampCode(rounded(wanted / shared), -128.0F, 127.0F));
    Values<kShort> weights;
    for (std::size_t i = 0; i < kShort; ++i) {
        weights[i] = x[i] * x[i];
    }
    ShortBlock best;
    auto bestError = std::numeric_limits<float>::infinity();
    for (int s = std::max(nearest - 1, -128); s <= std::min(nearest + 1, 127); ++s) {
        const float scale = shared * static_cast<float>(s);
        const auto codes = signedCodes(x, scale);
        const float error = weightedError<kShort>(x, weights, codes, scale, 0.0F);
        if (error < bestError) {
            bestError = error;
            best = {.scale = s, .codes = codes};
        }
    }
    return best;
}

}  // namespace

void q4K(const float* values, std::byte* block) {
    writeNibbles(encodeWithMinima(values, 15.0F, block), block + 16);
}

void q5K(const float* values, std::byte* block) {
    const SubBlocks subBlocks = encodeWithMinima(values, 31.0F, block);
    for (std::size_t i = 0; i < kSub; ++i) {
        int bits = 0;
        for (std::size_t b = 0; b < subBlocks.size(); ++b) {
            bits |= (codeAt(subBlocks, b, i) >> 4) << b;
        }
        block[16 + i] = static_cast<std::byte>(bits);
    }
    writeNibbles(subBlocks, block + 48);
}

void q6K(const float* values, std::byte* block) {
    std::array<float, kSuper / kShort> wanted;
    for (std::size_t b = 0; b < wanted.size(); ++b) {
        wanted[b] = searchScale(values + b * kShort);
    }
    const float extreme = *std::max_element(
        wanted.begin(), wanted.end(), [](float a, float b) { return std::fabs(a) < std::fabs(b); });
    // The largest scale becomes −128, which a byte has and +128 it has not.
    writeAs(block + 208, floatToHalf(extreme / -128.0F));
    const float shared = readHalf(block + 208);
    std::array<int, kSuper> codes;
    for (std::size_t b = 0; b < wanted.size(); ++b) {
        const ShortBlock found = chooseScale(values + b * kShort, wanted[b], shared);
        block[192 + b] = static_cast<std::byte>(static_cast<std::int8_t>(found.scale));
        for (std::size_t i = 0; i < kShort; ++i) {
            codes[b * kShort + i] = static_cast<int>(found.codes[i]) + 32;
        }
    }
    // Each half of 128: four runs of 32, low nibbles in 64 bytes and pairs of bits in 32.
    for (std::size_t half = 0; half < 2; ++half) {
        const int* from = codes.data() + 128 * half;
        for (std::size_t i = 0; i < 32; ++i) {
            for (std::size_t run = 0; run < 2; ++run) {
                block[64 * half + 32 * run + i] = static_cast<std::byte>(
                    (from[32 * run + i] & 15) | ((from[32 * (run + 2) + i] & 15) << 4));
            }
            int pairs = 0;
            for (std::size_t run = 0; run < 4; ++run) {
                pairs |= (from[32 * run + i] >> 4) << (2 * run);
            }
            block[128 + 32 * half + i] = static_cast<std::byte>(pairs);
        }
    }
}

}  // namespace quern::kernels::encode
