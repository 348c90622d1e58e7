// Vectors of the generic tier: 16 bytes, which every 64-bit processor has. The files *.inl.h have
// no include guard: a tier's translation unit includes each once, inside its own namespace.

inline constexpr int kLanes = 4;
typedef float Floats __attribute__((vector_size(16)));
typedef float UnalignedFloats __attribute__((vector_size(16), aligned(4), may_alias));
typedef std::int32_t Ints __attribute__((vector_size(16)));
typedef std::uint16_t Halves __attribute__((vector_size(8)));
typedef std::uint16_t UnalignedHalves __attribute__((vector_size(8), aligned(2), may_alias));

QUERN_INLINE Floats splat(float x) {
    return Floats{x, x, x, x};
}

QUERN_INLINE Ints splatInt(std::int32_t x) {
    return Ints{x, x, x, x};
}

// Two roundings: without the instruction, a true fused multiply-add is a library call.
QUERN_INLINE Floats multiplyAdd(Floats a, Floats b, Floats c) {
    return a * b + c;
}

// The larger; b where either is NaN.
QUERN_INLINE Floats maxOf(Floats a, Floats b) {
    return a > b ? a : b;
}

QUERN_INLINE Floats minOf(Floats a, Floats b) {
    return a < b ? a : b;
}

QUERN_INLINE Floats laneIndex() {
    return Floats{0.0F, 1.0F, 2.0F, 3.0F};
}

// The exponent is moved to float32's place, then corrected by a multiplication, which also
// normalizes denormals.
QUERN_INLINE Floats loadHalf(const std::uint16_t* p) {
    const Halves halves = *reinterpret_cast<const UnalignedHalves*>(p);
    const Ints bits = __builtin_convertvector(halves, Ints);
    const Ints magnitude = bits & splatInt(0x7fff);
    const Ints sign = (bits & splatInt(0x8000)) << 16;
    const Ints moved = magnitude << 13;
    const Floats scaled = reinterpret_cast<Floats>(moved) * splat(0x1p112F);
    const Ints isSpecial = magnitude >= splatInt(0x7c00);  // infinity, NaN
    const Ints special = moved | splatInt(0x7f800000);
    return reinterpret_cast<Floats>(
        ((special & isSpecial) | (reinterpret_cast<Ints>(scaled) & ~isSpecial)) | sign);
}

// Round to nearest, ties to even, as the hardware's conversion does.
QUERN_INLINE std::uint16_t toHalf(float x) {
    std::uint32_t bits = 0;
    __builtin_memcpy(&bits, &x, sizeof(bits));
    const std::uint32_t sign = (bits >> 16) & 0x8000U;
    const std::uint32_t magnitude = bits & 0x7fffffffU;
    std::uint32_t half = 0;
    if (magnitude > 0x7f800000U) {
        half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
    } else if (magnitude >= 0x477ff000U) {
        half = 0x7c00U;  // too large: infinity
    } else if (magnitude >= 0x38800000U) {
        const std::uint32_t rounded = magnitude + 0xfffU + ((magnitude >> 13) & 1U);
        half = (rounded - 0x38000000U) >> 13;
    } else if (magnitude >= 0x33000000U) {
        // Denormal: adding 0.5 leaves the rounded mantissa in the low bits.
        float shifted = 0.0F;
        __builtin_memcpy(&shifted, &magnitude, sizeof(shifted));
        shifted += 0.5F;
        std::uint32_t shiftedBits = 0;
        __builtin_memcpy(&shiftedBits, &shifted, sizeof(shiftedBits));
        half = shiftedBits - 0x3f000000U;
    }
    return static_cast<std::uint16_t>(half | sign);
}

QUERN_INLINE void storeHalf(std::uint16_t* p, Floats x) {
    for (int i = 0; i < kLanes; ++i) {
        p[i] = toHalf(x[i]);
    }
}
