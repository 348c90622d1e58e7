// The tier's table, after all its functions.

const TierKernels& kernels() {
    static constexpr TierKernels kTable{
        .norm = norm,
        .add = add,
        .scale = scale,
        .activate = activate,
        .glu = glu,
        .softcap = softcap,
        .clampedGlu = clampedGlu,
        .softmax = softmax,
        .sigmoid = sigmoid,
        .addScaled = addScaled,
        .rope = rope,
        .kvWrite = kvWrite,
        .attendSpan = attendSpan,
        .mergeSpan = mergeSpan,
        .mergeSink = mergeSink,
        .conv = conv,
        .ssd = ssd,
        .delta = delta,
    };
    return kTable;
}
