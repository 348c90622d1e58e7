#include "engine/formats/gguf_types.h"

#include <algorithm>
#include <array>

namespace quern::engine {

namespace {

using kernels::DType;

struct Pair {
    std::uint32_t ggml;
    DType type;
};

// ggml.h, enum ggml_type.
constexpr std::array kPairs{
    Pair{0, DType::kF32},      Pair{1, DType::kF16},     Pair{2, DType::kQ4_0},
    Pair{3, DType::kQ4_1},     Pair{6, DType::kQ5_0},    Pair{7, DType::kQ5_1},
    Pair{8, DType::kQ8_0},     Pair{10, DType::kQ2_K},   Pair{11, DType::kQ3_K},
    Pair{12, DType::kQ4_K},    Pair{13, DType::kQ5_K},   Pair{14, DType::kQ6_K},
    Pair{16, DType::kIQ2_XXS}, Pair{17, DType::kIQ2_XS}, Pair{18, DType::kIQ3_XXS},
    Pair{19, DType::kIQ1_S},   Pair{20, DType::kIQ4_NL}, Pair{21, DType::kIQ3_S},
    Pair{22, DType::kIQ2_S},   Pair{23, DType::kIQ4_XS}, Pair{24, DType::kI8},
    Pair{26, DType::kI32},     Pair{29, DType::kIQ1_M},  Pair{30, DType::kBF16},
    Pair{34, DType::kTQ1_0},   Pair{35, DType::kTQ2_0},  Pair{39, DType::kMXFP4},
    Pair{40, DType::kNVFP4},
};

}  // namespace

std::optional<DType> dtypeOfGgml(std::uint32_t ggmlType) {
    const auto* found = std::find_if(kPairs.begin(), kPairs.end(),
                                     [&](const Pair& pair) { return pair.ggml == ggmlType; });
    return found == kPairs.end() ? std::nullopt : std::optional(found->type);
}

std::optional<std::uint32_t> ggmlTypeOf(DType type) {
    const auto* found = std::find_if(kPairs.begin(), kPairs.end(),
                                     [&](const Pair& pair) { return pair.type == type; });
    return found == kPairs.end() ? std::nullopt : std::optional(found->ggml);
}

}  // namespace quern::engine
