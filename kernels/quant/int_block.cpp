#include "kernels/quant/int_block.h"

namespace quern::kernels {

IntBlockShape intBlockShape(DType type) {
    switch (type) {
        case DType::kQ4_1:
        case DType::kQ5_1:
        case DType::kQ4_K:
        case DType::kQ5_K:
            return {.hasMin = true, .isSplit = false};
        case DType::kQ2_K:
            return {.hasMin = true, .isSplit = true};
        case DType::kQ4_0:
        case DType::kQ5_0:
        case DType::kQ8_0:
        case DType::kIQ4_NL:
        case DType::kIQ4_XS:
        case DType::kTQ1_0:
        case DType::kTQ2_0:
        case DType::kMXFP4:
        case DType::kIQ2_XXS:
        case DType::kIQ3_XXS:
        case DType::kIQ3_S:
        case DType::kIQ1_S:
            return {.hasMin = false, .isSplit = false};
        default:
            return {.hasMin = false, .isSplit = true};
    }
}

BlockDecoder blockDecoder(DType type) {
    switch (type) {
        case DType::kQ4_0:
            return decode::q4_0;
        case DType::kQ4_1:
            return decode::q4_1;
        case DType::kQ5_0:
            return decode::q5_0;
        case DType::kQ5_1:
            return decode::q5_1;
        case DType::kQ8_0:
            return decode::q8_0;
        case DType::kQ2_K:
            return decode::q2K;
        case DType::kQ3_K:
            return decode::q3K;
        case DType::kQ4_K:
            return decode::q4K;
        case DType::kQ5_K:
            return decode::q5K;
        case DType::kQ6_K:
            return decode::q6K;
        case DType::kIQ1_S:
            return decode::iq1S;
        case DType::kIQ1_M:
            return decode::iq1M;
        case DType::kIQ2_XXS:
            return decode::iq2Xxs;
        case DType::kIQ2_XS:
            return decode::iq2Xs;
        case DType::kIQ2_S:
            return decode::iq2S;
        case DType::kIQ3_XXS:
            return decode::iq3Xxs;
        case DType::kIQ3_S:
            return decode::iq3S;
        case DType::kIQ4_NL:
            return decode::iq4Nl;
        case DType::kIQ4_XS:
            return decode::iq4Xs;
        case DType::kTQ1_0:
            return decode::tq1_0;
        case DType::kTQ2_0:
            return decode::tq2_0;
        case DType::kMXFP4:
            return decode::mxfp4;
        case DType::kNVFP4:
            return decode::nvfp4;
        default:
            return nullptr;
    }
}

}  // namespace quern::kernels
