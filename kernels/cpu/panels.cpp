#include "kernels/cpu/panels.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "kernels/cpu/gemm_tiers.h"
#include "kernels/cpu/panel_codes.h"
#include "kernels/quant.h"
#include "kernels/quant/half.h"
#include "kernels/weight_formats.h"

namespace quern::kernels::cpu {

namespace {

/// The format that holds a type exactly.
PanelFormat formatOf(DType type) {
    switch (type) {
        case DType::kQ4_0:
            return PanelFormat::kQ4_0;
        case DType::kQ4_1:
            return PanelFormat::kQ4_1;
        case DType::kQ4_K:
            return PanelFormat::kQ4_K;
        case DType::kQ5_0:
            return PanelFormat::kQ5_0;
        case DType::kQ5_1:
            return PanelFormat::kQ5_1;
        case DType::kQ5_K:
            return PanelFormat::kQ5_K;
        case DType::kQ6_K:
            return PanelFormat::kQ6_K;
        case DType::kQ8_0:
            return PanelFormat::kQ8_0;
        case DType::kMXFP4:
            return PanelFormat::kMXFP4;
        case DType::kF16:
        case DType::kF8E5M2:
            return PanelFormat::kF16;
        case DType::kBF16:
        case DType::kF8E4M3:
        case DType::kI8:
            return PanelFormat::kBF16;
        case DType::kF32:
        case DType::kI32:
            return PanelFormat::kF32;
        default:
            return intBlockShape(type).hasMin ? PanelFormat::kSplitMin8 : PanelFormat::kSplit8;
    }
}

bool isPlain(PanelFormat format) {
    return format >= PanelFormat::kF32;
}

std::int64_t roundUp64(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

class PanelWeight final : public PackedWeight {
public:
    PanelWeight(const PanelMatrix& matrix, std::int64_t bytes, PanelKernels kernels, bool takesQ8)
        : m_matrix(matrix), m_bytes(bytes), m_kernels(kernels), m_takesQ8(takesQ8) {}

    std::int64_t outputs() const override { return m_matrix.outputs; }
    std::int64_t inputs() const override { return m_matrix.inputs; }
    std::int64_t bytes() const override { return m_bytes; }
    bool takesQ8() const override { return m_takesQ8; }
    std::int64_t panelOutputs() const override { return kPanelOutputs; }

    void multiply(const Q8Rows& in, std::int64_t begin, std::int64_t end, float* out,
                  std::int64_t stride) const override {
        m_kernels.multiplyQ8(m_matrix, in, begin, end, out, stride);
    }

    void multiplyF32(const float* in, std::int64_t rows, std::int64_t inStride, std::int64_t begin,
                     std::int64_t end, float* out, std::int64_t stride) const override {
        m_kernels.multiplyF32(m_matrix, in, rows, inStride, begin, end, out, stride);
    }

    void unpackRow(std::int64_t output, float* out) const override {
        const std::byte* panel = m_matrix.panel(output / kPanelOutputs);
        const auto lane = static_cast<std::size_t>(output % kPanelOutputs);
        if (isPlain(m_matrix.format)) {
            unpackPlain(panel, lane, out);
            return;
        }
        for (std::int64_t b = 0; b < m_matrix.blocks(); ++b) {
            const IntBlock block = unpackBlock(m_matrix.format, panel, b, lane);
            for (std::size_t k = 0; k < 32; ++k) {
                out[b * 32 + static_cast<std::int64_t>(k)] =
                    block.scale[k / 16] * static_cast<float>(block.q[k]) + block.min[k / 16];
            }
        }
    }

private:
    void unpackPlain(const std::byte* panel, std::size_t lane, float* out) const {
        for (std::int64_t k = 0; k < m_matrix.inputs; ++k) {
            const std::size_t at = static_cast<std::size_t>(k * kPanelOutputs) + lane;
            if (m_matrix.format == PanelFormat::kF32) {
                out[k] = readAs<float>(panel + 4 * at);
            } else {
                const auto bits = readAs<std::uint16_t>(panel + 2 * at);
                out[k] =
                    m_matrix.format == PanelFormat::kF16 ? halfToFloat(bits) : bf16ToFloat(bits);
            }
        }
    }

    PanelMatrix m_matrix;
    std::int64_t m_bytes;
    PanelKernels m_kernels;
    bool m_takesQ8;
};

/// The file's rows, 8 at a time.
class RowsOfPanel {
public:
    RowsOfPanel(const TensorView& weight, std::int64_t rowBytes)
        : m_weight(weight), m_rowBytes(rowBytes) {}

    /// The row of output `lane` of a panel; null past the last output.
    [[nodiscard]] const std::byte* row(std::int64_t panel, std::size_t lane) const {
        const std::int64_t index = panel * kPanelOutputs + static_cast<std::int64_t>(lane);
        return index < m_weight.shape.rows() ? m_weight.data + index * m_rowBytes : nullptr;
    }

private:
    const TensorView& m_weight;
    std::int64_t m_rowBytes;
};

void packBlockPanel(const TensorView& weight, const RowsOfPanel& rows, const PanelMatrix& matrix,
                    std::int64_t panel, std::byte* to) {
    const DTypeTraits& t = traits(weight.type);
    const PanelGeometry geometry = panelGeometry(matrix.format);
    const BlockDecoder decoder = blockDecoder(weight.type);
    const std::int64_t parts = t.blockElements / 32;
    std::array<std::array<IntBlock, 8>, 8> decoded;  // [lane][part]
    std::array<const std::byte*, 8> from;
    static constexpr std::array<std::byte, 256>
        kZeros{};  // a block of any format, past the last output
    for (std::int64_t fileBlock = 0; fileBlock * parts < matrix.blocks(); ++fileBlock) {
        for (std::size_t lane = 0; lane < 8; ++lane) {
            const std::byte* row = rows.row(panel, lane);
            from[lane] = row == nullptr ? kZeros.data() : row + fileBlock * t.blockBytes;
            decoder(from[lane], decoded[lane].data());
        }
        for (std::int64_t part = 0; part < parts; ++part) {
            std::array<IntBlock, 8> lanes;
            for (std::size_t lane = 0; lane < 8; ++lane) {
                lanes[lane] = decoded[lane][static_cast<std::size_t>(part)];
            }
            const std::int64_t block = fileBlock * parts + part;
            std::byte* at = to + geometry.blockAt(block);
            packScales(matrix.format, from, lanes, static_cast<std::size_t>(part), at);
            packCodes(matrix.format, lanes, at + geometry.scaleBytes);
            if (geometry.headBytes > 0 && part == 0) {
                packHead(matrix.format, from, to + geometry.headOf(block));
            }
        }
    }
}

/// Rewrites an element of a plain type as its format stores it; exact for every type that
/// formatOf() sends here.
template <class Stored, class Convert>
void packPlainPanel(const TensorView& weight, const RowsOfPanel& rows, const PanelMatrix& matrix,
                    std::int64_t panel, std::byte* to, Convert convert) {
    const std::int64_t elementBytes = traits(weight.type).blockBytes;
    for (std::size_t lane = 0; lane < 8; ++lane) {
        const std::byte* from = rows.row(panel, lane);
        if (from == nullptr) {
            return;  // padding: the memory is zeroed
        }
        for (std::int64_t k = 0; k < matrix.inputs; ++k) {
            const Stored value = convert(from + k * elementBytes);
            std::memcpy(to + (static_cast<std::size_t>(k * kPanelOutputs) + lane) * sizeof value,
                        &value, sizeof value);
        }
    }
}

std::uint16_t upperHalf(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

void packPlain(const TensorView& weight, const RowsOfPanel& rows, const PanelMatrix& matrix,
               std::int64_t panel, std::byte* to) {
    const auto pack = [&]<class Stored>(Stored (*convert)(const std::byte*)) {
        packPlainPanel<Stored>(weight, rows, matrix, panel, to, convert);
    };
    switch (weight.type) {
        case DType::kF16:
        case DType::kBF16:
            pack(+[](const std::byte* from) { return readAs<std::uint16_t>(from); });
            break;
        case DType::kF8E5M2:
            pack(+[](const std::byte* from) {
                return static_cast<std::uint16_t>(readAs<std::uint8_t>(from) << 8);
            });
            break;
        case DType::kF8E4M3:
            pack(+[](const std::byte* from) {
                return upperHalf(f8E4M3ToFloat(readAs<std::uint8_t>(from)));
            });
            break;
        case DType::kI8:
            pack(+[](const std::byte* from) {
                return upperHalf(static_cast<float>(readAs<std::int8_t>(from)));
            });
            break;
        case DType::kI32:
            pack(+[](const std::byte* from) {
                return static_cast<float>(readAs<std::int32_t>(from));
            });
            break;
        default:
            pack(+[](const std::byte* from) { return readAs<float>(from); });
            break;
    }
}

}  // namespace

Result<std::unique_ptr<PackedWeight>> packPanels(const TensorView& weight,
                                                 ActivationType activations, WeightMemory& memory,
                                                 const RowsPacked& told,
                                                 PanelKernels (*kernelsOf)(PanelFormat)) {
    auto rowSize = checkedRowBytes(weight);
    if (!rowSize) {
        return forward(rowSize);
    }
    const DTypeTraits& t = traits(weight.type);
    if (t.isQuantized && blockDecoder(weight.type) == nullptr) {
        return fail(ErrorCode::kUnsupported,
                    "type " + std::string(t.name) + " cannot be multiplied by yet");
    }
    PanelMatrix matrix{.format = formatOf(weight.type),
                       .outputs = weight.shape.rows(),
                       .inputs = weight.shape.cols()};
    const PanelGeometry geometry = panelGeometry(matrix.format);
    matrix.panelBytes =
        isPlain(matrix.format)
            ? matrix.inputs * geometry.codeBytes
            : roundUp64(matrix.blocks() / geometry.groupBlocks * geometry.groupBytes());
    const std::int64_t panels = (matrix.outputs + kPanelOutputs - 1) / kPanelOutputs;
    const std::int64_t bytes = panels * matrix.panelBytes;
    auto data = memory.allocate(bytes);
    if (!data) {
        return forward(data);
    }
    matrix.data = data->data();
    const RowsOfPanel rows(weight, *rowSize);
    const std::int64_t slice = std::max<std::int64_t>(1, kPackSlice / (*rowSize * kPanelOutputs));
    for (std::int64_t panel = 0; panel < panels; ++panel) {
        if (told && panel > 0 && panel % slice == 0 && !told(panel * kPanelOutputs)) {
            return fail(ErrorCode::kCancelled, "packing was cancelled");
        }
        std::byte* to = data->data() + panel * matrix.panelBytes;
        if (isPlain(matrix.format)) {
            packPlain(weight, rows, matrix, panel, to);
        } else {
            packBlockPanel(weight, rows, matrix, panel, to);
        }
    }
    return std::make_unique<PanelWeight>(matrix, bytes, kernelsOf(matrix.format),
                                         t.isQuantized && activations == ActivationType::kQ8);
}

}  // namespace quern::kernels::cpu

namespace quern::kernels {

std::optional<HeldAs> heldAs(DType type) {
    using cpu::PanelFormat;
    const PanelFormat format = cpu::formatOf(type);
    switch (format) {
        case PanelFormat::kSplit8:
            return HeldAs{.name = "8-bit codes with a scale for each 16", .bits = 10};
        case PanelFormat::kSplitMin8:
            return HeldAs{.name = "8-bit codes with a scale and a minimum for each 16", .bits = 12};
        case PanelFormat::kF16:
            return type == DType::kF16 ? std::nullopt
                                       : std::optional(HeldAs{.name = "F16", .bits = 16});
        case PanelFormat::kBF16:
            return type == DType::kBF16 ? std::nullopt
                                        : std::optional(HeldAs{.name = "BF16", .bits = 16});
        default:
            return std::nullopt;
    }
}

}  // namespace quern::kernels
