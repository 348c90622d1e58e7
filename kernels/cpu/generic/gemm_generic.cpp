#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "kernels/cpu/gemm_tiers.h"
#include "kernels/quant.h"
#include "kernels/quant/int_block.h"

// The portable tier: keeps the file's blocks as they are and decodes them in small pieces. Slow,
// and what the other tiers are checked against.

namespace quern::kernels::cpu::generic {

namespace {

constexpr std::int64_t kRowTile = 16;
constexpr std::size_t kLanes = 8;
constexpr std::size_t kChunk = 256;  // elements decoded at once; whole blocks of every format

struct Matrix {
    DType type;
    std::int64_t outputs;
    std::int64_t inputs;
    std::int64_t rowBytes;
    std::span<const std::byte> data;
};

void multiplyRowQ8(const Matrix& weight, std::int64_t output, const Q8Rows& in, std::int64_t first,
                   std::int64_t count, float* out, std::int64_t stride) {
    const DTypeTraits& t = traits(weight.type);
    const BlockDecoder decoder = blockDecoder(weight.type);
    const IntBlockShape shape = intBlockShape(weight.type);
    const std::int64_t blocks = weight.inputs / 32;
    const std::byte* from = weight.data.data() + output * weight.rowBytes;
    std::array<float, kRowTile> sums{};
    std::array<IntBlock, 8> parts;
    for (std::int64_t block = 0; block < blocks;) {
        decoder(from, parts.data());
        from += t.blockBytes;
        for (std::int64_t part = 0; part < t.blockElements / 32; ++part, ++block) {
            const IntBlock& w = parts[static_cast<std::size_t>(part)];
            for (std::int64_t r = 0; r < count; ++r) {
                const Q8Block& a = in.blocks[(first + r) * blocks + block];
                std::array<std::int32_t, 2> dots{};
                for (std::size_t i = 0; i < 16; ++i) {
                    dots[0] += w.q[i] * a.values[i];
                    dots[1] += w.q[i + 16] * a.values[i + 16];
                }
                float& sum = sums[static_cast<std::size_t>(r)];
                if (!shape.isSplit) {
                    sum =
                        std::fma(static_cast<float>(dots[0] + dots[1]), w.scale[0] * a.scale, sum);
                    if (shape.hasMin) {
                        sum = std::fma(w.min[0], a.scaledSum, sum);
                    }
                    continue;
                }
                for (std::size_t half = 0; half < 2; ++half) {
                    sum = std::fma(static_cast<float>(dots[half]), w.scale[half] * a.scale, sum);
                    if (shape.hasMin) {
                        sum = std::fma(w.min[half], static_cast<float>(a.halfSums[half]) * a.scale,
                                       sum);
                    }
                }
            }
        }
    }
    for (std::int64_t r = 0; r < count; ++r) {
        out[(first + r) * stride + output] = sums[static_cast<std::size_t>(r)];
    }
}

/// Elements [start, start + count) of a weight row as floats; start is a multiple of kChunk.
void decodeChunk(const Matrix& weight, std::int64_t output, std::int64_t start, std::size_t count,
                 float* out) {
    const DTypeTraits& t = traits(weight.type);
    const std::byte* from =
        weight.data.data() + output * weight.rowBytes + start / t.blockElements * t.blockBytes;
    const auto bytes =
        static_cast<std::size_t>(static_cast<std::int64_t>(count) / t.blockElements * t.blockBytes);
    // Cannot fail: pack() accepted the type and the width.
    (void)dequantize(weight.type, std::span(from, bytes), std::span(out, count));
}

void multiplyRowF32(const Matrix& weight, std::int64_t output, const float* in, std::int64_t count,
                    std::int64_t inStride, float* out, std::int64_t stride) {
    std::array<std::array<float, kLanes>, kRowTile> sums{};
    std::array<float, kChunk> w;
    for (std::int64_t start = 0; start < weight.inputs;
         start += static_cast<std::int64_t>(kChunk)) {
        const auto size = static_cast<std::size_t>(
            std::min<std::int64_t>(static_cast<std::int64_t>(kChunk), weight.inputs - start));
        decodeChunk(weight, output, start, size, w.data());
        for (std::int64_t r = 0; r < count; ++r) {
            const float* a = in + r * inStride + start;
            auto& lanes = sums[static_cast<std::size_t>(r)];
            std::size_t k = 0;
            for (; k + kLanes <= size; k += kLanes) {
                for (std::size_t lane = 0; lane < kLanes; ++lane) {
                    lanes[lane] += w[k + lane] * a[k + lane];
                }
            }
            for (; k < size; ++k) {
                lanes[k % kLanes] += w[k] * a[k];
            }
        }
    }
    for (std::int64_t r = 0; r < count; ++r) {
        const auto& l = sums[static_cast<std::size_t>(r)];
        out[r * stride + output] =
            ((l[0] + l[1]) + (l[2] + l[3])) + ((l[4] + l[5]) + (l[6] + l[7]));
    }
}

class GenericWeight final : public PackedWeight {
public:
    GenericWeight(Matrix matrix, bool takesQ8) : m_matrix(matrix), m_takesQ8(takesQ8) {}

    std::int64_t outputs() const override { return m_matrix.outputs; }
    std::int64_t inputs() const override { return m_matrix.inputs; }
    std::int64_t bytes() const override { return static_cast<std::int64_t>(m_matrix.data.size()); }
    bool takesQ8() const override { return m_takesQ8; }
    std::int64_t panelOutputs() const override { return 1; }

    void multiply(const Q8Rows& in, std::int64_t begin, std::int64_t end, float* out,
                  std::int64_t stride) const override {
        for (std::int64_t first = 0; first < in.rows; first += kRowTile) {
            const std::int64_t count = std::min(kRowTile, in.rows - first);
            for (std::int64_t output = begin; output < end; ++output) {
                multiplyRowQ8(m_matrix, output, in, first, count, out, stride);
            }
        }
    }

    void multiplyF32(const float* in, std::int64_t rows, std::int64_t inStride, std::int64_t begin,
                     std::int64_t end, float* out, std::int64_t stride) const override {
        for (std::int64_t first = 0; first < rows; first += kRowTile) {
            const std::int64_t count = std::min(kRowTile, rows - first);
            for (std::int64_t output = begin; output < end; ++output) {
                multiplyRowF32(m_matrix, output, in + first * inStride, count, inStride,
                               out + first * stride, stride);
            }
        }
    }

    void unpackRow(std::int64_t output, float* out) const override {
        // Cannot fail: pack() accepted the type and the width.
        (void)dequantize(m_matrix.type,
                         m_matrix.data.subspan(static_cast<std::size_t>(output * m_matrix.rowBytes),
                                               static_cast<std::size_t>(m_matrix.rowBytes)),
                         std::span(out, static_cast<std::size_t>(m_matrix.inputs)));
    }

private:
    Matrix m_matrix;
    bool m_takesQ8;
};

Result<std::unique_ptr<PackedWeight>> pack(const TensorView& weight, ActivationType activations,
                                           WeightMemory& memory, const RowsPacked& told) {
    auto rowSize = checkedRowBytes(weight);
    if (!rowSize) {
        return forward(rowSize);
    }
    const DTypeTraits& t = traits(weight.type);
    std::array<float, kChunk> probe;
    const auto probed =
        dequantize(weight.type, std::span(weight.data, static_cast<std::size_t>(t.blockBytes)),
                   std::span(probe).first(static_cast<std::size_t>(t.blockElements)));
    if (!probed) {
        return tl::unexpected<Error>(probed.error());
    }
    const std::int64_t bytes = *rowSize * weight.shape.rows();
    auto data = memory.allocate(bytes);
    if (!data) {
        return forward(data);
    }
    const std::int64_t slice = std::max<std::int64_t>(1, kPackSlice / *rowSize);
    for (std::int64_t row = 0; row < weight.shape.rows(); row += slice) {
        if (told && row > 0 && !told(row)) {
            return fail(ErrorCode::kCancelled, "packing was cancelled");
        }
        const std::int64_t rows = std::min(slice, weight.shape.rows() - row);
        std::memcpy(data->data() + row * *rowSize, weight.data + row * *rowSize,
                    static_cast<std::size_t>(rows * *rowSize));
    }
    const bool takesQ8 =
        t.isQuantized && activations == ActivationType::kQ8 && weight.shape.cols() % 32 == 0;
    return std::make_unique<GenericWeight>(Matrix{.type = weight.type,
                                                  .outputs = weight.shape.rows(),
                                                  .inputs = weight.shape.cols(),
                                                  .rowBytes = *rowSize,
                                                  .data = *data},
                                           takesQ8);
}

void quantizeRow(const float* in, const Q8Rows& to, std::int64_t row) {
    const std::int64_t blocks = to.cols / 32;
    for (std::int64_t b = 0; b < blocks; ++b) {
        const float* x = in + b * 32;
        Q8Block& block = to.blocks[row * blocks + b];
        float largest = 0.0F;
        bool isFinite = true;
        for (std::int64_t i = 0; i < 32; ++i) {
            isFinite = isFinite && std::isfinite(x[i]);
            largest = std::max(largest, std::abs(x[i]));
        }
        if (!isFinite || largest < 0x1p-100F) {
            const float scale = isFinite ? 0.0F : std::numeric_limits<float>::quiet_NaN();
            block = {.scale = scale, .scaledSum = scale, .halfSums = {}, .values = {}};
            continue;
        }
        const float inverse = 127.0F / largest;
        std::array<int, 2> sums{};
        for (std::size_t i = 0; i < 32; ++i) {
            const float rounded = std::nearbyint(x[i] * inverse);
            const int q = static_cast<int>(std::clamp(rounded, -127.0F, 127.0F));
            block.values[i] = static_cast<std::int8_t>(q);
            sums[i / 16] += q;
        }
        block.scale = largest / 127.0F;
        block.scaledSum = block.scale * static_cast<float>(sums[0] + sums[1]);
        block.halfSums = {static_cast<std::int16_t>(sums[0]), static_cast<std::int16_t>(sums[1])};
    }
}

}  // namespace

const GemmKernels& gemmTable() {
    static constexpr GemmKernels kTable{.pack = pack, .quantizeRow = quantizeRow};
    return kTable;
}

}  // namespace quern::kernels::cpu::generic
