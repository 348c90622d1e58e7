#include "engine/convert/quant_mix.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

using kernels::DType;

// Names, numbers and mixtures are those that llama.cpp's quantize program made customary, so that
// a file is what its name promises.
constexpr std::array kMixes{
    QuantMix{"F32", 0, DType::kF32, DType::kF32, DType::kF32, false},
    QuantMix{"F16", 1, DType::kF16, DType::kF16, DType::kF16, false},
    QuantMix{"BF16", 32, DType::kBF16, DType::kBF16, DType::kBF16, false},
    QuantMix{"Q8_0", 7, DType::kQ8_0, DType::kQ8_0, DType::kQ8_0, false},
    QuantMix{"Q4_0", 2, DType::kQ4_0, DType::kQ6_K, DType::kQ4_0, false},
    QuantMix{"Q4_1", 3, DType::kQ4_1, DType::kQ6_K, DType::kQ4_1, false},
    QuantMix{"Q5_0", 8, DType::kQ5_0, DType::kQ6_K, DType::kQ5_0, false},
    QuantMix{"Q5_1", 9, DType::kQ5_1, DType::kQ6_K, DType::kQ5_1, false},
    QuantMix{"Q4_K_M", 15, DType::kQ4_K, DType::kQ6_K, DType::kQ6_K, true},
    QuantMix{"Q5_K_M", 17, DType::kQ5_K, DType::kQ6_K, DType::kQ6_K, true},
    QuantMix{"Q6_K", 18, DType::kQ6_K, DType::kQ6_K, DType::kQ6_K, false},
};

/// "blk.12.attn_v.weight" → 12 and "attn_v"; layer −1 outside of layers.
struct Place {
    std::int64_t layer = -1;
    std::string_view stem;
};

Place placeOf(std::string_view name) {
    if (name.ends_with(".weight")) {
        name.remove_suffix(std::string_view(".weight").size());
    }
    constexpr std::string_view kLayer = "blk.";
    Place place{.layer = -1, .stem = name};
    if (!name.starts_with(kLayer)) {
        return place;
    }
    const std::string_view rest = name.substr(kLayer.size());
    std::int64_t layer = -1;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), layer);
    const auto digits = static_cast<std::size_t>(end - rest.data());
    if (error == std::errc() && digits + 1 < rest.size() && rest[digits] == '.') {
        place = {.layer = layer, .stem = rest.substr(digits + 1)};
    }
    return place;
}

/// The first and last eighth of the layers, and every third between.
bool isImportantLayer(std::int64_t layer, std::int64_t layers) {
    return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

bool staysFloat(std::string_view stem, const kernels::Shape& shape) {
    constexpr std::array<std::string_view, 8> kSmall{
        "position_embd", "token_types", "ffn_gate_inp",   "ffn_gate_inp_shexp",
        "ssm_conv1d",    "ssm_a",       "shortconv.conv", "ssm_d"};
    return shape.rank < 2 || stem.ends_with("norm") || stem.ends_with(".bias") ||
           std::find(kSmall.begin(), kSmall.end(), stem) != kSmall.end();
}

DType wantedType(const QuantMix& mix, const Place& place, const MixFacts& facts) {
    if (place.stem == "output" || (place.stem == "token_embd" && facts.isHeadTied)) {
        return mix.head;
    }
    if (!mix.isMixed) {
        return mix.base;
    }
    if (facts.experts == 8 && (place.stem == "attn_v" || place.stem == "attn_k")) {
        return DType::kQ8_0;  // small beside eight experts
    }
    if (place.stem == "attn_qkv") {
        return mix.base == DType::kQ4_K ? DType::kQ5_K : DType::kQ6_K;
    }
    const bool isSensitive = place.stem == "attn_v" || place.stem.starts_with("ffn_down");
    return isSensitive && isImportantLayer(place.layer, facts.layers) ? mix.important : mix.base;
}

/// The nearest type whose blocks fit rows of `cols`.
DType fitting(DType type, std::int64_t cols) {
    const auto fits = [&](DType candidate) {
        return cols % kernels::traits(candidate).blockElements == 0;
    };
    if (fits(type)) {
        return type;
    }
    if (type == DType::kQ4_K && fits(DType::kQ5_0)) {
        return DType::kQ5_0;
    }
    if (type == DType::kQ5_K && fits(DType::kQ5_1)) {
        return DType::kQ5_1;
    }
    return fits(DType::kQ8_0) ? DType::kQ8_0 : DType::kF16;
}

}  // namespace

Result<QuantMix> findQuantMix(std::string_view name) {
    const auto* found = std::find_if(kMixes.begin(), kMixes.end(), [&](const QuantMix& mix) {
        return std::equal(
            mix.name.begin(), mix.name.end(), name.begin(), name.end(), [](char a, char b) {
                return a == static_cast<char>(std::toupper(static_cast<unsigned char>(b)));
            });
    });
    if (found == kMixes.end()) {
        return fail(ErrorCode::kInvalidArgument, "there is no quantization '" + std::string(name) +
                                                     "'; there are " + quantMixNames());
    }
    return *found;
}

std::string quantMixNames() {
    std::string names;
    for (const QuantMix& mix : kMixes) {
        names += (names.empty() ? "" : ", ") + std::string(mix.name);
    }
    return names;
}

DType typeOfTensor(const QuantMix& mix, std::string_view name, const kernels::Shape& shape,
                   DType held, const MixFacts& facts) {
    const Place place = placeOf(name);
    if (held == DType::kI8 || held == DType::kI32) {
        return held;
    }
    if (staysFloat(place.stem, shape)) {
        return DType::kF32;
    }
    const DType wanted = fitting(wantedType(mix, place, facts), shape.cols());
    // Trained in it: every other type of as few bits is worse, and one of more gains nothing.
    return held == DType::kMXFP4 && kernels::traits(wanted).isQuantized ? held : wanted;
}

}  // namespace quern::engine::convert
