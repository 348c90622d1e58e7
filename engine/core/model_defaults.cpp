#include "engine/core/model_defaults.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

namespace quern::engine {

namespace {

/// Numbers by the name that the field has in generation_config.json.
using Numbers = std::map<std::string, double, std::less<>>;

struct GgufName {
    std::string_view key;
    std::string_view field;
};
constexpr std::array kGgufNames = {
    GgufName{"general.sampling.temp", "temperature"},
    GgufName{"general.sampling.top_k", "top_k"},
    GgufName{"general.sampling.top_p", "top_p"},
    GgufName{"general.sampling.min_p", "min_p"},
    GgufName{"general.sampling.penalty_repeat", "repetition_penalty"},
};

Numbers readGguf(const ModelInfo& info) {
    Numbers numbers;
    for (const auto& [key, text] : info.metadata) {
        const auto name = std::ranges::find(kGgufNames, key, &GgufName::key);
        double value = 0.0;
        if (name != kGgufNames.end() &&
            std::from_chars(text.data(), text.data() + text.size(), value).ec == std::errc()) {
            numbers.emplace(name->field, value);
        }
    }
    return numbers;
}

Numbers readFolder(const std::filesystem::path& folder) {
    constexpr std::uintmax_t kMostBytes = 1 << 20;  // it is a page of settings
    const std::filesystem::path path = folder / "generation_config.json";
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path, error);
    Numbers numbers;
    if (error || size > kMostBytes) {
        return numbers;
    }
    std::ifstream file(path);
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (!json.is_object()) {
        return numbers;
    }
    for (const auto& [key, value] : json.items()) {
        if (value.is_number()) {
            numbers.emplace(key, value.get<double>());
        }
    }
    return numbers;
}

std::optional<double> within(const Numbers& numbers, std::string_view field, double low,
                             double high) {
    const auto found = numbers.find(field);
    if (found == numbers.end() || !(found->second >= low && found->second <= high)) {
        return std::nullopt;
    }
    return found->second;
}

}  // namespace

SamplingParams recommendedSampling(const ModelInfo& info) {
    std::error_code error;
    const Numbers numbers =
        std::filesystem::is_directory(info.path, error) ? readFolder(info.path) : readGguf(info);
    SamplingParams sampling;
    const auto apply = [&](std::string_view field, double low, double high, float& to) {
        if (const auto value = within(numbers, field, low, high)) {
            to = static_cast<float>(*value);
        }
    };
    apply("temperature", 0.0, 2.0, sampling.temperature);
    apply("top_p", 0.0, 1.0, sampling.topP);
    apply("min_p", 0.0, 1.0, sampling.minP);
    apply("typical_p", 0.01, 1.0, sampling.typicalP);
    apply("repetition_penalty", 0.01, 10.0, sampling.repetitionPenalty);
    if (const auto topK = within(numbers, "top_k", 0.0, 1e6)) {
        sampling.topK = static_cast<std::int32_t>(*topK);
    }
    return sampling;
}

}  // namespace quern::engine
