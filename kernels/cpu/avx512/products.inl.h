// Included after the target pragma, inside the tier's namespace, after codes.inl.h. Products of
// bytes with VNNI: four of them are added to a 32-bit lane by one instruction.

/// The instruction wants unsigned codes: signed bytes are moved up by 128.
constexpr int kByteOffset = 128;

[[gnu::always_inline]] inline __m256i asByteCode(__m256i bytes) {
    return _mm256_xor_si256(bytes, _mm256_set1_epi8(-128));
}

/// Rows whose sums are worked on side by side.
constexpr int kRowsAtOnce = 4;

template <int Largest, std::size_t First, std::size_t Last, int Rows>
[[gnu::always_inline]] inline void sumProducts(const Codes& codes, const RowBlocks<Rows>& a,
                                               __m256i (&dots)[Rows]) {
#pragma GCC unroll 8
    for (std::size_t g = First; g < Last; ++g) {
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r) {
            dots[r] = _mm256_dpbusd_epi32(dots[r], codes[g], broadcastGroup(*a[r], g));
        }
    }
}

/// Integer scales of the two halves of a block.
struct HalfScales {
    __m256i half[2];

    /// From (scale of half 0, scale of half 1) in each lane.
    [[gnu::always_inline]] static HalfScales from(__m256i pairs) {
        return {
            {_mm256_srai_epi32(_mm256_slli_epi32(pairs, 16), 16), _mm256_srai_epi32(pairs, 16)}};
    }
    [[gnu::always_inline]] __m256i asInt32(std::size_t index) const { return half[index]; }
};

template <std::size_t Half, int Rows>
[[gnu::always_inline]] inline void addScaledHalf(const Codes& codes, const HalfScales& scales,
                                                 const RowBlocks<Rows>& a, __m256i (&dots)[Rows]) {
    __m256i half[Rows];
    for (int r = 0; r < Rows; ++r) {
        half[r] = _mm256_setzero_si256();
    }
    sumProducts<63, 4 * Half, 4 * Half + 4, Rows>(codes, a, half);
    for (int r = 0; r < Rows; ++r) {
        dots[r] = _mm256_add_epi32(dots[r], _mm256_mullo_epi32(half[r], scales.half[Half]));
    }
}

template <int Rows>
[[gnu::always_inline]] inline void sumScaledHalves(const Codes& codes, const HalfScales& scales,
                                                   const RowBlocks<Rows>& a,
                                                   __m256i (&dots)[Rows]) {
    addScaledHalf<0, Rows>(codes, scales, a, dots);
    addScaledHalf<1, Rows>(codes, scales, a, dots);
}
