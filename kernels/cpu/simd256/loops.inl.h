// Included after the target pragma, inside a tier's namespace, after formats.inl.h. The loops over
// panels, rows and blocks that all formats share.

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

/// Adds a block to rows [First, Rows), kRowsAtOnce at a time.
template <class Format, int Rows, int First>
[[gnu::always_inline]] inline void accumulateRows(const typename Format::Block& block,
                                                  const Q8Block* in, std::int64_t rowBlocks,
                                                  __m256 (&sums)[Rows]) {
    constexpr int kSome = Rows - First < kRowsAtOnce ? Rows - First : kRowsAtOnce;
    if constexpr (kSome > 0) {
        RowBlocks<kSome> a;
        for (int r = 0; r < kSome; ++r) {
            a[r] = in + (First + r) * rowBlocks;
        }
        Format::template accumulate<kSome>(block, a, sums + First);
        accumulateRows<Format, Rows, First + kSome>(block, in, rowBlocks, sums);
    }
}

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
            accumulateRows<Format, Rows, 0>(block, in + b, blocks, sums);
        }
#pragma GCC unroll 8
        for (int r = 0; r < Rows; ++r) {
            storeLanes(range.out + (firstRow + r) * range.stride + o, sums[r], range.end - o);
        }
    }
}

/// Calls tile<Rows>(firstRow) until all rows are done: in eights, then fours, twos and a last one.
template <class Tile>
[[gnu::always_inline]] inline void forRowTiles(std::int64_t rows, Tile tile) {
    std::int64_t first = 0;
    for (; rows - first >= 8; first += 8) {
        tile(std::integral_constant<int, 8>(), first);
    }
    if (rows - first >= 4) {
        tile(std::integral_constant<int, 4>(), first);
        first += 4;
    }
    if (rows - first >= 2) {
        tile(std::integral_constant<int, 2>(), first);
        first += 2;
    }
    if (rows - first >= 1) {
        tile(std::integral_constant<int, 1>(), first);
    }
}

/// Calls tile<Rows>(firstRow, range) for all rows and parts of a range whose panels stay in half of
/// a small second-level cache (512 KiB) while all rows pass them.
template <class Tile>
[[gnu::always_inline]] inline void forTiles(const PanelMatrix& weight, std::int64_t rows,
                                            const OutputRange& range, Tile tile) {
    constexpr std::int64_t kCachedBytes = std::int64_t{256} << 10;
    const std::int64_t panels = kCachedBytes / weight.panelBytes;
    const std::int64_t step = kPanelOutputs * (panels > 0 ? panels : 1);
    for (std::int64_t begin = range.begin; begin < range.end; begin += step) {
        const std::int64_t end = range.end - begin < step ? range.end : begin + step;
        const OutputRange part{begin, end, range.out, range.stride};
        forRowTiles(rows, [&](auto tileRows, std::int64_t first) { tile(tileRows, first, part); });
    }
}

template <class Format>
void multiplyQ8(const PanelMatrix& weight, const Q8Rows& in, std::int64_t begin, std::int64_t end,
                float* out, std::int64_t stride) {
    const OutputRange range{begin, end, out, stride};
    forTiles(weight, in.rows, range, [&](auto rows, std::int64_t first, const OutputRange& part) {
        multiplyTileQ8<Format, rows()>(weight, in.blocks + first * weight.blocks(), first, part);
    });
}

template <class Format, int Rows, int I>
[[gnu::always_inline]] inline void addColumnF32(const typename Format::Block& block,
                                                std::size_t group, const float* in,
                                                std::int64_t inStride, __m256 (&sums)[Rows]) {
    const __m256 value = Format::template column<I>(block, group);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
        sums[r] = _mm256_fmadd_ps(value, _mm256_set1_ps(in[r * inStride + I]), sums[r]);
    }
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
            for (std::size_t group = 0; group < 8; ++group) {
                const float* a = in + b * 32 + static_cast<std::int64_t>(4 * group);
                addColumnF32<Format, Rows, 0>(block, group, a, inStride, sums);
                addColumnF32<Format, Rows, 1>(block, group, a, inStride, sums);
                addColumnF32<Format, Rows, 2>(block, group, a, inStride, sums);
                addColumnF32<Format, Rows, 3>(block, group, a, inStride, sums);
            }
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
    forTiles(weight, rows, range, [&](auto tileRows, std::int64_t first, const OutputRange& part) {
        multiplyTileF32<Format, tileRows()>(weight, in + first * inStride, inStride, first, part);
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
    forTiles(weight, rows, range, [&](auto tileRows, std::int64_t first, const OutputRange& part) {
        multiplyTilePlain<Plain, tileRows()>(weight, in + first * inStride, inStride, first, part);
    });
}

template <class Plain>
constexpr PanelKernels plainKernels() {
    return {.multiplyQ8 = nullptr, .multiplyF32 = multiplyPlain<Plain>};
}
