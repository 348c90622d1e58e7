// Scores of routers, gpt-oss's gated unit, and sums of what the chosen experts give.

void softmax(const float* in, float* out, std::int64_t count) {
    float best = in[0];
    for (std::int64_t i = 1; i < count; ++i) {
        best = in[i] > best ? in[i] : best;
    }
    const Floats most = splat(best);
    mapColumns(in, out, count, [most](Floats x) QUERN_LAMBDA { return expOf(x - most); });
    const float sum =
        reduceColumns(out, count, [](Floats x, Floats total) QUERN_LAMBDA { return total + x; });
    const Floats all = splat(sum);
    mapColumns(out, out, count, [all](Floats x) QUERN_LAMBDA { return x / all; });
}

void sigmoid(const float* in, float* out, std::int64_t count) {
    mapColumns(in, out, count,
               [](Floats x) QUERN_LAMBDA { return splat(1.0F) / (splat(1.0F) + expOf(-x)); });
}

void addScaled(const float* in, float factor, float* out, std::int64_t count) {
    const Floats f = splat(factor);
    mapColumns2(in, out, out, count,
                [f](Floats x, Floats sum) QUERN_LAMBDA { return multiplyAdd(x, f, sum); });
}

void clampedGlu(float alpha, float limit, const float* gate, const float* up, float* out,
                std::int64_t count) {
    const Floats a = splat(alpha);
    const Floats most = splat(limit);
    const Floats least = splat(-limit);
    mapColumns2(gate, up, out, count, [a, most, least](Floats g, Floats u) QUERN_LAMBDA {
        g = minOf(most, g);
        u = maxOf(least, minOf(most, u));
        return g / (splat(1.0F) + expOf(-(a * g))) * (u + splat(1.0F));
    });
}
