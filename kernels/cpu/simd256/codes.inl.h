// Included after the target pragma, inside a tier's namespace. Reading 256-bit vectors, codes and
// activations. Lane o of every vector belongs to output o of the panel.

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

/// One block of each of some rows.
template <int Rows>
using RowBlocks = const Q8Block* [Rows];

using Codes = __m256i[8];  // [group]: bytes [output][4 columns]

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
