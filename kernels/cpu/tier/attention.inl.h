// Attention over one span of paged keys, and its merging. Each row (token, head) sums over columns
// and keys in ascending order whatever rows are computed beside it.

inline constexpr int kBlockVectors = kBlockTokens / kLanes;

void kvWrite(const KvWriteArgs& args, const float* key, const float* value) {
    if (args.isF16) {
        auto* keys = reinterpret_cast<std::uint16_t*>(args.keyBlock) + args.slot;
        for (std::int64_t d = 0; d < args.keyDim; ++d) {
            keys[d * kBlockTokens] = toHalf(key[d]);
        }
        auto* values =
            reinterpret_cast<std::uint16_t*>(args.valueBlock) + args.slot * args.paddedValueDim;
        std::int64_t d = 0;
        for (; d + kLanes <= args.valueDim; d += kLanes) {
            storeHalf(values + d, load(value + d));
        }
        for (; d < args.valueDim; ++d) {
            values[d] = toHalf(value[d]);
        }
    } else {
        auto* keys = reinterpret_cast<float*>(args.keyBlock) + args.slot;
        for (std::int64_t d = 0; d < args.keyDim; ++d) {
            keys[d * kBlockTokens] = key[d];
        }
        auto* values = reinterpret_cast<float*>(args.valueBlock) + args.slot * args.paddedValueDim;
        for (std::int64_t d = 0; d < args.valueDim; ++d) {
            values[d] = value[d];
        }
    }
}

// Elements of a block, and of the one that comes two blocks later: heads of one layer lie in pieces
// of a few KiB, too short for the hardware to guess where the next one is.
struct FloatLoader {
    const float* data;
    const float* later;
    QUERN_INLINE Floats at(std::int64_t i) const { return load(data + i); }
    QUERN_INLINE void prefetch(std::int64_t i) const { __builtin_prefetch(later + i); }
};

struct HalfLoader {
    const std::uint16_t* data;
    const std::uint16_t* later;
    QUERN_INLINE Floats at(std::int64_t i) const { return loadHalf(data + i); }
    QUERN_INLINE void prefetch(std::int64_t i) const { __builtin_prefetch(later + i); }
};

// Of a block that was widened into scratch.
struct ScratchLoader {
    const float* data;
    QUERN_INLINE Floats at(std::int64_t i) const { return load(data + i); }
    QUERN_INLINE void prefetch(std::int64_t /*i*/) const {}
};

// Rows of a register tile: with two vectors of columns each, as many sums as keep two multipliers
// of four cycles busy, and no more than sixteen registers hold.
inline constexpr int kTile = 6;

// Calls function with a constant of `count` in [1, kTile].
template <class Function>
QUERN_INLINE void withRows(std::int64_t count, Function function) {
    switch (count) {
        case 1:
            return function(std::integral_constant<int, 1>{});
        case 2:
            return function(std::integral_constant<int, 2>{});
        case 3:
            return function(std::integral_constant<int, 3>{});
        case 4:
            return function(std::integral_constant<int, 4>{});
        case 5:
            return function(std::integral_constant<int, 5>{});
        default:
            return function(std::integral_constant<int, kTile>{});
    }
}

// kRows rows × 16 keys: scores[r, 0..15] = query[r] · keys · scale.
template <int kRows, class Loader>
QUERN_INLINE void scoreBlock(const float* const* query, std::int64_t keyDim, Loader keys,
                             float scaleBy, float* scores) {
    Floats acc[kRows][kBlockVectors];
    for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kBlockVectors; ++v) {
            acc[r][v] = splat(0.0F);
        }
    }
    for (std::int64_t d = 0; d < keyDim; ++d) {
        keys.prefetch(d * kBlockTokens);
        Floats k[kBlockVectors];
        for (int v = 0; v < kBlockVectors; ++v) {
            k[v] = keys.at(d * kBlockTokens + v * kLanes);
        }
        for (int r = 0; r < kRows; ++r) {
            const Floats q = splat(query[r][d]);
            for (int v = 0; v < kBlockVectors; ++v) {
                acc[r][v] = multiplyAdd(q, k[v], acc[r][v]);
            }
        }
    }
    for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kBlockVectors; ++v) {
            store(scores + r * kSpanTokens + v * kLanes, acc[r][v] * splat(scaleBy));
        }
    }
}

QUERN_INLINE const float* queryRow(const SpanArgs& args, std::int64_t row) {
    return args.query + row / args.heads * args.queryStride + row % args.heads * args.keyDim;
}

template <class Loader>
QUERN_INLINE void scoreRows(const SpanArgs& args, Loader keys, float* scores) {
    const std::int64_t rows = args.tokens * args.heads;
    for (std::int64_t row = 0; row < rows; row += kTile) {
        const float* query[kTile];
        const std::int64_t count = rows - row < kTile ? rows - row : kTile;
        for (std::int64_t r = 0; r < count; ++r) {
            query[r] = queryRow(args, row + r);
        }
        withRows(count, [&](auto constant) QUERN_LAMBDA {
            scoreBlock<constant.value>(query, args.keyDim, keys, args.scale,
                                       scores + row * kSpanTokens);
        });
    }
}

// Turns a row's scores into weights e^(score − max) and gives max and their sum.
QUERN_INLINE void softmaxRow(const SpanArgs& args, std::int64_t begin, std::int64_t end,
                             float* scores, float* maxOut, float* sumOut) {
    const Floats cap = splat(args.softcap);
    const Floats masked = splat(-__builtin_inff());
    const std::int64_t first = begin / kLanes * kLanes;
    Floats best = masked;
    for (std::int64_t i = first; i < end; i += kLanes) {
        Floats s = load(scores + i);
        const bool isBorder = i < begin || i + kLanes > end;
        if (args.softcap > 0.0F) {
            s = cap * tanhOf(s / cap);
        }
        if (isBorder) {
            const Floats key = laneIndex() + splat(static_cast<float>(i));
            s = select(
                (key >= splat(static_cast<float>(begin))) & (key < splat(static_cast<float>(end))),
                s, masked);
        }
        if (isBorder || args.softcap > 0.0F) {
            store(scores + i, s);
        }
        best = maxOf(best, s);
    }
    const float max = maxLanes(best);
    const Floats m = splat(max);
    Floats sum = splat(0.0F);
    for (std::int64_t i = first; i < end; i += kLanes) {
        const Floats p = expOf(load(scores + i) - m);
        store(scores + i, p);
        sum += p;
    }
    *maxOut = max;
    *sumOut = sumLanes(sum);
}

// acc[r, columns] += weights[r, key] · values[key, columns] over keys [begin, end) of a block.
template <int kRows, int kVectors, class Loader>
QUERN_INLINE void addValues(const float* weights, std::int64_t begin, std::int64_t end,
                            Loader values, std::int64_t column, std::int64_t dim, float* acc) {
    Floats sum[kRows][kVectors];
    for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) {
            sum[r][v] = load(acc + r * dim + column + v * kLanes);
        }
    }
    for (std::int64_t key = begin; key < end; ++key) {
        values.prefetch(key * dim + column);
        Floats x[kVectors];
        for (int v = 0; v < kVectors; ++v) {
            x[v] = values.at(key * dim + column + v * kLanes);
        }
        for (int r = 0; r < kRows; ++r) {
            const Floats p = splat(weights[r * kSpanTokens + key]);
            for (int v = 0; v < kVectors; ++v) {
                sum[r][v] = multiplyAdd(p, x[v], sum[r][v]);
            }
        }
    }
    for (int r = 0; r < kRows; ++r) {
        for (int v = 0; v < kVectors; ++v) {
            store(acc + r * dim + column + v * kLanes, sum[r][v]);
        }
    }
}

template <int kRows, class Loader>
QUERN_INLINE void addValueBlock(const float* weights, std::int64_t begin, std::int64_t end,
                                Loader values, std::int64_t dim, float* acc) {
    constexpr int kVectors = 16 / kLanes;  // dim is a multiple of 16
    for (std::int64_t column = 0; column < dim; column += 16) {
        addValues<kRows, kVectors>(weights, begin, end, values, column, dim, acc);
    }
}

// All rows over one block whose keys start at `blockStart` in the span. Neighbours
// that see the same keys go together.
template <class Loader>
QUERN_INLINE void valueRows(const SpanArgs& args, std::int64_t blockStart, Loader values) {
    const std::int64_t rows = args.tokens * args.heads;
    const std::int64_t dim = args.paddedValueDim;
    const auto bounds = [&](std::int64_t row, std::int64_t& begin, std::int64_t& end) {
        const std::int64_t token = row / args.heads;
        begin = args.begin[token] > blockStart ? args.begin[token] - blockStart : 0;
        end = args.end[token] - blockStart < kBlockTokens ? args.end[token] - blockStart
                                                          : kBlockTokens;
    };
    for (std::int64_t row = 0; row < rows;) {
        std::int64_t begin = 0;
        std::int64_t end = 0;
        bounds(row, begin, end);
        std::int64_t count = 1;
        for (; count < kTile && row + count < rows; ++count) {
            std::int64_t otherBegin = 0;
            std::int64_t otherEnd = 0;
            bounds(row + count, otherBegin, otherEnd);
            if (otherBegin != begin || otherEnd != end) {
                break;
            }
        }
        if (begin < end) {
            withRows(count, [&](auto constant) QUERN_LAMBDA {
                addValueBlock<constant.value>(args.scores + row * kSpanTokens + blockStart, begin,
                                              end, values, dim, args.acc + row * dim);
            });
        }
        row += count;
    }
}

QUERN_INLINE const std::uint16_t* halves(const std::byte* block) {
    return reinterpret_cast<const std::uint16_t*>(block);
}

QUERN_INLINE const float* floats(const std::byte* block) {
    return reinterpret_cast<const float*>(block);
}

QUERN_INLINE void widen(const std::byte* from, std::int64_t count, float* to) {
    for (std::int64_t i = 0; i < count; i += kLanes) {
        store(to + i, loadHalf(halves(from) + i));
    }
}

// Values that are the end of their keys, by token into scratch [16, paddedValueDim].
QUERN_INLINE void turnKeys(const SpanArgs& args, const std::byte* keys) {
    for (std::int64_t d = 0; d < args.paddedValueDim; ++d) {
        const std::int64_t at = (args.keyDim - args.valueDim + d) * kBlockTokens;
        for (int v = 0; v < kBlockTokens; v += kLanes) {
            Floats x = splat(0.0F);
            if (d < args.valueDim) {
                x = args.isF16 ? loadHalf(halves(keys) + at + v) : load(floats(keys) + at + v);
            }
            for (int i = 0; i < kLanes; ++i) {
                args.convert[(v + i) * args.paddedValueDim + d] = x[i];
            }
        }
    }
}

void attendSpan(const SpanArgs& args) {
    const std::int64_t rows = args.tokens * args.heads;
    std::int64_t begin = kSpanTokens;
    std::int64_t end = 0;
    for (std::int64_t t = 0; t < args.tokens; ++t) {
        if (args.begin[t] < args.end[t]) {
            begin = args.begin[t] < begin ? args.begin[t] : begin;
            end = args.end[t] > end ? args.end[t] : end;
        }
    }
    // Widening a block once pays when several register tiles read it.
    const bool isWidened = args.isF16 && rows > kTile;
    const std::int64_t firstBlock = begin / kBlockTokens;
    const std::int64_t lastBlock = (end + kBlockTokens - 1) / kBlockTokens;
    const auto laterBlock = [&](std::int64_t block) {
        const std::int64_t later = block + 2;
        if (later < lastBlock) {
            return args.keyBlocks[later];
        }
        const std::int64_t value = firstBlock + later - lastBlock;
        return args.valueBlocks[value < lastBlock ? value : firstBlock];
    };
    for (std::int64_t block = firstBlock; block < lastBlock; ++block) {
        const std::byte* keys = args.keyBlocks[block];
        float* scores = args.scores + block * kBlockTokens;
        if (isWidened) {
            widen(keys, args.keyDim * kBlockTokens, args.convert);
            scoreRows(args, ScratchLoader{args.convert}, scores);
        } else if (args.isF16) {
            scoreRows(args, HalfLoader{halves(keys), halves(laterBlock(block))}, scores);
        } else {
            scoreRows(args, FloatLoader{floats(keys), floats(laterBlock(block))}, scores);
        }
    }
    for (std::int64_t row = 0; row < rows; ++row) {
        const std::int64_t token = row / args.heads;
        if (args.begin[token] < args.end[token]) {
            softmaxRow(args, args.begin[token], args.end[token], args.scores + row * kSpanTokens,
                       args.max + row, args.sum + row);
            float* acc = args.acc + row * args.paddedValueDim;
            for (std::int64_t d = 0; d < args.paddedValueDim; d += kLanes) {
                store(acc + d, splat(0.0F));
            }
        }
    }
    for (std::int64_t block = firstBlock; block < lastBlock; ++block) {
        const std::byte* values = args.valueBlocks[block];
        const std::int64_t blockStart = block * kBlockTokens;
        const std::byte* later = args.valueBlocks[block + 2 < lastBlock ? block + 2 : block];
        if (args.isValueInKey) {
            turnKeys(args, args.keyBlocks[block]);
            valueRows(args, blockStart, ScratchLoader{args.convert});
        } else if (isWidened) {
            widen(values, args.paddedValueDim * kBlockTokens, args.convert);
            valueRows(args, blockStart, ScratchLoader{args.convert});
        } else if (args.isF16) {
            valueRows(args, blockStart, HalfLoader{halves(values), halves(later)});
        } else {
            valueRows(args, blockStart, FloatLoader{floats(values), floats(later)});
        }
    }
}

QUERN_INLINE float expOfOne(float x) {
    return expOf(splat(x))[0];
}

void mergeSpan(float spanMax, float spanSum, const float* spanAcc, float* max, float* sum,
               float* acc, std::int64_t dim) {
    const float best = spanMax > *max ? spanMax : *max;
    const float keep = expOfOne(*max - best);
    const float take = expOfOne(spanMax - best);
    *max = best;
    *sum = *sum * keep + spanSum * take;
    const Floats k = splat(keep);
    const Floats t = splat(take);
    mapColumns2(acc, spanAcc, acc, dim,
                [k, t](Floats a, Floats s) QUERN_LAMBDA { return multiplyAdd(s, t, a * k); });
}

void mergeSink(float sink, float* max, float* sum, float* acc, std::int64_t dim) {
    const float best = sink > *max ? sink : *max;
    const float keep = expOfOne(*max - best);
    *max = best;
    *sum = *sum * keep + expOfOne(sink - best);
    scale(acc, keep, acc, dim);
}
