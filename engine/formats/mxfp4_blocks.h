#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/formats/tensor_table.h"
#include "kernels/result.h"

namespace quern::engine {

/// A stack of MXFP4 matrices as Hugging Face folders hold it, in two tensors: blocks [experts,
/// rows, groups, 16] and scales [experts, rows, groups]. Borrows their data. Immutable; any thread.
class Mxfp4Blocks {
public:
    struct Size {
        std::int64_t experts = 0;
        std::int64_t rows = 0;
        std::int64_t cols = 0;
    };
    /// Those named `stem`.blocks and `stem`.scales. kCorrupt names the tensor that is missing or
    /// has another shape.
    [[nodiscard]] static Result<Mxfp4Blocks> find(const TensorTable& table, const std::string& stem,
                                                  const Size& size);

    [[nodiscard]] std::size_t rowBytes() const;
    /// Row `row` of all experts' in blocks of the GGML format, `out` [rowBytes()]: the scale, then
    /// codes of elements i and i + 16 in one byte, where the checkpoint has 2i and 2i + 1.
    void copyRow(std::int64_t row, std::span<std::byte> out) const;

private:
    const std::byte* m_blocks = nullptr;
    const std::byte* m_scales = nullptr;
    std::int64_t m_groups = 0;
};

}  // namespace quern::engine
