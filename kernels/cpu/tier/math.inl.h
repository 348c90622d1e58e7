// Loads, reductions and elementary functions on a tier's vectors.

QUERN_INLINE Floats load(const float* p) {
    return *reinterpret_cast<const UnalignedFloats*>(p);
}

QUERN_INLINE void store(float* p, Floats x) {
    *reinterpret_cast<UnalignedFloats*>(p) = x;
}

// The first `count` < kLanes elements; the others are zero.
QUERN_INLINE Floats loadPart(const float* p, std::int64_t count) {
    Floats x = splat(0.0F);
    __builtin_memcpy(&x, p, static_cast<std::size_t>(count) * sizeof(float));
    return x;
}

QUERN_INLINE void storePart(float* p, Floats x, std::int64_t count) {
    __builtin_memcpy(p, &x, static_cast<std::size_t>(count) * sizeof(float));
}

QUERN_INLINE Floats select(Ints mask, Floats yes, Floats no) {
    return reinterpret_cast<Floats>((reinterpret_cast<Ints>(yes) & mask) |
                                    (reinterpret_cast<Ints>(no) & ~mask));
}

// Pairs of halves, always in the same order.
QUERN_INLINE float sumLanes(Floats x) {
    float lane[kLanes];
    __builtin_memcpy(lane, &x, sizeof(lane));
    for (int width = kLanes / 2; width > 0; width /= 2) {
        for (int i = 0; i < width; ++i) {
            lane[i] += lane[i + width];
        }
    }
    return lane[0];
}

QUERN_INLINE float maxLanes(Floats x) {
    float best = x[0];
    for (int i = 1; i < kLanes; ++i) {
        best = x[i] > best ? x[i] : best;
    }
    return best;
}

// e^x within 2 ulp for x in [−87.3, 88.3]; outside, the value at that border, which is as good as 0
// or infinity to all its users. x = n·ln 2 + r, |r| ≤ ln 2 / 2, Chebyshev fit of (e^r − 1 − r) /
// r². NaN stays NaN.
QUERN_INLINE Floats expOf(Floats x) {
    constexpr float kRound = 12582912.0F;  // 1.5 · 2^23: adding it rounds to an integer
    x = maxOf(splat(-87.3F), minOf(splat(88.3F), x));
    const Floats n = multiplyAdd(x, splat(1.44269504F), splat(kRound)) - splat(kRound);
    Floats r = multiplyAdd(n, splat(-0.693359375F), x);
    r = multiplyAdd(n, splat(2.12194440e-4F), r);
    Floats p = splat(1.39269266e-3F);
    p = multiplyAdd(p, r, splat(8.36377387e-3F));
    p = multiplyAdd(p, r, splat(4.16665503e-2F));
    p = multiplyAdd(p, r, splat(1.66665734e-1F));
    p = multiplyAdd(p, r, splat(0.5F));
    p = multiplyAdd(p * r, r, r) + splat(1.0F);
    const Ints power = (__builtin_convertvector(n, Ints) + splatInt(127)) << 23;
    return p * reinterpret_cast<Floats>(power);
}

// Within 3 ulp: an odd polynomial near 0, where the formula with e^2x would cancel.
QUERN_INLINE Floats tanhOf(Floats x) {
    const Floats square = x * x;
    Floats p = splat(-6.09671417e-3F);
    p = multiplyAdd(p, square, splat(2.09971790e-2F));
    p = multiplyAdd(p, square, splat(-5.38509096e-2F));
    p = multiplyAdd(p, square, splat(1.33327698e-1F));
    p = multiplyAdd(p, square, splat(-3.33333289e-1F));
    const Floats nearZero = multiplyAdd(p * square, x, x);
    const Floats far = splat(1.0F) - splat(2.0F) / (expOf(x + x) + splat(1.0F));
    return select(square < splat(0.625F * 0.625F), nearZero, far);
}

QUERN_INLINE Floats siluOf(Floats x) {
    return x / (splat(1.0F) + expOf(-x));
}

// Hendrycks and Gimpel 2016, the approximation with tanh.
QUERN_INLINE Floats geluTanhOf(Floats x) {
    const Floats inner = splat(0.797884561F) * multiplyAdd(splat(0.044715F) * x * x, x, x);
    return splat(0.5F) * x * (splat(1.0F) + tanhOf(inner));
}

QUERN_INLINE Floats geluOf(Floats x) {
    Floats result = x;
    for (int i = 0; i < kLanes; ++i) {
        result[i] = 0.5F * x[i] * (1.0F + __builtin_erff(x[i] * 0.707106781F));
    }
    return result;
}

QUERN_INLINE Floats activationOf(Activation kind, Floats x) {
    switch (kind) {
        case Activation::kSilu:
            return siluOf(x);
        case Activation::kGelu:
            return geluOf(x);
        case Activation::kGeluTanh:
            return geluTanhOf(x);
        case Activation::kRelu:
            return maxOf(splat(0.0F), x);
        case Activation::kRelu2: {
            const Floats positive = maxOf(splat(0.0F), x);
            return positive * positive;
        }
        case Activation::kSigmoid:
            return splat(1.0F) / (splat(1.0F) + expOf(-x));
        case Activation::kIdentity:
            return x;
        case Activation::kTanh:
            return tanhOf(x);
    }
    return x;
}
