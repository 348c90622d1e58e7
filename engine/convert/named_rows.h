#pragma once

#include <cstdint>
#include <string>

#include "engine/convert/tensor_rows.h"
#include "engine/formats/read_model.h"

namespace quern::engine::convert {

struct NamedRows {
    std::string name;  // as the GGUF file has it
    TensorRows rows;
};

/// "blk.3."
[[nodiscard]] std::string layerPrefix(std::int64_t layer);
/// The tensor of that canonical name, which must have the shape, and where it is one matrix of many
/// 8-bit ones its scales applied. kCorrupt names it.
[[nodiscard]] Result<TensorRows> rowsOfTensor(const ReadModel& model, const std::string& canonical,
                                              const kernels::Shape& shape);
/// Its view alone; plain numbers, without scales.
[[nodiscard]] Result<kernels::TensorView> plainTensor(const ReadModel& model,
                                                      const std::string& canonical,
                                                      const kernels::Shape& shape);
[[nodiscard]] kernels::Shape shapeOf(std::initializer_list<std::int64_t> dims);

}  // namespace quern::engine::convert
