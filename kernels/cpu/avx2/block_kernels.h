// Included after the target pragma, inside namespace quern::kernels::cpu::avx2::(anonymous).
// One struct a panel format: how its codes and scales are read, and what one block adds to the sum
// of a row. Lane o of every vector belongs to output o of the panel.

[[gnu::always_inline]] inline __m256i load256(const std::byte* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
}

[[gnu::always_inline]] inline __m128i load128(const std::byte* from) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
}

/// Eight binary16 numbers.
[[gnu::always_inline]] inline __m256 loadHalves(const std::byte* from) {
    return _mm256_cvtph_ps(load128(from));
}

/// Eight unsigned bytes as floats.
[[gnu::always_inline]] inline __m256 loadBytes(const std::byte* from) {
    return _mm256_cvtepi32_ps(
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
}

/// Activations of columns 4·group … 4·group + 3 in every lane.
[[gnu::always_inline]] inline __m256i broadcastGroup(const Q8Block& a, std::size_t group) {
    std::int32_t four;
    std::memcpy(&four, a.values.data() + 4 * group, sizeof four);
    return _mm256_set1_epi32(four);
}

/// (Σq of the first half, Σq of the second half) in every lane.
[[gnu::always_inline]] inline __m256i broadcastHalfSums(const Q8Block& a) {
    std::int32_t both;
    std::memcpy(&both, a.halfSums.data(), sizeof both);
    return _mm256_set1_epi32(both);
}

using Codes = __m256i[8];  // [group]: bytes [output][4 columns]

// --- codes ---

[[gnu::always_inline]] inline void loadNibbles(const std::byte* from, Codes& codes) {
    const __m256i low = _mm256_set1_epi8(15);
#pragma GCC unroll 4
    for (std::size_t j = 0; j < 4; ++j) {
        const __m256i packed = load256(from + 32 * j);
        codes[j] = _mm256_and_si256(packed, low);
        codes[j + 4] = _mm256_and_si256(_mm256_srli_epi16(packed, 4), low);
    }
}

/// Moves bits [from, from + …) of every byte to bit 4 and masks them.
template <int From>
[[gnu::always_inline]] inline __m256i toBitFour(__m256i bytes, __m256i mask) {
    if constexpr (From < 4) {
        return _mm256_and_si256(_mm256_slli_epi16(bytes, 4 - From), mask);
    } else {
        return _mm256_and_si256(_mm256_srli_epi16(bytes, From - 4), mask);
    }
}

template <std::size_t... Group>
[[gnu::always_inline]] inline void orFifthBits(__m256i bits, Codes& codes,
                                               std::index_sequence<Group...>) {
    const __m256i mask = _mm256_set1_epi8(16);
    ((codes[Group] = _mm256_or_si256(codes[Group], toBitFour<static_cast<int>(Group)>(bits, mask))),
     ...);
}

template <std::size_t... Group>
[[gnu::always_inline]] inline void orTopPairs(const std::byte* from, Codes& codes,
                                              std::index_sequence<Group...>) {
    const __m256i mask = _mm256_set1_epi8(48);
    const __m256i bits[2] = {load256(from), load256(from + 32)};
    ((codes[Group] = _mm256_or_si256(
          codes[Group], toBitFour<2 * (static_cast<int>(Group) % 4)>(bits[Group / 4], mask))),
     ...);
}

struct NibbleCodes {
    static constexpr bool kIsSigned = false;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
        loadNibbles(from, codes);
    }
    /// A pair of products is at most 2 · 15 · 127 = 3810: all eight groups fit 16 bits.
    [[gnu::always_inline]] static __m256i dot(const Codes& codes, const Q8Block& a) {
        __m256i sum = _mm256_maddubs_epi16(codes[0], broadcastGroup(a, 0));
#pragma GCC unroll 8
        for (std::size_t g = 1; g < 8; ++g) {
            sum = _mm256_add_epi16(sum, _mm256_maddubs_epi16(codes[g], broadcastGroup(a, g)));
        }
        return _mm256_madd_epi16(sum, _mm256_set1_epi16(1));
    }
};

struct FiveBitCodes {
    static constexpr bool kIsSigned = false;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
        loadNibbles(from, codes);
        orFifthBits(load256(from + kNibbleBytes), codes, std::make_index_sequence<8>());
    }
    /// A pair of products is at most 2 · 31 · 127 = 7874: four groups fit 16 bits.
    [[gnu::always_inline]] static __m256i dot(const Codes& codes, const Q8Block& a) {
        __m256i first = _mm256_maddubs_epi16(codes[0], broadcastGroup(a, 0));
        __m256i second = _mm256_maddubs_epi16(codes[4], broadcastGroup(a, 4));
#pragma GCC unroll 4
        for (std::size_t g = 1; g < 4; ++g) {
            first = _mm256_add_epi16(first, _mm256_maddubs_epi16(codes[g], broadcastGroup(a, g)));
            second = _mm256_add_epi16(second,
                                      _mm256_maddubs_epi16(codes[g + 4], broadcastGroup(a, g + 4)));
        }
        const __m256i ones = _mm256_set1_epi16(1);
        return _mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones));
    }
};

struct SixBitCodes {
    static constexpr bool kIsSigned = false;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
        loadNibbles(from, codes);
        orTopPairs(from + kNibbleBytes, codes, std::make_index_sequence<8>());
    }
};

/// Signed bytes: |code| · (a with the code's sign). A pair of products is at most
/// 2 · 128 · 127 = 32512, which fits 16 bits, but no two do.
struct ByteCodes {
    static constexpr bool kIsSigned = true;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
#pragma GCC unroll 8
        for (std::size_t g = 0; g < 8; ++g) {
            codes[g] = load256(from + 32 * g);
        }
    }
    template <std::size_t First, std::size_t Last>
    [[gnu::always_inline]] static __m256i dotGroups(const Codes& codes, const Q8Block& a) {
        const __m256i ones = _mm256_set1_epi16(1);
        __m256i sum = _mm256_setzero_si256();
#pragma GCC unroll 8
        for (std::size_t g = First; g < Last; ++g) {
            const __m256i magnitude = _mm256_abs_epi8(codes[g]);
            const __m256i pairs =
                _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(broadcastGroup(a, g), codes[g]));
            sum = _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, ones));
        }
        return sum;
    }
    [[gnu::always_inline]] static __m256i dot(const Codes& codes, const Q8Block& a) {
        return dotGroups<0, 8>(codes, a);
    }
};

// --- scales ---

struct HalfScale {
    static constexpr bool kHasMin = false;
    __m256 scale;
    [[gnu::always_inline]] static HalfScale load(const std::byte*, const std::byte* scales) {
        return {loadHalves(scales)};
    }
};

struct HalfScaleMin {
    static constexpr bool kHasMin = true;
    __m256 scale;
    __m256 min;
    [[gnu::always_inline]] static HalfScaleMin load(const std::byte*, const std::byte* scales) {
        return {loadHalves(scales), loadHalves(scales + 16)};
    }
};

struct KScales {
    static constexpr bool kHasMin = true;
    __m256 scale;
    __m256 min;
    [[gnu::always_inline]] static KScales load(const std::byte* head, const std::byte* scales) {
        const __m256 negativeZero = _mm256_set1_ps(-0.0F);
        return {_mm256_mul_ps(loadHalves(head), loadBytes(scales)),
                _mm256_xor_ps(_mm256_mul_ps(loadHalves(head + 16), loadBytes(scales + 8)),
                              negativeZero)};
    }
};

// --- formats ---

/// One scale (and minimum) for the whole block. `Offset` is subtracted from every code.
template <PanelFormat Format, class CodesT, class ScalesT, int Offset>
struct UniformFormat {
    static constexpr PanelGeometry kGeometry = panelGeometry(Format);
    using CodeReader = CodesT;
    struct Block {
        Codes codes;
        ScalesT scales;
    };
    [[gnu::always_inline]] static void load(const std::byte* head, const std::byte* at,
                                            Block& block) {
        CodesT::load(at + kGeometry.scaleBytes, block.codes);
        block.scales = ScalesT::load(head, at);
    }
    [[gnu::always_inline]] static __m256 accumulate(const Block& block, const Q8Block& a,
                                                    __m256 sum) {
        __m256i dot = CodesT::dot(block.codes, a);
        if constexpr (Offset != 0) {
            dot = _mm256_add_epi32(
                dot, _mm256_madd_epi16(broadcastHalfSums(a), _mm256_set1_epi16(-Offset)));
        }
        const __m256 scale = _mm256_mul_ps(block.scales.scale, _mm256_set1_ps(a.scale));
        sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), scale, sum);
        if constexpr (ScalesT::kHasMin) {
            sum = _mm256_fmadd_ps(block.scales.min, _mm256_set1_ps(a.scaledSum), sum);
        }
        return sum;
    }
    /// The weights that eight codes (as integers) stand for.
    template <std::size_t Half>
    [[gnu::always_inline]] static __m256 value(const Block& block, __m256i code) {
        if constexpr (Offset != 0) {
            code = _mm256_sub_epi32(code, _mm256_set1_epi32(Offset));
        }
        const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(code), block.scales.scale);
        if constexpr (ScalesT::kHasMin) {
            return _mm256_add_ps(product, block.scales.min);
        } else {
            return product;
        }
    }
};

/// Q6_K: the integer scales of the half blocks take the place of the ones that widen sums to 32
/// bits, so that both halves share one float scale.
struct SixBitFormat {
    static constexpr PanelGeometry kGeometry = panelGeometry(PanelFormat::kQ6_K);
    using CodeReader = SixBitCodes;
    struct Block {
        Codes codes;
        __m256i scales[2];  // of a half, in both 16-bit parts of a lane
        __m256i offset;     // −32 · (scale of half 0, scale of half 1)
        __m256 scale;
    };
    [[gnu::always_inline]] static void load(const std::byte* head, const std::byte* at,
                                            Block& block) {
        SixBitCodes::load(at + kGeometry.scaleBytes, block.codes);
        const __m256i pairs = _mm256_cvtepi8_epi16(load128(at));
        const __m256i first = _mm256_slli_epi32(pairs, 16);
        block.scales[0] = _mm256_or_si256(first, _mm256_srli_epi32(first, 16));
        const __m256i second = _mm256_srli_epi32(pairs, 16);
        block.scales[1] = _mm256_or_si256(second, _mm256_slli_epi32(second, 16));
        block.offset = _mm256_mullo_epi16(pairs, _mm256_set1_epi16(-32));
        block.scale = loadHalves(head);
    }
    /// A pair of products is at most 2 · 63 · 127 = 16002: two groups fit 16 bits.
    [[gnu::always_inline]] static __m256 accumulate(const Block& block, const Q8Block& a,
                                                    __m256 sum) {
        __m256i dot = _mm256_madd_epi16(broadcastHalfSums(a), block.offset);
#pragma GCC unroll 4
        for (std::size_t g = 0; g < 8; g += 2) {
            const __m256i pairs = _mm256_add_epi16(
                _mm256_maddubs_epi16(block.codes[g], broadcastGroup(a, g)),
                _mm256_maddubs_epi16(block.codes[g + 1], broadcastGroup(a, g + 1)));
            dot = _mm256_add_epi32(dot, _mm256_madd_epi16(pairs, block.scales[g / 4]));
        }
        const __m256 scale = _mm256_mul_ps(block.scale, _mm256_set1_ps(a.scale));
        return _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), scale, sum);
    }
    template <std::size_t Half>
    [[gnu::always_inline]] static __m256 value(const Block& block, __m256i code) {
        const __m256i halfScale = _mm256_srai_epi32(block.scales[Half], 16);
        const __m256 scale = _mm256_mul_ps(block.scale, _mm256_cvtepi32_ps(halfScale));
        code = _mm256_sub_epi32(code, _mm256_set1_epi32(32));
        return _mm256_mul_ps(_mm256_cvtepi32_ps(code), scale);
    }
};

/// Bytes with float scales (and minima) of half blocks: what has no kernel of its own.
template <bool HasMin>
struct SplitFormat {
    static constexpr PanelGeometry kGeometry =
        panelGeometry(HasMin ? PanelFormat::kSplitMin8 : PanelFormat::kSplit8);
    using CodeReader = ByteCodes;
    struct Block {
        Codes codes;
        __m256 scale[2];
        __m256 min[2];
    };
    [[gnu::always_inline]] static void load(const std::byte*, const std::byte* at, Block& block) {
        ByteCodes::load(at + kGeometry.scaleBytes, block.codes);
        const auto* from = reinterpret_cast<const float*>(at);
        for (std::size_t half = 0; half < 2; ++half) {
            block.scale[half] = _mm256_loadu_ps(from + 8 * half);
            if constexpr (HasMin) {
                block.min[half] = _mm256_loadu_ps(from + 16 + 8 * half);
            }
        }
    }
    template <std::size_t Half>
    [[gnu::always_inline]] static __m256 accumulateHalf(const Block& block, const Q8Block& a,
                                                        __m256 sum) {
        const __m256i dot = ByteCodes::dotGroups<4 * Half, 4 * Half + 4>(block.codes, a);
        const __m256 d = _mm256_set1_ps(a.scale);
        sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(block.scale[Half], d), sum);
        if constexpr (HasMin) {
            const __m256 halfSum = _mm256_set1_ps(static_cast<float>(a.halfSums[Half]) * a.scale);
            sum = _mm256_fmadd_ps(block.min[Half], halfSum, sum);
        }
        return sum;
    }
    [[gnu::always_inline]] static __m256 accumulate(const Block& block, const Q8Block& a,
                                                    __m256 sum) {
        return accumulateHalf<1>(block, a, accumulateHalf<0>(block, a, sum));
    }
    template <std::size_t Half>
    [[gnu::always_inline]] static __m256 value(const Block& block, __m256i code) {
        const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(code), block.scale[Half]);
        if constexpr (HasMin) {
            return _mm256_add_ps(product, block.min[Half]);
        } else {
            return product;
        }
    }
};
