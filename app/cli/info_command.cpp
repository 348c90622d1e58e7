#include "app/cli/info_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "app/cli/exit_codes.h"
#include "app/cli/terminal_text.h"
#include "app/library/disk_space.h"
#include "engine/model_info.h"
#include "engine/text.h"
#include "kernels/quant.h"

namespace quern::cli {

namespace {

using Json = nlohmann::ordered_json;

std::string typeName(kernels::DType type) {
    return std::string(kernels::traits(type).name);
}

struct TypeShare {
    std::string type;
    std::int64_t bytes = 0;
    std::int64_t tensors = 0;
};

// Which types the weights are in, those with most bytes first.
std::vector<TypeShare> typeShares(const engine::ModelInfo& info) {
    std::map<std::string, TypeShare> byName;
    for (const auto& tensor : info.tensors) {
        TypeShare& share = byName[typeName(tensor.type)];
        share.type = typeName(tensor.type);
        share.bytes += tensor.bytes;
        ++share.tensors;
    }
    std::vector<TypeShare> shares;
    shares.reserve(byName.size());
    for (const auto& [name, share] : byName) {
        shares.push_back(share);
    }
    std::ranges::stable_sort(shares, std::greater(), &TypeShare::bytes);
    return shares;
}

double bitsPerWeight(const engine::ModelInfo& info) {
    return info.parameters > 0
               ? 8.0 * static_cast<double>(info.weightBytes) / static_cast<double>(info.parameters)
               : 0.0;
}

// The value of the first of these keys that the file has, GGUF's under "<architecture>.".
std::string valueOf(const engine::ModelInfo& info, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        for (const auto& [known, value] : info.metadata) {
            if ((known == key || known == info.architecture + "." + std::string(key)) &&
                value != "null" && value != "0") {
                return value;
            }
        }
    }
    return {};
}

// "8, 2 of them a token, 1 shared"
std::string expertsText(const engine::ModelInfo& info) {
    std::string text =
        valueOf(info, {"expert_count", "num_local_experts", "num_experts", "n_routed_experts"});
    if (text.empty()) {
        return text;
    }
    const std::string used = valueOf(info, {"expert_used_count", "num_experts_per_tok"});
    const std::string shared = valueOf(info, {"expert_shared_count", "n_shared_experts"});
    return text + (used.empty() ? "" : ", " + used + " of them a token") +
           (shared.empty() ? "" : ", " + shared + " shared");
}

// "theta 500000, scaling yarn × 4"
std::string ropeText(const engine::ModelInfo& info) {
    std::string text;
    const auto add = [&](const std::string& before, const std::string& value) {
        if (!value.empty()) {
            text += (text.empty() ? "" : ", ") + before + value;
        }
    };
    add("theta ", valueOf(info, {"rope.freq_base", "rope_theta"}));
    add("columns ", valueOf(info, {"rope.dimension_count"}));
    add("scaling ", valueOf(info, {"rope.scaling.type"}));
    add("factor ", valueOf(info, {"rope.scaling.factor"}));
    add("", valueOf(info, {"rope_parameters", "rope_scaling"}));
    return text;
}

// "vectors of 384 elements, mean pooling, length 1"; empty for a model that generates.
std::string resultText(const engine::ModelInfo& info) {
    if (info.task == engine::ModelTask::kGenerate) {
        return {};
    }
    const std::string pooling(engine::poolingName(info.pooling));
    return info.task == engine::ModelTask::kScore
               ? fmt::format("scores ({} a document), {} pooling", info.vectorSize, pooling)
               : fmt::format("vectors of {} elements, {} pooling{}", info.vectorSize, pooling,
                             info.isNormalized ? ", length 1" : "");
}

using Templates = Result<engine::ChatTemplates>;

std::string templatesText(const Templates& templates) {
    if (!templates) {
        return "cannot be used: " + templates.error().message;
    }
    if (templates->standard == nullptr) {
        return "none";
    }
    return templates->toolUse == nullptr ? "yes" : "yes, and one for tools";
}

Json asJson(const engine::ModelInfo& info, const Templates& templates, const InfoOptions& options) {
    Json json{{"path", info.path.string()},
              {"name", info.name},
              {"format", info.format},
              {"architecture", info.architecture},
              {"supported", info.isSupported},
              {"why_not", info.whyNot},
              {"quantization", info.quantization},
              {"bits_per_weight", bitsPerWeight(info)},
              {"license", info.license},
              {"tokenizer", info.tokenizer},
              {"parameters", info.parameters},
              {"active_parameters", info.activeParameters},
              {"file_bytes", info.fileBytes},
              {"weight_bytes", info.weightBytes},
              {"context", info.contextTokens},
              {"layers", info.layers},
              {"hidden_size", info.hiddenSize},
              {"vocabulary", info.vocabSize},
              {"rope", ropeText(info)},
              {"experts", expertsText(info)},
              {"has_chat_template", templates && templates->standard != nullptr},
              {"task", engine::taskName(info.task)}};
    if (info.task != engine::ModelTask::kGenerate) {
        json["pooling"] = engine::poolingName(info.pooling);
        json["dimensions"] = info.vectorSize;
        json["normalized"] = info.isNormalized && info.task == engine::ModelTask::kEmbed;
    }
    auto& types = json["types"] = Json::array();
    for (const TypeShare& share : typeShares(info)) {
        types.push_back({{"type", share.type}, {"tensors", share.tensors}, {"bytes", share.bytes}});
    }
    if (options.listsMetadata) {
        auto& metadata = json["metadata"] = Json::object();
        for (const auto& [key, value] : info.metadata) {
            metadata[key] = value;
        }
    }
    if (options.listsTensors) {
        auto& tensors = json["tensors"] = Json::array();
        for (const auto& tensor : info.tensors) {
            tensors.push_back({{"name", tensor.name},
                               {"type", typeName(tensor.type)},
                               {"shape", tensor.shape},
                               {"bytes", tensor.bytes}});
        }
    }
    return json;
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t dimension : shape) {
        text += (text.empty() ? "" : " × ") + std::to_string(dimension);
    }
    return text;
}

std::string quantizationText(const engine::ModelInfo& info) {
    std::string text;
    for (const TypeShare& share : typeShares(info)) {
        text += fmt::format("{}{} {} ({})", text.empty() ? "" : ", ", share.type,
                            app::humanBytes(share.bytes), share.tensors);
    }
    return text.empty() ? text : text + fmt::format("; {:.2f} bits a weight", bitsPerWeight(info));
}

// "12.90 B, of which a token meets 3.10 B"
std::string parametersText(const engine::ModelInfo& info) {
    const auto text = [](std::int64_t count) {
        const auto millions = static_cast<double>(count) / 1e6;
        return millions >= 1000 ? fmt::format("{:.2f} B", millions / 1000)
                                : fmt::format("{:.2f} M", millions);
    };
    const bool hasIdle = info.activeParameters > 0 && info.activeParameters < info.parameters;
    return text(info.parameters) +
           (hasIdle ? ", of which a token meets " + text(info.activeParameters) : "");
}

void printInfo(const engine::ModelInfo& info, const Templates& templates,
               const InfoOptions& options) {
    const auto line = [](const char* label, const std::string& value) {
        if (!value.empty()) {
            std::printf("%-14s %s\n", label, withoutTerminalControls(value).c_str());
        }
    };
    const auto count = [](std::int64_t value, const char* unit) {
        return value > 0 ? fmt::format("{} {}", value, unit) : std::string();
    };
    line("name", info.name);
    line("path", info.path.string());
    line("format", info.format);
    line("architecture", info.architecture);
    line("runs here", info.isSupported ? "yes" : "no: " + info.whyNot);
    line("gives", resultText(info));
    line("parameters", parametersText(info));
    line("types", quantizationText(info));
    line("size", app::humanBytes(info.fileBytes));
    line("context", count(info.contextTokens, "tokens"));
    line("layers", info.layers > 0 ? fmt::format("{} of width {}", info.layers, info.hiddenSize)
                                   : std::string());
    line("experts", expertsText(info));
    line("rope", ropeText(info));
    line("vocabulary", count(info.vocabSize, "tokens"));
    line("tokenizer", info.tokenizer.empty() ? "none" : info.tokenizer);
    line("chat template", templatesText(templates));
    line("licence", info.license);
    if (options.listsMetadata) {
        std::printf("\n");
        for (const auto& [key, value] : info.metadata) {
            std::printf("%-44s %s\n", withoutTerminalControls(key).c_str(),
                        withoutTerminalControls(value).c_str());
        }
    }
    if (options.listsTensors) {
        std::printf("\n");
        for (const auto& tensor : info.tensors) {
            std::printf("%-44s %-8s %s\n", withoutTerminalControls(tensor.name).c_str(),
                        typeName(tensor.type).c_str(), shapeText(tensor.shape).c_str());
        }
    }
}

}  // namespace

int runModelsInfo(const InfoOptions& options) {
    const auto info = engine::inspectModel(options.model);
    if (!info) {
        return reportError(info.error());
    }
    const Templates templates = engine::loadChatTemplates(options.model);
    if (options.asJson) {
        const Json json = asJson(*info, templates, options);
        std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    } else {
        printInfo(*info, templates, options);
    }
    return kExitOk;
}

}  // namespace quern::cli
