// Included after the target pragma, inside a tier's namespace, after codes.inl.h and the tier's
// products.inl.h, which brings
//   kByteOffset, asByteCode(bytes): how the tier multiplies by signed bytes
//   sumProducts<Largest, First, Last>(codes, rows, dots): dots += Σ code · a over groups
//   HalfScales, sumScaledHalves(codes, scales, rows, dots): the same with a scale for each half.
// One struct a panel format: how its codes and scales are read, what one block adds to the sums of
// some rows, and the float weights it stands for. Rows are worked on some at a time because the
// sums of one are a chain in which each step waits for the one before.

// --- codes ---

struct NibbleCodes {
    static constexpr int kLargest = 15;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
        loadNibbles(from, codes);
    }
};

struct FiveBitCodes {
    static constexpr int kLargest = 31;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
        loadNibbles(from, codes);
        orFifthBits(load256(from + kNibbleBytes), codes, std::make_index_sequence<8>());
    }
};

struct SixBitCodes {
    static constexpr int kLargest = 63;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
        loadNibbles(from, codes);
        orTopPairs(from + kNibbleBytes, codes, std::make_index_sequence<8>());
    }
};

/// Nibbles that number the values of MXFP4.
struct Mxfp4Codes {
    static constexpr int kLargest = 2 * kMxfp4Offset;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
        const __m256i table = _mm256_broadcastsi128_si256(
            _mm_loadu_si128(reinterpret_cast<const __m128i*>(kMxfp4Codes.data())));
        loadNibbles(from, codes);
#pragma GCC unroll 8
        for (std::size_t g = 0; g < 8; ++g) {
            codes[g] = _mm256_shuffle_epi8(table, codes[g]);
        }
    }
};

/// Signed bytes as the tier wants them.
struct ByteCodes {
    static constexpr int kLargest = 255;
    [[gnu::always_inline]] static void load(const std::byte* from, Codes& codes) {
#pragma GCC unroll 8
        for (std::size_t g = 0; g < 8; ++g) {
            codes[g] = asByteCode(load256(from + 32 * g));
        }
    }
};

/// −(FirstOffset · Σq of the first half + SecondOffset · Σq of the second): what codes that are too
/// large by an offset add to a dot product.
template <int FirstOffset, int SecondOffset>
[[gnu::always_inline]] inline __m256i offsetSum(const Q8Block& a) {
    if constexpr (FirstOffset == 0 && SecondOffset == 0) {
        return _mm256_setzero_si256();
    } else {
        constexpr std::uint32_t kPair = (static_cast<std::uint32_t>(-SecondOffset) << 16) |
                                        (static_cast<std::uint32_t>(-FirstOffset) & 0xFFFFU);
        return _mm256_madd_epi16(broadcastHalfSums(a),
                                 _mm256_set1_epi32(static_cast<std::int32_t>(kPair)));
    }
}

/// Byte i of every 32-bit lane, less an offset.
template <class CodesT, int Offset, int I>
[[gnu::always_inline]] inline __m256i laneCode(__m256i bytes) {
    if constexpr (CodesT::kLargest == 255 && kByteOffset == 0) {
        return _mm256_srai_epi32(_mm256_slli_epi32(bytes, 24 - 8 * I), 24);
    } else {
        const __m256i code =
            _mm256_and_si256(_mm256_srli_epi32(bytes, 8 * I), _mm256_set1_epi32(255));
        return _mm256_sub_epi32(code, _mm256_set1_epi32(Offset));
    }
}

// --- scales ---

struct HalfScale {
    static constexpr bool kHasMin = false;
    __m256 scale;
    [[gnu::always_inline]] static HalfScale load(const std::byte*, const std::byte* scales) {
        return {loadHalves(scales)};
    }
};

/// 2^(e − 128), for values that are twice their codes'. The two smallest are denormal.
struct ExponentScale {
    static constexpr bool kHasMin = false;
    __m256 scale;
    [[gnu::always_inline]] static ExponentScale load(const std::byte*, const std::byte* scales) {
        const __m256i e =
            _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(scales)));
        const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(e, _mm256_set1_epi32(1)), 23);
        const __m256i small = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), e);
        const __m256i isSmall = _mm256_cmpgt_epi32(_mm256_set1_epi32(2), e);
        return {_mm256_castsi256_ps(_mm256_blendv_epi8(normal, small, isSmall))};
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

/// sum += dot · (scale · d)
[[gnu::always_inline]] inline void addScaled(__m256i dot, __m256 scale, const Q8Block& a,
                                             __m256& sum) {
    sum = _mm256_fmadd_ps(_mm256_cvtepi32_ps(dot), _mm256_mul_ps(scale, _mm256_set1_ps(a.scale)),
                          sum);
}

/// One scale (and minimum) for the whole block. `Offset` is subtracted from every code.
template <PanelFormat Format, class CodesT, class ScalesT, int Offset>
struct UniformFormat {
    static constexpr PanelGeometry kGeometry = panelGeometry(Format);
    struct Block {
        Codes codes;
        ScalesT scales;
    };
    [[gnu::always_inline]] static void load(const std::byte* head, const std::byte* at,
                                            Block& block) {
        CodesT::load(at + kGeometry.scaleBytes, block.codes);
        block.scales = ScalesT::load(head, at);
    }
    template <int Rows>
    [[gnu::always_inline]] static void accumulate(const Block& block, const RowBlocks<Rows>& a,
                                                  __m256* sums) {
        __m256i dots[Rows];
        for (int r = 0; r < Rows; ++r) {
            dots[r] = offsetSum<Offset, Offset>(*a[r]);
        }
        sumProducts<CodesT::kLargest, 0, 8, Rows>(block.codes, a, dots);
        for (int r = 0; r < Rows; ++r) {
            addScaled(dots[r], block.scales.scale, *a[r], sums[r]);
            if constexpr (ScalesT::kHasMin) {
                sums[r] =
                    _mm256_fmadd_ps(block.scales.min, _mm256_set1_ps(a[r]->scaledSum), sums[r]);
            }
        }
    }
    /// The weights of column 4 · group + I.
    template <int I>
    [[gnu::always_inline]] static __m256 column(const Block& block, std::size_t group) {
        const __m256i code = laneCode<CodesT, Offset, I>(block.codes[group]);
        const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(code), block.scales.scale);
        if constexpr (ScalesT::kHasMin) {
            return _mm256_add_ps(product, block.scales.min);
        } else {
            return product;
        }
    }
};

/// Q6_K: integer scales of the half blocks under one float scale.
struct SixBitFormat {
    static constexpr PanelGeometry kGeometry = panelGeometry(PanelFormat::kQ6_K);
    struct Block {
        Codes codes;
        HalfScales halves;
        __m256i offset;  // −32 · (scale of half 0, scale of half 1)
        __m256 scale;
    };
    [[gnu::always_inline]] static void load(const std::byte* head, const std::byte* at,
                                            Block& block) {
        SixBitCodes::load(at + kGeometry.scaleBytes, block.codes);
        const __m256i pairs = _mm256_cvtepi8_epi16(load128(at));
        block.halves = HalfScales::from(pairs);
        block.offset = _mm256_mullo_epi16(pairs, _mm256_set1_epi16(-32));
        block.scale = loadHalves(head);
    }
    template <int Rows>
    [[gnu::always_inline]] static void accumulate(const Block& block, const RowBlocks<Rows>& a,
                                                  __m256* sums) {
        __m256i dots[Rows];
        for (int r = 0; r < Rows; ++r) {
            dots[r] = _mm256_madd_epi16(broadcastHalfSums(*a[r]), block.offset);
        }
        sumScaledHalves<Rows>(block.codes, block.halves, a, dots);
        for (int r = 0; r < Rows; ++r) {
            addScaled(dots[r], block.scale, *a[r], sums[r]);
        }
    }
    template <int I>
    [[gnu::always_inline]] static __m256 column(const Block& block, std::size_t group) {
        const __m256 half = _mm256_cvtepi32_ps(block.halves.asInt32(group / 4));
        const __m256i code = laneCode<SixBitCodes, 32, I>(block.codes[group]);
        return _mm256_mul_ps(_mm256_cvtepi32_ps(code), _mm256_mul_ps(block.scale, half));
    }
};

/// Bytes with float scales (and minima) of half blocks: what has no kernel of its own.
template <bool HasMin>
struct SplitFormat {
    static constexpr PanelGeometry kGeometry =
        panelGeometry(HasMin ? PanelFormat::kSplitMin8 : PanelFormat::kSplit8);
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
    template <std::size_t Half, int Rows>
    [[gnu::always_inline]] static void accumulateHalf(const Block& block, const RowBlocks<Rows>& a,
                                                      __m256* sums) {
        constexpr int kFirst = Half == 0 ? kByteOffset : 0;
        __m256i dots[Rows];
        for (int r = 0; r < Rows; ++r) {
            dots[r] = offsetSum<kFirst, kByteOffset - kFirst>(*a[r]);
        }
        sumProducts<ByteCodes::kLargest, 4 * Half, 4 * Half + 4, Rows>(block.codes, a, dots);
        for (int r = 0; r < Rows; ++r) {
            addScaled(dots[r], block.scale[Half], *a[r], sums[r]);
            if constexpr (HasMin) {
                const float halfSum = static_cast<float>(a[r]->halfSums[Half]) * a[r]->scale;
                sums[r] = _mm256_fmadd_ps(block.min[Half], _mm256_set1_ps(halfSum), sums[r]);
            }
        }
    }
    template <int Rows>
    [[gnu::always_inline]] static void accumulate(const Block& block, const RowBlocks<Rows>& a,
                                                  __m256* sums) {
        accumulateHalf<0, Rows>(block, a, sums);
        accumulateHalf<1, Rows>(block, a, sums);
    }
    template <int I>
    [[gnu::always_inline]] static __m256 column(const Block& block, std::size_t group) {
        const __m256i code = laneCode<ByteCodes, kByteOffset, I>(block.codes[group]);
        const __m256 product = _mm256_mul_ps(_mm256_cvtepi32_ps(code), block.scale[group / 4]);
        if constexpr (HasMin) {
            return _mm256_add_ps(product, block.min[group / 4]);
        } else {
            return product;
        }
    }
};
