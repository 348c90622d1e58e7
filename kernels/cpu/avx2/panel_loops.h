// Included after the target pragma, inside namespace quern::kernels::cpu::avx2::(anonymous), after
// block_kernels.h. The loops over panels, rows and blocks that all formats share.

/// The most rows that share one reading of a panel.
constexpr std::int64_t kRowTile = 8;

/// Stores the first `count` lanes.
[[gnu::always_inline]] inline void storeLanes(float* to, __m256 lanes, std::int64_t count) {
    if (count >= kPanelOutputs) {
        _mm256_storeu_ps(to, lanes);
        return;
    }
    alignas(32) float all[kPanelOutputs];
    _mm256_store_ps(all, lanes);
    std::memcpy(to, all, static_cast<std::size_t>(count) * sizeof(float));
}

/// A range of outputs, panel by panel, and where it goes.
struct OutputRange {
    std::int64_t begin;
    std::int64_t end;
    float* out;
    std::int64_t stride;
};

template <class Format, int Rows>
[[gnu::noinline]] void multiplyTileQ8(const PanelMatrix& weight, const Q8Block* in,
                                      std::int64_t firstRow, const OutputRange& range) {
    constexpr PanelGeometry kGeometry = Format::kGeometry;
    const std::int64_t blocks = weight.blocks();
    for (std::int64_t o = range.begin; o < range.end; o += kPanelOutputs) {
        const std::byte* panel = weight.panel(o / kPanelOutputs);
        __m256 sums[Rows];
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
            sums[r] = _mm256_setzero_ps();
        }
        for (std::int64_t b = 0; b < blocks; ++b) {
            typename Format::Block block;
            Format::load(panel + kGeometry.headOf(b), panel + kGeometry.blockAt(b), block);
            const Q8Block* a = in + b;
#pragma GCC unroll 8
            for (int r = 0; r < Rows; ++r) {
                sums[r] = Format::accumulate(block, a[r * blocks], sums[r]);
            }
        }
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
            storeLanes(range.out + (firstRow + r) * range.stride + o, sums[r], range.end - o);
        }
    }
}

/// Calls tile<Rows>(firstRow) for all rows: full tiles, then one of what is left.
template <class Tile>
[[gnu::always_inline]] inline void forRowTiles(std::int64_t rows, Tile tile) {
    std::int64_t first = 0;
    for (; first + kRowTile <= rows; first += kRowTile) {
        tile(std::integral_constant<int, 8>(), first);
    }
    switch (rows - first) {
        case 1:
            return tile(std::integral_constant<int, 1>(), first);
        case 2:
            return tile(std::integral_constant<int, 2>(), first);
        case 3:
            return tile(std::integral_constant<int, 3>(), first);
        case 4:
            return tile(std::integral_constant<int, 4>(), first);
        case 5:
            return tile(std::integral_constant<int, 5>(), first);
        case 6:
            return tile(std::integral_constant<int, 6>(), first);
        case 7:
            return tile(std::integral_constant<int, 7>(), first);
        default:
            return;
    }
}

template <class Format>
void multiplyQ8(const PanelMatrix& weight, const Q8Rows& in, std::int64_t begin, std::int64_t end,
                float* out, std::int64_t stride) {
    const OutputRange range{begin, end, out, stride};
    forRowTiles(in.rows, [&](auto rows, std::int64_t first) {
        multiplyTileQ8<Format, rows()>(weight, in.blocks + first * weight.blocks(), first, range);
    });
}

/// Byte i of every 32-bit lane.
template <bool IsSigned, int I>
[[gnu::always_inline]] inline __m256i laneByte(__m256i bytes) {
    if constexpr (IsSigned) {
        return _mm256_srai_epi32(_mm256_slli_epi32(bytes, 24 - 8 * I), 24);
    } else {
        return _mm256_and_si256(_mm256_srli_epi32(bytes, 8 * I), _mm256_set1_epi32(255));
    }
}

template <class Format, int Rows, std::size_t Group, int I>
[[gnu::always_inline]] inline void addColumnF32(const typename Format::Block& block,
                                                const float* in, std::int64_t inStride,
                                                __m256 (&sums)[Rows]) {
    const __m256i code = laneByte<Format::CodeReader::kIsSigned, I>(block.codes[Group]);
    const __m256 value = Format::template value<Group / 4>(block, code);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        sums[r] = _mm256_fmadd_ps(value, _mm256_set1_ps(in[r * inStride + 4 * Group + I]), sums[r]);
    }
}

template <class Format, int Rows, std::size_t... Group>
[[gnu::always_inline]] inline void addBlockF32(const typename Format::Block& block, const float* in,
                                               std::int64_t inStride, __m256 (&sums)[Rows],
                                               std::index_sequence<Group...>) {
    ((addColumnF32<Format, Rows, Group, 0>(block, in, inStride, sums),
      addColumnF32<Format, Rows, Group, 1>(block, in, inStride, sums),
      addColumnF32<Format, Rows, Group, 2>(block, in, inStride, sums),
      addColumnF32<Format, Rows, Group, 3>(block, in, inStride, sums)),
     ...);
}

template <class Format, int Rows>
[[gnu::noinline]] void multiplyTileF32(const PanelMatrix& weight, const float* in,
                                       std::int64_t inStride, std::int64_t firstRow,
                                       const OutputRange& range) {
    constexpr PanelGeometry kGeometry = Format::kGeometry;
    const std::int64_t blocks = weight.blocks();
    for (std::int64_t o = range.begin; o < range.end; o += kPanelOutputs) {
        const std::byte* panel = weight.panel(o / kPanelOutputs);
        __m256 sums[Rows];
        for (int r = 0; r < Rows; ++r) {
            sums[r] = _mm256_setzero_ps();
        }
        for (std::int64_t b = 0; b < blocks; ++b) {
            typename Format::Block block;
            Format::load(panel + kGeometry.headOf(b), panel + kGeometry.blockAt(b), block);
            addBlockF32<Format, Rows>(block, in + b * 32, inStride, sums,
                                      std::make_index_sequence<8>());
        }
        for (int r = 0; r < Rows; ++r) {
            storeLanes(range.out + (firstRow + r) * range.stride + o, sums[r], range.end - o);
        }
    }
}

template <class Format>
void multiplyF32(const PanelMatrix& weight, const float* in, std::int64_t rows,
                 std::int64_t inStride, std::int64_t begin, std::int64_t end, float* out,
                 std::int64_t stride) {
    const OutputRange range{begin, end, out, stride};
    forRowTiles(rows, [&](auto tileRows, std::int64_t first) {
        multiplyTileF32<Format, tileRows()>(weight, in + first * inStride, inStride, first, range);
    });
}

template <class Format>
constexpr PanelKernels blockKernels() {
    return {.multiplyQ8 = multiplyQ8<Format>, .multiplyF32 = multiplyF32<Format>};
}

// --- plain types ---

struct PlainF32 {
    [[gnu::always_inline]] static __m256 column(const std::byte* panel, std::int64_t k) {
        return _mm256_loadu_ps(reinterpret_cast<const float*>(panel + k * 32));
    }
};

struct PlainF16 {
    [[gnu::always_inline]] static __m256 column(const std::byte* panel, std::int64_t k) {
        return loadHalves(panel + k * 16);
    }
};

struct PlainBF16 {
    [[gnu::always_inline]] static __m256 column(const std::byte* panel, std::int64_t k) {
        const __m256i wide = _mm256_cvtepu16_epi32(load128(panel + k * 16));
        return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
    }
};

template <class Plain, int Rows>
[[gnu::noinline]] void multiplyTilePlain(const PanelMatrix& weight, const float* in,
                                         std::int64_t inStride, std::int64_t firstRow,
                                         const OutputRange& range) {
    for (std::int64_t o = range.begin; o < range.end; o += kPanelOutputs) {
        const std::byte* panel = weight.panel(o / kPanelOutputs);
        __m256 sums[Rows];
        for (int r = 0; r < Rows; ++r) {
            sums[r] = _mm256_setzero_ps();
        }
        for (std::int64_t k = 0; k < weight.inputs; ++k) {
            const __m256 column = Plain::column(panel, k);
#pragma GCC unroll 8
            for (int r = 0; r < Rows; ++r) {
                sums[r] = _mm256_fmadd_ps(column, _mm256_set1_ps(in[r * inStride + k]), sums[r]);
            }
        }
        for (int r = 0; r < Rows; ++r) {
            storeLanes(range.out + (firstRow + r) * range.stride + o, sums[r], range.end - o);
        }
    }
}

template <class Plain>
void multiplyPlain(const PanelMatrix& weight, const float* in, std::int64_t rows,
                   std::int64_t inStride, std::int64_t begin, std::int64_t end, float* out,
                   std::int64_t stride) {
    const OutputRange range{begin, end, out, stride};
    forRowTiles(rows, [&](auto tileRows, std::int64_t first) {
        multiplyTilePlain<Plain, tileRows()>(weight, in + first * inStride, inStride, first, range);
    });
}

template <class Plain>
constexpr PanelKernels plainKernels() {
    return {.multiplyQ8 = nullptr, .multiplyF32 = multiplyPlain<Plain>};
}
