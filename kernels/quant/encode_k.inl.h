// The search of the K formats' writers. No include guard: a tier's translation unit includes it
// once, inside its own namespace, after kLanes, Lanes, Masks, splat and columnAt.
//
// Layouts as in decode_k.cpp. A sub-block's scale (and minimum) is found by trying steps around the
// one that spans its values, fitting scale and minimum to each choice of codes by weighted least
// squares, and keeping the best; elements that are larger than others weigh more, for they move a
// product more. What the sub-blocks' scales share is rounded first, each then takes the integer
// scale nearest to its own that leaves the smallest error.
//
// Several sub-blocks are searched at once, one a lane: every sum stays in its lane, so nothing is
// added across, the error of a fit comes from the sums that made it, and every tier writes the same
// bytes.

constexpr std::size_t kSuper = 256;

QUERN_INLINE Lanes minOf(Lanes a, Lanes b) {
    return a < b ? a : b;
}
QUERN_INLINE Lanes maxOf(Lanes a, Lanes b) {
    return a > b ? a : b;
}
QUERN_INLINE Lanes choose(Masks mask, Lanes yes, Lanes no) {
    return mask ? yes : no;
}
QUERN_INLINE Lanes magnitudeOf(Lanes x) {
    return maxOf(x, -x);
}

/// To the nearest integer, for |x| < 2²²; what is larger stays large.
QUERN_INLINE Lanes rounded(Lanes x) {
    const Lanes shift = splat(12582912.0F);  // 1.5 · 2²³
    return (x + shift) - shift;
}
QUERN_INLINE Lanes codeOf(Lanes x, float least, float most) {
    return minOf(maxOf(rounded(x), splat(least)), splat(most));
}

/// Element i of so many sub-blocks as there are lanes at [i].
template <std::size_t N>
struct Columns {
    std::array<Lanes, N> at;
};

/// Those that begin at x.
template <std::size_t N>
Columns<N> columnsOf(const float* x) {
    Columns<N> columns;
    for (std::size_t i = 0; i < N; ++i) {
        columns.at[i] = columnAt<N>(x + i);
    }
    return columns;
}

/// Writes whole numbers of 0 to 255 behind each other, sub-block by sub-block.
template <std::size_t N>
void storeCodes(const Columns<N>& codes, std::uint8_t* to) {
    for (std::size_t i = 0; i < N; ++i) {
        const Masks whole = __builtin_convertvector(codes.at[i], Masks);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            to[lane * N + i] = static_cast<std::uint8_t>(whole[lane]);
        }
    }
}

// Q4_K and Q5_K: eight sub-blocks of 32 with a scale and a minimum each.

constexpr std::size_t kSub = 32;
using SubColumns = Columns<kSub>;

struct ScaleMins {
    Lanes scale;
    Lanes min;  // at most 0: the formats subtract
};

/// Large elements weigh more, but not all: the mean keeps the others in.
SubColumns weightsOf(const SubColumns& x) {
    Lanes squares = splat(0.0F);
    for (const Lanes value : x.at) {
        squares += value * value;
    }
    Lanes mean = squares / splat(float{kSub});
    for (std::size_t lane = 0; lane < kLanes; ++lane) {
        mean[lane] = std::sqrt(mean[lane]);
    }
    SubColumns weights;
    for (std::size_t i = 0; i < kSub; ++i) {
        weights.at[i] = mean + magnitudeOf(x.at[i]);
    }
    return weights;
}

/// Weighted sums of values above the least one, and of their squares.
struct ValueSums {
    Lanes w;
    Lanes wy;
    Lanes wyy;
};
/// … and with codes.
struct CodeSums {
    Lanes wl;
    Lanes wll;
    Lanes wyl;
};

struct Fitted {
    ScaleMins value;
    Lanes error;
};

/// Scale and minimum that fit the codes best. Values count from `bottom`, so that an offset much
/// larger than their range does not swallow them.
QUERN_INLINE Fitted fit(const ValueSums& v, const CodeSums& c, Lanes bottom) {
    const Lanes zero = splat(0.0F);
    const Lanes determinant = v.w * c.wll - c.wl * c.wl;
    const Lanes rise = (c.wll * v.wy - c.wl * c.wyl) / determinant;
    const Lanes scale = (v.w * c.wyl - c.wl * v.wy) / determinant;
    const Masks isFree = (determinant > zero) & (bottom + rise <= zero);
    const Lanes freeError = v.wyy - scale * c.wyl - rise * v.wy;
    // Else the minimum is 0.
    const Lanes wxl = c.wyl + bottom * c.wl;
    const Lanes wxx = v.wyy + bottom * (v.wy + v.wy + bottom * v.w);
    const Lanes zeroScale = wxl / c.wll;
    return {.value = {.scale = choose(isFree, scale, zeroScale),
                      .min = choose(isFree, bottom + rise, zero)},
            .error = choose(isFree, freeError, wxx - zeroScale * wxl)};
}

ScaleMins searchScaleMins(const SubColumns& x, const SubColumns& weights, float mostCode) {
    const Lanes zero = splat(0.0F);
    Lanes bottom = zero;
    Lanes top = x.at[0];
    for (const Lanes value : x.at) {
        bottom = minOf(bottom, value);
        top = maxOf(top, value);
    }
    const Lanes range = top - bottom;
    SubColumns y;
    ValueSums values{.w = zero, .wy = zero, .wyy = zero};
    for (std::size_t i = 0; i < kSub; ++i) {
        y.at[i] = x.at[i] - bottom;
        const Lanes weighted = weights.at[i] * y.at[i];
        values.w += weights.at[i];
        values.wy += weighted;
        values.wyy += weighted * y.at[i];
    }
    ScaleMins best{.scale = range / splat(mostCode), .min = bottom};
    Lanes bestError = splat(std::numeric_limits<float>::infinity());
    constexpr int kSteps = 10;
    for (int step = 0; step <= kSteps; ++step) {
        // From one step fewer than there are codes to one more.
        const float steps = mostCode - 1.0F + 2.0F * static_cast<float>(step) / kSteps;
        const Lanes factor = choose(range > zero, splat(steps) / range, zero);
        CodeSums codes{.wl = zero, .wll = zero, .wyl = zero};
        for (std::size_t i = 0; i < kSub; ++i) {
            // No value is below the bottom, so no code is below 0.
            const Lanes code = minOf(rounded(y.at[i] * factor), splat(mostCode));
            const Lanes weighted = weights.at[i] * code;
            codes.wl += weighted;
            codes.wll += weighted * code;
            codes.wyl += weighted * y.at[i];
        }
        const Fitted found = fit(values, codes, bottom);
        const Masks isBetter = (found.value.scale > zero) & (found.error < bestError);
        best.scale = choose(isBetter, found.value.scale, best.scale);
        best.min = choose(isBetter, found.value.min, best.min);
        bestError = choose(isBetter, found.error, bestError);
    }
    return best;
}

/// What a super-block's sub-blocks share: the units of their parts.
struct Units {
    float scale;
    float min;
};

QUERN_INLINE Lanes partOf(Lanes value, float unit) {
    constexpr float kMostPart = 63.0F;
    return unit > 0.0F ? codeOf(value / splat(unit), 0.0F, kMostPart) : splat(0.0F);
}

/// Codes of values above a minimum.
QUERN_INLINE Lanes codeAbove(Lanes x, Lanes min, Lanes factor, float mostCode) {
    return codeOf((x - min) * factor, 0.0F, mostCode);
}

QUERN_INLINE Lanes inverseOf(Lanes scale) {
    return choose(scale > splat(0.0F), splat(1.0F) / scale, splat(0.0F));
}

/// The integer scales and minima, near the real ones, whose codes err least; real ones in `wanted`,
/// integers (6 bits each) out.
ScaleMins chooseParts(const SubColumns& x, const SubColumns& weights, const ScaleMins& wanted,
                      const Units& units, float mostCode) {
    const Lanes zero = splat(0.0F);
    const Lanes most = splat(63.0F);
    const Lanes nearScale = partOf(wanted.scale, units.scale);
    const Lanes nearMin = partOf(-wanted.min, units.min);
    ScaleMins best{.scale = nearScale, .min = nearMin};
    Lanes bestError = splat(std::numeric_limits<float>::infinity());
    for (const float scaleStep : {-1.0F, 0.0F, 1.0F}) {
        for (const float minStep : {-1.0F, 0.0F, 1.0F}) {
            const Lanes scalePart = minOf(maxOf(nearScale + splat(scaleStep), zero), most);
            const Lanes minPart = minOf(maxOf(nearMin + splat(minStep), zero), most);
            const Lanes scale = scalePart * splat(units.scale);
            const Lanes min = -(minPart * splat(units.min));
            const Lanes factor = inverseOf(scale);
            Lanes error = zero;
            for (std::size_t i = 0; i < kSub; ++i) {
                const Lanes code = codeAbove(x.at[i], min, factor, mostCode);
                const Lanes difference = scale * code + min - x.at[i];
                error += weights.at[i] * difference * difference;
            }
            const Masks isBetter = error < bestError;
            best.scale = choose(isBetter, scalePart, best.scale);
            best.min = choose(isBetter, minPart, best.min);
            bestError = choose(isBetter, error, bestError);
        }
    }
    return best;
}

QUERN_INLINE float largestOf(Lanes lanes) {
    float largest = lanes[0];
    for (std::size_t lane = 1; lane < kLanes; ++lane) {
        largest = lanes[lane] > largest ? lanes[lane] : largest;
    }
    return largest;
}

constexpr std::size_t kBatches = kSuper / (kSub * kLanes);

/// Writes the head that Q4_K and Q5_K share (two halves and 12 bytes of parts) and gives the codes.
std::array<std::uint8_t, kSuper> encodeWithMinima(const float* values, float mostCode,
                                                  std::byte* block) {
    std::array<SubColumns, kBatches> x;
    std::array<SubColumns, kBatches> weights;
    std::array<ScaleMins, kBatches> wanted;
    Lanes mostScale = splat(0.0F);
    Lanes leastMin = splat(0.0F);
    for (std::size_t b = 0; b < kBatches; ++b) {
        x[b] = columnsOf<kSub>(values + b * kSub * kLanes);
        weights[b] = weightsOf(x[b]);
        wanted[b] = searchScaleMins(x[b], weights[b], mostCode);
        mostScale = maxOf(mostScale, wanted[b].scale);
        leastMin = minOf(leastMin, wanted[b].min);
    }
    constexpr float kMostPart = 63.0F;
    writeAs(block, floatToHalf(largestOf(mostScale) / kMostPart));
    writeAs(block + 2, floatToHalf(largestOf(-leastMin) / kMostPart));
    const Units units{.scale = readHalf(block), .min = readHalf(block + 2)};
    std::array<KScaleMin, kSuper / kSub> parts;
    std::array<std::uint8_t, kSuper> codes;
    for (std::size_t b = 0; b < kBatches; ++b) {
        const ScaleMins chosen = chooseParts(x[b], weights[b], wanted[b], units, mostCode);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            parts[b * kLanes + lane] = {.scale = static_cast<int>(chosen.scale[lane]),
                                        .min = static_cast<int>(chosen.min[lane])};
        }
        const Lanes min = -(chosen.min * splat(units.min));
        const Lanes factor = inverseOf(chosen.scale * splat(units.scale));
        SubColumns found;
        for (std::size_t i = 0; i < kSub; ++i) {
            found.at[i] = codeAbove(x[b].at[i], min, factor, mostCode);
        }
        storeCodes(found, codes.data() + b * kSub * kLanes);
    }
    packScaleMinsK(parts, block + 4);
    return codes;
}

/// The low four bits: of two sub-blocks in 32 bytes.
void writeNibbles(const std::array<std::uint8_t, kSuper>& codes, std::byte* to) {
    for (std::size_t b = 0; b < kSuper / kSub; b += 2) {
        const std::uint8_t* from = codes.data() + b * kSub;
        for (std::size_t i = 0; i < kSub; ++i) {
            to[b / 2 * kSub + i] =
                static_cast<std::byte>((from[i] & 15) | ((from[kSub + i] & 15) << 4));
        }
    }
}

// Q6_K: sixteen sub-blocks of 16 with a signed scale each and no minimum.

constexpr std::size_t kShort = 16;
constexpr float kLeastCode6 = -32.0F;
constexpr float kMostCode6 = 31.0F;
using ShortColumns = Columns<kShort>;

/// The scales (either sign: the larger side may take the code that only one side has) that fit the
/// values best; squares weigh.
Lanes searchScales(const ShortColumns& x) {
    const Lanes zero = splat(0.0F);
    Lanes extreme = zero;
    ShortColumns squares;
    ShortColumns cubes;
    for (std::size_t i = 0; i < kShort; ++i) {
        const Lanes value = x.at[i];
        extreme = choose(magnitudeOf(value) > magnitudeOf(extreme), value, extreme);
        squares.at[i] = value * value;
        cubes.at[i] = squares.at[i] * value;
    }
    const Masks isTiny = magnitudeOf(extreme) < splat(1e-30F);
    Lanes best = zero;
    Lanes bestFit = zero;
    constexpr int kSteps = 9;
    for (int step = 0; step <= kSteps; ++step) {
        const float steps = 31.0F + 2.0F * static_cast<float>(step) / kSteps;
        const Lanes factor = choose(isTiny, zero, splat(-steps) / extreme);
        Lanes xl = zero;
        Lanes ll = zero;
        for (std::size_t i = 0; i < kShort; ++i) {
            const Lanes code = codeOf(x.at[i] * factor, kLeastCode6, kMostCode6);
            xl += cubes.at[i] * code;
            ll += squares.at[i] * code * code;
        }
        // The weighted error is a constant less this.
        const Masks isBetter = (ll > zero) & (xl * xl > bestFit * ll);
        best = choose(isBetter, xl / ll, best);
        bestFit = choose(isBetter, xl * best, bestFit);
    }
    return best;
}

QUERN_INLINE Lanes signedInverseOf(Lanes scale) {
    return choose(scale == splat(0.0F), splat(0.0F), splat(1.0F) / scale);
}

/// The integer scales near the real ones whose codes err least.
Lanes chooseScales(const ShortColumns& x, Lanes wanted, float unit) {
    constexpr float kLeast = -128.0F;
    constexpr float kMost = 127.0F;
    const Lanes nearest = unit == 0.0F ? splat(0.0F) : codeOf(wanted / splat(unit), kLeast, kMost);
    Lanes best = nearest;
    Lanes bestError = splat(std::numeric_limits<float>::infinity());
    for (const float step : {-1.0F, 0.0F, 1.0F}) {
        const Lanes part = minOf(maxOf(nearest + splat(step), splat(kLeast)), splat(kMost));
        const Lanes scale = part * splat(unit);
        const Lanes factor = signedInverseOf(scale);
        Lanes error = splat(0.0F);
        for (std::size_t i = 0; i < kShort; ++i) {
            const Lanes value = x.at[i];
            const Lanes code = codeOf(value * factor, kLeastCode6, kMostCode6);
            const Lanes difference = scale * code - value;
            error += value * value * difference * difference;
        }
        const Masks isBetter = error < bestError;
        best = choose(isBetter, part, best);
        bestError = choose(isBetter, error, bestError);
    }
    return best;
}

void q4K(const float* values, std::byte* block) {
    writeNibbles(encodeWithMinima(values, 15.0F, block), block + 16);
}

void q5K(const float* values, std::byte* block) {
    const auto codes = encodeWithMinima(values, 31.0F, block);
    for (std::size_t i = 0; i < kSub; ++i) {
        int bits = 0;
        for (std::size_t b = 0; b < kSuper / kSub; ++b) {
            bits |= (codes[b * kSub + i] >> 4) << b;
        }
        block[16 + i] = static_cast<std::byte>(bits);
    }
    writeNibbles(codes, block + 48);
}

void q6K(const float* values, std::byte* block) {
    constexpr std::size_t kShortBatches = kSuper / (kShort * kLanes);
    std::array<ShortColumns, kShortBatches> x;
    std::array<Lanes, kShortBatches> wanted;
    float extreme = 0.0F;
    for (std::size_t b = 0; b < kShortBatches; ++b) {
        x[b] = columnsOf<kShort>(values + b * kShort * kLanes);
        wanted[b] = searchScales(x[b]);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            extreme = std::fabs(wanted[b][lane]) > std::fabs(extreme) ? wanted[b][lane] : extreme;
        }
    }
    // The largest scale becomes −128, which a byte has and +128 it has not.
    writeAs(block + 208, floatToHalf(extreme / -128.0F));
    const float unit = readHalf(block + 208);
    std::array<std::uint8_t, kSuper> codes;
    for (std::size_t b = 0; b < kShortBatches; ++b) {
        const Lanes part = chooseScales(x[b], wanted[b], unit);
        const Lanes factor = signedInverseOf(part * splat(unit));
        ShortColumns found;
        for (std::size_t i = 0; i < kShort; ++i) {
            found.at[i] =
                codeOf(x[b].at[i] * factor, kLeastCode6, kMostCode6) + splat(-kLeastCode6);
        }
        storeCodes(found, codes.data() + b * kShort * kLanes);
        for (std::size_t lane = 0; lane < kLanes; ++lane) {
            block[192 + b * kLanes + lane] =
                static_cast<std::byte>(static_cast<std::int8_t>(part[lane]));
        }
    }
    // Each half of 128: four runs of 32, low nibbles in 64 bytes and pairs of bits in 32.
    for (std::size_t half = 0; half < 2; ++half) {
        const std::uint8_t* from = codes.data() + 128 * half;
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
