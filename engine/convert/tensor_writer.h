#pragma once

#include <cstdint>
#include <functional>

#include "engine/convert/new_file.h"
#include "engine/convert/tensor_rows.h"

namespace quern::engine::convert {

/// Writes tensors in a type, a stretch of rows at a time. Rows are made by several threads, each
/// row by one, so their number changes no byte.
class TensorWriter {
public:
    /// `threads` at least 1. `file` outlives the writer.
    TensorWriter(NewFile& file, std::int32_t threads) : m_file(file), m_threads(threads) {}

    /// Appends a tensor's rows. `wrote` hears of bytes that went out; returning false cancels
    /// (kCancelled). kInvalidArgument for values that the type cannot hold.
    [[nodiscard]] Status write(const TensorRows& rows, kernels::DType type,
                               const std::function<bool(std::int64_t)>& wrote);

private:
    NewFile& m_file;
    std::int32_t m_threads;
};

}  // namespace quern::engine::convert
