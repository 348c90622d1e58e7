#include "engine/formats/mxfp4_blocks.h"

namespace quern::engine {

namespace {

constexpr std::int64_t kGroup = 32;  // elements of a block
constexpr std::int64_t kCodeBytes = kGroup / 2;
constexpr std::size_t kBlockBytes = 1 + kCodeBytes;

Result<kernels::TensorView> findShaped(const TensorTable& table, const std::string& name,
                                       const kernels::Shape& wanted) {
    const auto view = table.find(name);
    if (!view) {
        return fail(ErrorCode::kCorrupt, "tensor '" + name + "' is missing");
    }
    if (view->shape != wanted) {
        return fail(ErrorCode::kCorrupt,
                    "tensor '" + name + "' has shape " + shapeText(view->shape) +
                        " where the model's header wants " + shapeText(wanted));
    }
    return *view;
}

}  // namespace

Result<Mxfp4Blocks> Mxfp4Blocks::find(const TensorTable& table, const std::string& stem,
                                      const Size& size) {
    if (size.cols % kGroup != 0) {
        return fail(ErrorCode::kCorrupt,
                    "tensor '" + stem + ".blocks': rows of " + std::to_string(size.cols) +
                        " elements are no whole blocks of " + std::to_string(kGroup));
    }
    Mxfp4Blocks found;
    found.m_groups = size.cols / kGroup;
    const auto scales = findShaped(
        table, stem + ".scales", {.dims = {size.experts, size.rows, found.m_groups, 1}, .rank = 3});
    if (!scales) {
        return tl::unexpected<Error>(scales.error());
    }
    const auto blocks =
        findShaped(table, stem + ".blocks",
                   {.dims = {size.experts, size.rows, found.m_groups, kCodeBytes}, .rank = 4});
    if (!blocks) {
        return tl::unexpected<Error>(blocks.error());
    }
    found.m_blocks = blocks->data;
    found.m_scales = scales->data;
    return found;
}

std::size_t Mxfp4Blocks::rowBytes() const {
    return static_cast<std::size_t>(m_groups) * kBlockBytes;
}

void Mxfp4Blocks::copyRow(std::int64_t row, std::span<std::byte> out) const {
    std::byte* to = out.data();
    for (std::int64_t group = row * m_groups; group < (row + 1) * m_groups; ++group) {
        *to++ = m_scales[group];
        const std::byte* codes = m_blocks + group * kCodeBytes;
        const auto code = [&](std::int64_t element) {
            return codes[element / 2] >> (element % 2 * 4) & std::byte{15};
        };
        for (std::int64_t i = 0; i < kCodeBytes; ++i) {
            *to++ = code(i) | code(i + kCodeBytes) << 4;
        }
    }
}

}  // namespace quern::engine
