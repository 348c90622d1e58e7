// Included after the target pragma, inside the tier's namespace, after codes.inl.h. Products of
// bytes without VNNI: pairs of products are added in 16 bits, as many as surely fit, then widened.

/// Signed bytes are multiplied as |code| · (a with the code's sign).
constexpr int kByteOffset = 0;

[[gnu::always_inline]] inline __m256i asByteCode(__m256i bytes) {
    return bytes;
}

/// Rows whose sums are worked on side by side: beside eight vectors of codes, sixteen registers
/// have no room for a second.
constexpr int kRowsAtOnce = 1;

/// Pairs of products of groups [First, Last), added in 16 bits.
template <std::size_t First, std::size_t Last, int Rows>
[[gnu::always_inline]] inline void sumPairs(const Codes& codes, const RowBlocks<Rows>& a,
                                            __m256i (&pairs)[Rows]) {
#pragma GCC unroll 8
    for (std::size_t g = First; g < Last; ++g) {
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
            const __m256i pair = _mm256_maddubs_epi16(codes[g], broadcastGroup(*a[r], g));
            pairs[r] = g == First ? pair : _mm256_add_epi16(pairs[r], pair);
        }
    }
}

/// A pair of signed bytes' products is at most 2 · 128 · 127 = 32512.
[[gnu::always_inline]] inline __m256i signedPair(__m256i codes, __m256i a) {
    return _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(a, codes));
}

/// A pair of products is at most 2 · Largest · 127; 16 bits hold 32767: eight pairs of nibbles,
/// four of five bits, one of signed bytes.
template <int Largest, std::size_t First, std::size_t Last, int Rows>
[[gnu::always_inline]] inline void sumProducts(const Codes& codes, const RowBlocks<Rows>& a,
                                               __m256i (&dots)[Rows]) {
    const __m256i ones = _mm256_set1_epi16(1);
    if constexpr (Largest == 255) {
#pragma GCC unroll 8
        for (std::size_t g = First; g < Last; ++g) {
#pragma GCC unroll 4
            for (int r = 0; r < Rows; ++r) {
                const __m256i pair = signedPair(codes[g], broadcastGroup(*a[r], g));
                dots[r] = _mm256_add_epi32(dots[r], _mm256_madd_epi16(pair, ones));
            }
        }
    } else if constexpr (2 * Largest * 127 * static_cast<int>(Last - First) <= 32767) {
        __m256i pairs[Rows];
        sumPairs<First, Last, Rows>(codes, a, pairs);
        for (int r = 0; r < Rows; ++r) {
            dots[r] = _mm256_add_epi32(dots[r], _mm256_madd_epi16(pairs[r], ones));
        }
    } else {
        constexpr std::size_t kMiddle = (First + Last) / 2;
        sumProducts<Largest, First, kMiddle, Rows>(codes, a, dots);
        sumProducts<Largest, kMiddle, Last, Rows>(codes, a, dots);
    }
}

/// Integer scales of the two halves of a block. They take the place of the ones that widen sums to
/// 32 bits.
struct HalfScales {
    __m256i half[2];  // the scale in both 16-bit parts of a lane

    /// From (scale of half 0, scale of half 1) in each lane.
    [[gnu::always_inline]] static HalfScales from(__m256i pairs) {
        const __m256i first = _mm256_slli_epi32(pairs, 16);
        const __m256i second = _mm256_srli_epi32(pairs, 16);
        return {{_mm256_or_si256(first, _mm256_srli_epi32(first, 16)),
                 _mm256_or_si256(second, _mm256_slli_epi32(second, 16))}};
    }
    [[gnu::always_inline]] __m256i asInt32(std::size_t index) const {
        return _mm256_srai_epi32(half[index], 16);
    }
};

/// Six bits: two pairs of products fit 16 bits.
template <std::size_t First, int Rows>
[[gnu::always_inline]] inline void addScaledPairs(const Codes& codes, __m256i scale,
                                                  const RowBlocks<Rows>& a, __m256i (&dots)[Rows]) {
    __m256i pairs[Rows];
    sumPairs<First, First + 2, Rows>(codes, a, pairs);
    for (int r = 0; r < Rows; ++r) {
        dots[r] = _mm256_add_epi32(dots[r], _mm256_madd_epi16(pairs[r], scale));
    }
}

template <int Rows>
[[gnu::always_inline]] inline void sumScaledHalves(const Codes& codes, const HalfScales& scales,
                                                   const RowBlocks<Rows>& a,
                                                   __m256i (&dots)[Rows]) {
    addScaledPairs<0, Rows>(codes, scales.half[0], a, dots);
    addScaledPairs<2, Rows>(codes, scales.half[0], a, dots);
    addScaledPairs<4, Rows>(codes, scales.half[1], a, dots);
    addScaledPairs<6, Rows>(codes, scales.half[1], a, dots);
}
