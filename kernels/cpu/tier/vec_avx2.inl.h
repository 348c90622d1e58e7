// Vectors of the AVX2 tier: 32 bytes, with FMA and F16C. See vec_generic.inl.h.

inline constexpr int kLanes = 8;
typedef float Floats __attribute__((vector_size(32)));
typedef float UnalignedFloats __attribute__((vector_size(32), aligned(4), may_alias));
typedef std::int32_t Ints __attribute__((vector_size(32)));

QUERN_INLINE Floats splat(float x) {
    return Floats{x, x, x, x, x, x, x, x};
}

QUERN_INLINE Ints splatInt(std::int32_t x) {
    return Ints{x, x, x, x, x, x, x, x};
}

QUERN_INLINE Floats multiplyAdd(Floats a, Floats b, Floats c) {
    return reinterpret_cast<Floats>(_mm256_fmadd_ps(
        reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b), reinterpret_cast<__m256>(c)));
}

QUERN_INLINE Floats maxOf(Floats a, Floats b) {
    return reinterpret_cast<Floats>(
        _mm256_max_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
}

QUERN_INLINE Floats minOf(Floats a, Floats b) {
    return reinterpret_cast<Floats>(
        _mm256_min_ps(reinterpret_cast<__m256>(a), reinterpret_cast<__m256>(b)));
}

QUERN_INLINE Floats laneIndex() {
    return Floats{0.0F, 1.0F, 2.0F, 3.0F, 4.0F, 5.0F, 6.0F, 7.0F};
}

QUERN_INLINE Floats loadHalf(const std::uint16_t* p) {
    return reinterpret_cast<Floats>(
        _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p))));
}

QUERN_INLINE std::uint16_t toHalf(float x) {
    return static_cast<std::uint16_t>(
        _mm_extract_epi16(_mm_cvtps_ph(_mm_set_ss(x), _MM_FROUND_TO_NEAREST_INT), 0));
}

QUERN_INLINE void storeHalf(std::uint16_t* p, Floats x) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(p),
                     _mm256_cvtps_ph(reinterpret_cast<__m256>(x), _MM_FROUND_TO_NEAREST_INT));
}
