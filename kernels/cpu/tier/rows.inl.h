// Row-wise ops. Tails go through the same vector code as full vectors, so that a column's result
// doesn't depend on where a caller's range ends.

template <class Function>
QUERN_INLINE void mapColumns(const float* in, float* out, std::int64_t count, Function function) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        store(out + i, function(load(in + i)));
    }
    if (i < count) {
        storePart(out + i, function(loadPart(in + i, count - i)), count - i);
    }
}

template <class Function>
QUERN_INLINE void mapColumns2(const float* a, const float* b, float* out, std::int64_t count,
                              Function function) {
    std::int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
        store(out + i, function(load(a + i), load(b + i)));
    }
    if (i < count) {
        storePart(out + i, function(loadPart(a + i, count - i), loadPart(b + i, count - i)),
                  count - i);
    }
}

void add(const float* a, const float* b, float* out, std::int64_t count) {
    mapColumns2(a, b, out, count, [](Floats x, Floats y) QUERN_LAMBDA { return x + y; });
}

void scale(const float* in, float factor, float* out, std::int64_t count) {
    const Floats f = splat(factor);
    mapColumns(in, out, count, [f](Floats x) QUERN_LAMBDA { return x * f; });
}

void softcap(const float* in, float cap, float* out, std::int64_t count) {
    const Floats c = splat(cap);
    mapColumns(in, out, count, [c](Floats x) QUERN_LAMBDA { return c * tanhOf(x / c); });
}

template <Activation kKind>
void activateAs(const float* in, float* out, std::int64_t count) {
    mapColumns(in, out, count, [](Floats x) QUERN_LAMBDA { return activationOf(kKind, x); });
}

void activate(Activation kind, const float* in, float* out, std::int64_t count) {
    switch (kind) {
        case Activation::kSilu:
            return activateAs<Activation::kSilu>(in, out, count);
        case Activation::kGelu:
            return activateAs<Activation::kGelu>(in, out, count);
        case Activation::kGeluTanh:
            return activateAs<Activation::kGeluTanh>(in, out, count);
        case Activation::kRelu:
            return activateAs<Activation::kRelu>(in, out, count);
        case Activation::kRelu2:
            return activateAs<Activation::kRelu2>(in, out, count);
        case Activation::kSigmoid:
            return activateAs<Activation::kSigmoid>(in, out, count);
        case Activation::kIdentity:
            return activateAs<Activation::kIdentity>(in, out, count);
        case Activation::kTanh:
            return activateAs<Activation::kTanh>(in, out, count);
    }
}

template <Activation kKind>
void gluAs(const float* gate, const float* up, float* out, std::int64_t count) {
    mapColumns2(gate, up, out, count,
                [](Floats g, Floats u) QUERN_LAMBDA { return activationOf(kKind, g) * u; });
}

void glu(Activation kind, const float* gate, const float* up, float* out, std::int64_t count) {
    switch (kind) {
        case Activation::kSilu:
            return gluAs<Activation::kSilu>(gate, up, out, count);
        case Activation::kGelu:
            return gluAs<Activation::kGelu>(gate, up, out, count);
        case Activation::kGeluTanh:
            return gluAs<Activation::kGeluTanh>(gate, up, out, count);
        case Activation::kRelu:
            return gluAs<Activation::kRelu>(gate, up, out, count);
        case Activation::kRelu2:
            return gluAs<Activation::kRelu2>(gate, up, out, count);
        case Activation::kSigmoid:
            return gluAs<Activation::kSigmoid>(gate, up, out, count);
        case Activation::kIdentity:
            return gluAs<Activation::kIdentity>(gate, up, out, count);
        case Activation::kTanh:
            return gluAs<Activation::kTanh>(gate, up, out, count);
    }
}

// Four partial vectors, then pairs: the order depends on the count alone.
template <class Function>
QUERN_INLINE float reduceColumns(const float* in, std::int64_t count, Function term) {
    Floats sums[4] = {splat(0.0F), splat(0.0F), splat(0.0F), splat(0.0F)};
    std::int64_t i = 0;
    for (; i + 4 * kLanes <= count; i += 4 * kLanes) {
        for (int k = 0; k < 4; ++k) {
            sums[k] = term(load(in + i + k * kLanes), sums[k]);
        }
    }
    for (; i + kLanes <= count; i += kLanes) {
        sums[0] = term(load(in + i), sums[0]);
    }
    float total = sumLanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
    // One by one: a padded vector would bring in terms of its zeros.
    for (; i < count; ++i) {
        total = term(splat(in[i]), splat(total))[0];
    }
    return total;
}

void norm(const NormArgs& args, const float* in, float* out) {
    const std::int64_t cols = args.groupCols;
    for (std::int64_t g = 0; g < args.groups; ++g, in += cols, out += cols) {
        const float* weight = args.weight == nullptr ? nullptr : args.weight + g * args.weightStep;
        const float* bias = args.bias == nullptr ? nullptr : args.bias + g * args.biasStep;
        float mean = 0.0F;
        if (args.kind == NormKind::kLayer) {
            mean =
                reduceColumns(in, cols, [](Floats x, Floats sum) QUERN_LAMBDA { return sum + x; }) /
                static_cast<float>(cols);
        }
        const Floats m = splat(mean);
        const float squares = reduceColumns(in, cols, [m](Floats x, Floats sum) QUERN_LAMBDA {
            const Floats d = x - m;
            return multiplyAdd(d, d, sum);
        });
        const float inverse = 1.0F / __builtin_sqrtf(squares / static_cast<float>(cols) + args.eps);
        const Floats s = splat(inverse);
        if (weight == nullptr) {
            mapColumns(in, out, cols, [m, s](Floats x) QUERN_LAMBDA { return (x - m) * s; });
        } else {
            mapColumns2(in, weight, out, cols,
                        [m, s](Floats x, Floats w) QUERN_LAMBDA { return ((x - m) * s) * w; });
        }
        if (bias != nullptr) {
            add(out, bias, out, cols);
        }
    }
}

void rope(const RopeArgs& args, const float* in, float* out) {
    const std::int64_t half = args.half;
    for (std::int64_t h = 0; h < args.heads; ++h, in += args.headDim, out += args.headDim) {
        std::int64_t i = 0;
        if (args.layout == RopeLayout::kHalves) {
            for (; i + kLanes <= half; i += kLanes) {
                const Floats x = load(in + i);
                const Floats y = load(in + i + half);
                const Floats c = load(args.cos + i);
                const Floats s = load(args.sin + i);
                store(out + i, x * c - y * s);
                store(out + i + half, y * c + x * s);
            }
            for (; i < half; ++i) {
                const float x = in[i];
                const float y = in[i + half];
                out[i] = x * args.cos[i] - y * args.sin[i];
                out[i + half] = y * args.cos[i] + x * args.sin[i];
            }
        } else {
            for (; i < half; ++i) {
                const float x = in[2 * i];
                const float y = in[2 * i + 1];
                out[2 * i] = x * args.cos[i] - y * args.sin[i];
                out[2 * i + 1] = y * args.cos[i] + x * args.sin[i];
            }
        }
        if (out != in) {
            for (i = 2 * half; i < args.headDim; ++i) {
                out[i] = in[i];
            }
        }
    }
}
