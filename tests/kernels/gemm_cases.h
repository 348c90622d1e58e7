#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/cpu/gemm.h"
#include "kernels/tensor.h"

namespace quern::kernels::test {

/// Every type a weight may have.
[[nodiscard]] const std::vector<DType>& weightTypes();

/// Random whole blocks of a type, with scales that keep values around one. cols is a multiple of
/// the block.
[[nodiscard]] std::vector<std::byte> randomWeight(DType type, std::int64_t rows, std::int64_t cols,
                                                  std::mt19937& random);

[[nodiscard]] std::vector<float> randomFloats(std::size_t count, std::mt19937& random);

/// Rows quantized by a tier, with the memory they lie in.
struct QuantizedRows {
    std::vector<std::byte> memory;
    cpu::Q8Rows rows;
};
[[nodiscard]] QuantizedRows quantizeRows(const cpu::GemmKernels& kernels,
                                         const std::vector<float>& in, std::int64_t rows,
                                         std::int64_t cols);

/// The tiers there are, with what the processor lacks for each ("" when it has all).
struct Tier {
    CpuTier tier;
    std::string name;
    std::string lacks;
};
[[nodiscard]] std::vector<Tier> gemmTiers();

}  // namespace quern::kernels::test
