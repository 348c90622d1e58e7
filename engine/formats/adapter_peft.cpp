#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "engine/formats/adapter_file.h"
#include "engine/formats/file_mapping.h"
#include "engine/formats/gguf_metadata.h"
#include "engine/formats/json_file.h"
#include "engine/formats/safetensors.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kConfigName = "adapter_config.json";
constexpr const char* kWeightsName = "adapter_model.safetensors";

tl::unexpected<Error> unsupported(const std::string& key, const std::string& why) {
    return fail(ErrorCode::kUnsupported, std::string(kConfigName) + ": " + key + ": " + why);
}

tl::unexpected<Error> corrupt(const std::string& key, const std::string& why) {
    return fail(ErrorCode::kCorrupt, std::string(kConfigName) + ": " + key + " " + why);
}

bool isSet(const Json& config, const char* key) {
    const auto found = config.find(key);
    return found != config.end() && !found->is_null() && *found != Json(false) &&
           !((found->is_array() || found->is_object()) && found->empty());
}

// What changes the result in a way that A and B alone do not tell.
Status checkKind(const Json& config) {
    struct Refusal {
        const char* key;
        const char* why;
    };
    constexpr std::array kRefusals{
        Refusal{"use_dora", "DoRA, which also changes the lengths of columns, is not supported"},
        Refusal{"modules_to_save", "whole matrices beside the adapter's are not supported"},
        Refusal{"lora_bias", "biases of B are not supported"},
        Refusal{"layer_replication", "layers that are there more than once are not supported"},
        Refusal{"trainable_token_indices", "rows of the embedding are not supported"},
        Refusal{"target_parameters", "matrices without a module of their own are not supported"},
        Refusal{"alora_invocation_tokens",
                "adapters that begin in the middle of a prompt are not supported"},
        Refusal{"use_qalora", "QALoRA is not supported"},
        Refusal{"use_bdlora", "block-diagonal LoRA is not supported"},
        Refusal{"arrow_config", "routing among adapters is not supported"},
        Refusal{"kasa_config", "KaSA is not supported"},
        Refusal{"monteclora_config", "MonteCLoRA is not supported"},
        Refusal{"velora_config", "VeLoRA is not supported"}};
    const auto type = config.find("peft_type");
    if (type == config.end() || *type != Json("LORA")) {
        return unsupported("peft_type", "only LORA can be read");
    }
    for (const Refusal& refusal : kRefusals) {
        if (isSet(config, refusal.key)) {
            return unsupported(refusal.key, refusal.why);
        }
    }
    if (const auto bias = config.find("bias"); bias != config.end() && *bias != Json("none")) {
        return unsupported("bias", "only 'none' is supported");
    }
    return {};
}

bool isRank(const Json& value) {
    constexpr double kMostRank = 1 << 30;
    return value.is_number() && value.get<double>() >= 1 && value.get<double>() <= kMostRank &&
           std::floor(value.get<double>()) == value.get<double>();
}

/// Numbers that hold for modules whose name ends in a text: PEFT's rank_pattern and alpha_pattern,
/// of which those that are no plain names are refused.
class Patterns {
public:
    static Result<Patterns> read(const Json& config, const char* key, bool areRanks) {
        Patterns patterns;
        const auto found = config.find(key);
        if (found == config.end() || found->is_null()) {
            return patterns;
        }
        if (!found->is_object()) {
            return corrupt(key, "is no object");
        }
        for (const auto& [pattern, value] : found->items()) {
            auto name = plainName(pattern);
            if (!name) {
                return unsupported(key, quotedName(pattern) + " is no plain name of a module");
            }
            if (areRanks ? !isRank(value) : !value.is_number() || !(value.get<double>() > 0)) {
                return corrupt(
                    key, (areRanks ? "has no integer above 0 for " : "has no number above 0 for ") +
                             quotedName(pattern));
            }
            patterns.m_values.try_emplace(std::move(*name),
                                          Value{patterns.m_values.size(), value.get<double>()});
        }
        return patterns;
    }

    /// Of the patterns that are the name or the end of it, the first in the file holds.
    [[nodiscard]] std::optional<double> of(std::string_view module) const {
        std::optional<Value> first;
        while (true) {
            if (const auto found = m_values.find(module);
                found != m_values.end() && (!first || found->second.place < first->place)) {
                first = found->second;
            }
            const std::size_t dot = module.find('.');
            if (dot == std::string_view::npos) {
                break;
            }
            module.remove_prefix(dot + 1);
        }
        return first ? std::optional(first->number) : std::nullopt;
    }

private:
    // "^model\.layers\.0\.q_proj$" and "model.layers.0.q_proj" are the same name.
    static std::optional<std::string> plainName(std::string_view pattern) {
        std::string name;
        if (pattern.starts_with('^')) {
            pattern.remove_prefix(1);
        }
        if (pattern.ends_with('$')) {
            pattern.remove_suffix(1);
        }
        for (std::size_t i = 0; i < pattern.size(); ++i) {
            const char c = pattern[i];
            const bool isEscapedDot = c == '\\' && i + 1 < pattern.size() && pattern[i + 1] == '.';
            if (isEscapedDot) {
                continue;
            }
            const bool isPlain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                 (c >= '0' && c <= '9') || c == '_' || c == '.' || c == '-';
            if (!isPlain) {
                return std::nullopt;
            }
            name += c;
        }
        return name.empty() ? std::nullopt : std::optional(name);
    }

    struct Value {
        std::size_t place = 0;
        double number = 0;
    };
    std::map<std::string, Value, std::less<>> m_values;
};

/// How large a module's part is in the sum.
struct Scaling {
    double rank = 0;
    double alpha = 0;
    bool dividesByRoot = false;  // rank-stabilized: alpha / sqrt(rank)
    Patterns ranks;
    Patterns alphas;

    static Result<Scaling> read(const Json& config) {
        Scaling scaling;
        for (const auto& [key, value] :
             {std::pair("r", &scaling.rank), std::pair("lora_alpha", &scaling.alpha)}) {
            const auto found = config.find(key);
            if (found == config.end() || !found->is_number()) {
                return corrupt(key, "is missing or no number");
            }
            *value = found->get<double>();
        }
        if (!isRank(config["r"])) {
            return corrupt("r", "is " + config["r"].dump() + "; an integer above 0 was expected");
        }
        if (const auto root = config.find("use_rslora"); root != config.end()) {
            if (!root->is_boolean()) {
                return corrupt("use_rslora", "is neither true nor false");
            }
            scaling.dividesByRoot = root->get<bool>();
        }
        for (const auto& [key, patterns] : {std::pair("rank_pattern", &scaling.ranks),
                                            std::pair("alpha_pattern", &scaling.alphas)}) {
            auto read = Patterns::read(config, key, patterns == &scaling.ranks);
            if (!read) {
                return forward(read);
            }
            *patterns = std::move(*read);
        }
        return scaling;
    }

    Result<float> of(const AdapterFilePart& part) const {
        const double wanted = ranks.of(part.name).value_or(rank);
        const auto found = static_cast<double>(part.a.shape.rows());
        if (wanted != found) {
            return fail(ErrorCode::kCorrupt, "adapter of " + quotedName(part.name) + " has rank " +
                                                 std::to_string(part.a.shape.rows()) + "; " +
                                                 kConfigName + " says " +
                                                 std::to_string(static_cast<std::int64_t>(wanted)));
        }
        const auto scale = static_cast<float>(alphas.of(part.name).value_or(alpha) /
                                              (dividesByRoot ? std::sqrt(found) : found));
        if (!std::isfinite(scale)) {
            return corrupt("lora_alpha", "is no finite number");
        }
        return scale;
    }
};

Status addTensor(const SafetensorsEntry& entry, AdapterParts& parts) {
    constexpr std::string_view kBegin = "base_model.model.";
    std::string_view name = entry.name;
    if (name.starts_with(kBegin)) {
        name.remove_prefix(kBegin.size());
    }
    const std::string at = std::string(kWeightsName) + ": tensor " + quotedName(entry.name);
    if (name.find(".lora_embedding_") != std::string_view::npos) {
        return fail(ErrorCode::kUnsupported, at + ": adapters of the embedding are not supported");
    }
    for (const auto& [end, half] :
         {std::pair(std::string_view(".lora_A.weight"), AdapterHalf::kA),
          std::pair(std::string_view(".lora_B.weight"), AdapterHalf::kB)}) {
        if (!name.ends_with(end)) {
            continue;
        }
        if (!entry.type) {
            return fail(ErrorCode::kUnsupported,
                        at + ": dtype " + entry.dtype + " cannot be computed with");
        }
        return parts.add(std::string(name.substr(0, name.size() - end.size())), half, entry.name,
                         {.type = *entry.type, .shape = entry.shape, .data = entry.data.data()});
    }
    return fail(ErrorCode::kUnsupported,
                at + " is neither A nor B of a matrix; leaving it out would change the adapter");
}

Result<std::shared_ptr<const FileMapping>> openWeights(const fs::path& folder) {
    std::error_code ignored;
    if (fs::exists(folder / kWeightsName, ignored)) {
        return FileMapping::open(folder / kWeightsName);
    }
    const bool isPickle = fs::exists(folder / "adapter_model.bin", ignored);
    return fail(isPickle ? ErrorCode::kUnsupported : ErrorCode::kNotFound,
                folder.string() + " has no " + kWeightsName +
                    (isPickle ? "; adapter_model.bin is a program that Quern does not run" : ""));
}

}  // namespace

Result<AdapterFile> readPeftAdapter(const fs::path& folder) {
    auto config = readJsonFile(folder / kConfigName);
    if (!config) {
        return config.error().code == ErrorCode::kNotFound
                   ? fail(ErrorCode::kNotFound, "folder " + folder.string() + " has no " +
                                                    kConfigName + ": it is no PEFT adapter")
                   : forward(config);
    }
    if (!config->is_object()) {
        return fail(ErrorCode::kCorrupt, std::string(kConfigName) + " is no object");
    }
    if (auto status = checkKind(*config); !status) {
        return forward(status);
    }
    auto scaling = Scaling::read(*config);
    if (!scaling) {
        return forward(scaling);
    }
    auto mapping = openWeights(folder);
    if (!mapping) {
        return forward(mapping);
    }
    const auto entries = parseSafetensors((*mapping)->bytes());
    if (!entries) {
        return fail(entries.error().code,
                    std::string(kWeightsName) + ": " + entries.error().message);
    }
    AdapterParts parts;
    for (const SafetensorsEntry& entry : *entries) {
        if (auto status = addTensor(entry, parts); !status) {
            return forward(status);
        }
    }
    auto taken = parts.take();
    if (!taken) {
        return forward(taken);
    }
    AdapterFile adapter{.info = {.path = folder, .format = "PEFT folder", .base = {}},
                        .isGguf = false,
                        .architecture = {},
                        .parts = std::move(*taken),
                        .file = *mapping};
    if (const auto base = config->find("base_model_name_or_path");
        base != config->end() && base->is_string()) {
        adapter.info.base = base->get<std::string>();
    }
    for (AdapterFilePart& part : adapter.parts) {
        auto scale = scaling->of(part);
        if (!scale) {
            return forward(scale);
        }
        part.scale = *scale;
    }
    describeParts(adapter);
    return adapter;
}

}  // namespace quern::engine
