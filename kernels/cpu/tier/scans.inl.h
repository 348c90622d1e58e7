// Ops that keep a state, one token at a time. Columns are independent of each other and rows go in
// ascending order, so a result depends on the tokens before it alone.

// The vector of columns at `i`, of which `count` are left.
QUERN_INLINE Floats loadUpTo(const float* p, std::int64_t count) {
    return count >= kLanes ? load(p) : loadPart(p, count);
}

QUERN_INLINE void storeUpTo(float* p, Floats x, std::int64_t count) {
    if (count >= kLanes) {
        store(p, x);
    } else {
        storePart(p, x, count);
    }
}

void conv(const ConvArgs& args, const float* in, float* state, float* out) {
    for (std::int64_t i = 0; i < args.cols; i += kLanes) {
        const std::int64_t left = args.cols - i;
        Floats sum = args.bias == nullptr ? splat(0.0F) : loadUpTo(args.bias + i, left);
        Floats row = splat(0.0F);
        for (std::int64_t k = 0; k < args.rows; ++k) {
            const bool isLast = k + 1 == args.rows;
            const Floats next = loadUpTo(isLast ? in + i : state + k * args.cols + i, left);
            if (k > 0) {
                storeUpTo(state + (k - 1) * args.cols + i, next, left);
            }
            row = next;
            sum = multiplyAdd(loadUpTo(args.weight + k * args.weightStride + i, left), row, sum);
        }
        storeUpTo(out + i, activationOf(args.activation, sum), left);
    }
}

// Columns of a state that are kept in registers while its rows pass by.
inline constexpr std::int64_t kScanVectors = 4;
inline constexpr std::int64_t kScanCols = kScanVectors * kLanes;

// Calls function(column, vectors, count) for tiles of columns: full vectors, then what is left.
template <class Function>
QUERN_INLINE void forColumnTiles(std::int64_t cols, Function function) {
    std::int64_t i = 0;
    for (; i + kScanCols <= cols; i += kScanCols) {
        function(i, std::integral_constant<int, kScanVectors>{}, kLanes);
    }
    for (; i < cols; i += kLanes) {
        function(i, std::integral_constant<int, 1>{}, cols - i);
    }
}

void ssd(const SsdArgs& args, float* state, float* out) {
    const Floats decay = splat(args.decay);
    forColumnTiles(args.headDim, [&](std::int64_t first, auto vectors,
                                     std::int64_t left) QUERN_LAMBDA {
        constexpr int kVectors = vectors.value;
        Floats input[kVectors];
        Floats sum[kVectors];
        for (int v = 0; v < kVectors; ++v) {
            const Floats x = loadUpTo(args.x + first + v * kLanes, left);
            input[v] = x * splat(args.step);
            sum[v] = x * splat(args.skip);
        }
        float* row = state + first;
        for (std::int64_t n = 0; n < args.stateSize; ++n, row += args.headDim) {
            const Floats b = splat(args.b[n]);
            const Floats c = splat(args.c[n]);
            for (int v = 0; v < kVectors; ++v) {
                const Floats h = multiplyAdd(b, input[v], loadUpTo(row + v * kLanes, left) * decay);
                storeUpTo(row + v * kLanes, h, left);
                sum[v] = multiplyAdd(c, h, sum[v]);
            }
        }
        for (int v = 0; v < kVectors; ++v) {
            storeUpTo(out + first + v * kLanes, sum[v], left);
        }
    });
}

QUERN_INLINE float inverseLength(const float* x, std::int64_t count, float eps) {
    const float squares = reduceColumns(
        x, count, [](Floats v, Floats sum) QUERN_LAMBDA { return multiplyAdd(v, v, sum); });
    return 1.0F / __builtin_sqrtf(squares + eps);
}

void delta(const DeltaArgs& args, float* state, float* out) {
    const float keyFactor = inverseLength(args.key, args.keyDim, args.eps);
    const float queryFactor = inverseLength(args.query, args.keyDim, args.eps) * args.scale;
    const Floats decay = splat(args.decay);
    forColumnTiles(
        args.valueDim, [&](std::int64_t first, auto vectors, std::int64_t left) QUERN_LAMBDA {
            constexpr int kVectors = vectors.value;
            Floats known[kVectors];  // what the state holds under the key
            for (int v = 0; v < kVectors; ++v) {
                known[v] = splat(0.0F);
            }
            const float* row = state + first;
            for (std::int64_t k = 0; k < args.keyDim; ++k, row += args.valueDim) {
                const Floats key = splat(args.key[k] * keyFactor);
                for (int v = 0; v < kVectors; ++v) {
                    known[v] = multiplyAdd(key, loadUpTo(row + v * kLanes, left), known[v]);
                }
            }
            Floats change[kVectors];
            Floats sum[kVectors];
            for (int v = 0; v < kVectors; ++v) {
                const Floats value = loadUpTo(args.value + first + v * kLanes, left);
                change[v] = (value - known[v] * decay) * splat(args.beta);
                sum[v] = splat(0.0F);
            }
            float* to = state + first;
            for (std::int64_t k = 0; k < args.keyDim; ++k, to += args.valueDim) {
                const Floats key = splat(args.key[k] * keyFactor);
                const Floats query = splat(args.query[k] * queryFactor);
                for (int v = 0; v < kVectors; ++v) {
                    const Floats s =
                        multiplyAdd(key, change[v], loadUpTo(to + v * kLanes, left) * decay);
                    storeUpTo(to + v * kLanes, s, left);
                    sum[v] = multiplyAdd(query, s, sum[v]);
                }
            }
            for (int v = 0; v < kVectors; ++v) {
                storeUpTo(out + first + v * kLanes, sum[v], left);
            }
        });
}
