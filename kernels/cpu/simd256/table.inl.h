// Included after the target pragma, inside a tier's namespace, after loops.inl.h. The tier's
// kernels by format, and the quantizer of activations.

PanelKernels kernelsOf(PanelFormat format) {
    switch (format) {
        case PanelFormat::kQ4_0:
            return blockKernels<UniformFormat<PanelFormat::kQ4_0, NibbleCodes, HalfScale, 8>>();
        case PanelFormat::kQ4_1:
            return blockKernels<UniformFormat<PanelFormat::kQ4_1, NibbleCodes, HalfScaleMin, 0>>();
        case PanelFormat::kQ4_K:
            return blockKernels<UniformFormat<PanelFormat::kQ4_K, NibbleCodes, KScales, 0>>();
        case PanelFormat::kQ5_0:
            return blockKernels<UniformFormat<PanelFormat::kQ5_0, FiveBitCodes, HalfScale, 16>>();
        case PanelFormat::kQ5_1:
            return blockKernels<UniformFormat<PanelFormat::kQ5_1, FiveBitCodes, HalfScaleMin, 0>>();
        case PanelFormat::kQ5_K:
            return blockKernels<UniformFormat<PanelFormat::kQ5_K, FiveBitCodes, KScales, 0>>();
        case PanelFormat::kQ6_K:
            return blockKernels<SixBitFormat>();
        case PanelFormat::kQ8_0:
            return blockKernels<
                UniformFormat<PanelFormat::kQ8_0, ByteCodes, HalfScale, kByteOffset>>();
        case PanelFormat::kMXFP4:
            return blockKernels<
                UniformFormat<PanelFormat::kMXFP4, Mxfp4Codes, ExponentScale, kMxfp4Offset>>();
        case PanelFormat::kSplit8:
            return blockKernels<SplitFormat<false>>();
        case PanelFormat::kSplitMin8:
            return blockKernels<SplitFormat<true>>();
        case PanelFormat::kF32:
            return plainKernels<PlainF32>();
        case PanelFormat::kF16:
            return plainKernels<PlainF16>();
        case PanelFormat::kBF16:
            break;
    }
    return plainKernels<PlainBF16>();
}

Result<std::unique_ptr<PackedWeight>> pack(const TensorView& weight, ActivationType activations,
                                           WeightMemory& memory, const RowsPacked& told) {
    return packPanels(weight, activations, memory, told, kernelsOf);
}

/// The largest lane.
float largestOf(__m256 lanes) {
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(lanes), _mm256_extractf128_ps(lanes, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    four = _mm_max_ss(four, _mm_movehdup_ps(four));
    return _mm_cvtss_f32(four);
}

/// Σ of sixteen int16.
std::int16_t sumOf(__m256i words) {
    const __m256i pairs = _mm256_madd_epi16(words, _mm256_set1_epi16(1));
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(pairs), _mm256_extracti128_si256(pairs, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4E));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xB1));
    return static_cast<std::int16_t>(_mm_cvtsi128_si32(four));
}

void quantizeBlock(const float* in, Q8Block& block) {
    const __m256 magnitudeMask = _mm256_castsi256_ps(_mm256_set1_epi32(0x7FFFFFFF));
    __m256 x[4];
    // As integers, magnitudes order like the numbers, with infinities and NaNs on top.
    __m256i largestBits = _mm256_setzero_si256();
    for (std::size_t i = 0; i < 4; ++i) {
        x[i] = _mm256_loadu_ps(in + 8 * i);
        largestBits =
            _mm256_max_epi32(largestBits, _mm256_castps_si256(_mm256_and_ps(x[i], magnitudeMask)));
    }
    const bool isFinite =
        _mm256_movemask_epi8(_mm256_cmpgt_epi32(largestBits, _mm256_set1_epi32(0x7F7FFFFF))) == 0;
    const float largest = isFinite ? largestOf(_mm256_castsi256_ps(largestBits)) : 0.0F;
    if (largest < 0x1p-100F) {
        const float scale = isFinite ? 0.0F : std::numeric_limits<float>::quiet_NaN();
        block = {.scale = scale, .scaledSum = scale, .halfSums = {}, .values = {}};
        return;
    }
    const __m256 inverse = _mm256_set1_ps(127.0F / largest);
    const __m256i bound = _mm256_set1_epi32(127);
    __m256i q[4];
    for (std::size_t i = 0; i < 4; ++i) {
        q[i] = _mm256_cvtps_epi32(_mm256_mul_ps(x[i], inverse));
        q[i] = _mm256_max_epi32(_mm256_min_epi32(q[i], bound),
                                _mm256_sub_epi32(_mm256_setzero_si256(), bound));
    }
    // Packing works within 128-bit halves; the permutation puts columns back in order.
    const __m256i first = _mm256_permute4x64_epi64(_mm256_packs_epi32(q[0], q[1]), 0xD8);
    const __m256i second = _mm256_permute4x64_epi64(_mm256_packs_epi32(q[2], q[3]), 0xD8);
    const __m256i bytes = _mm256_permute4x64_epi64(_mm256_packs_epi16(first, second), 0xD8);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(block.values.data()), bytes);
    block.halfSums = {sumOf(first), sumOf(second)};
    block.scale = largest / 127.0F;
    block.scaledSum = block.scale * static_cast<float>(block.halfSums[0] + block.halfSums[1]);
}

void quantizeRow(const float* in, const Q8Rows& to, std::int64_t row) {
    const std::int64_t blocks = to.cols / 32;
    for (std::int64_t b = 0; b < blocks; ++b) {
        quantizeBlock(in + 32 * b, to.blocks[row * blocks + b]);
    }
}
