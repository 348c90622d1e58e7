#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::engine::convert {

/// A quantization as people name it: one type for most tensors, and which tensors get another.
struct QuantMix {
    std::string_view name;     // "Q4_K_M"
    std::uint32_t fileType;    // general.file_type of GGUF
    kernels::DType base;       // of most matrices
    kernels::DType head;       // of the output matrix, which every token's choice goes through
    kernels::DType important;  // of what errors grow from (values, half of the down projections)
    bool isMixed;              // whether it uses `important`
};

/// The mix of that name, in any case; kInvalidArgument lists the names there are.
[[nodiscard]] Result<QuantMix> findQuantMix(std::string_view name);
/// "F32, F16, …"
[[nodiscard]] std::string quantMixNames();

/// What the choice depends on besides a tensor's own name.
struct MixFacts {
    std::int64_t layers = 0;
    bool isHeadTied = false;  // the embedding table is the output matrix
    std::int64_t experts = 0;
};

/// The type that a tensor is written in. Vectors, tables of positions and the choice among experts
/// stay in float32, tensors with short rows in the nearest type that holds them; whole numbers, and
/// MXFP4 where the mix is of quantized types, stay what they are `held` as.
[[nodiscard]] kernels::DType typeOfTensor(const QuantMix& mix, std::string_view name,
                                          const kernels::Shape& shape, kernels::DType held,
                                          const MixFacts& facts);

}  // namespace quern::engine::convert
