#include "app/cli/models_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/exit_codes.h"
#include "app/cli/terminal_text.h"
#include "app/library/disk_space.h"
#include "engine/model_info.h"
#include "kernels/quant.h"

namespace quern::cli {

namespace {

using Json = nlohmann::ordered_json;

void printJson(const Json& json) {
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Json asJson(const app::LibraryModel& model) {
    return {{"name", model.name},
            {"path", model.path.string()},
            {"origin", model.origin},
            {"bytes", model.bytes},
            {"linked", model.isLinked}};
}

std::string shapeText(const std::vector<std::int64_t>& shape) {
    std::string text;
    for (const std::int64_t dimension : shape) {
        text += (text.empty() ? "" : " × ") + std::to_string(dimension);
    }
    return text;
}

std::string parametersText(const engine::ModelInfo& info) {
    const auto millions = [](std::int64_t count) {
        return fmt::format("{:.2f} M", static_cast<double>(count) / 1e6);
    };
    const bool hasIdle = info.activeParameters > 0 && info.activeParameters < info.parameters;
    return millions(info.parameters) +
           (hasIdle ? ", of which a token meets " + millions(info.activeParameters) : "");
}

Json asJson(const engine::ModelInfo& info, bool listsTensors) {
    Json json{{"path", info.path.string()},
              {"name", info.name},
              {"format", info.format},
              {"architecture", info.architecture},
              {"supported", info.isSupported},
              {"why_not", info.whyNot},
              {"quantization", info.quantization},
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
              {"has_chat_template", !info.chatTemplate.empty()}};
    auto& metadata = json["metadata"] = Json::object();
    for (const auto& [key, value] : info.metadata) {
        metadata[key] = value;
    }
    if (listsTensors) {
        auto& tensors = json["tensors"] = Json::array();
        for (const auto& tensor : info.tensors) {
            tensors.push_back({{"name", tensor.name},
                               {"type", std::string(kernels::traits(tensor.type).name)},
                               {"shape", tensor.shape},
                               {"bytes", tensor.bytes}});
        }
    }
    return json;
}

void printInfo(const engine::ModelInfo& info, bool listsTensors) {
    const auto line = [](const char* label, const std::string& value) {
        if (!value.empty()) {
            std::printf("%-14s %s\n", label, withoutTerminalControls(value).c_str());
        }
    };
    line("name", info.name);
    line("path", info.path.string());
    line("format", info.format);
    line("architecture", info.architecture);
    line("runs here", info.isSupported ? "yes" : "no: " + info.whyNot);
    line("parameters", parametersText(info));
    line("quantization", info.quantization);
    line("size", app::humanBytes(info.fileBytes));
    line("context", fmt::format("{} tokens", info.contextTokens));
    line("layers", fmt::format("{} of width {}", info.layers, info.hiddenSize));
    line("vocabulary", fmt::format("{} tokens", info.vocabSize));
    line("tokenizer", info.tokenizer);
    line("chat template", info.chatTemplate.empty() ? "none" : "yes");
    line("licence", info.license);
    std::printf("\n");
    for (const auto& [key, value] : info.metadata) {
        std::printf("%-44s %s\n", withoutTerminalControls(key).c_str(),
                    withoutTerminalControls(value).c_str());
    }
    if (listsTensors) {
        std::printf("\n");
        for (const auto& tensor : info.tensors) {
            std::printf("%-44s %-8s %s\n", withoutTerminalControls(tensor.name).c_str(),
                        std::string(kernels::traits(tensor.type).name).c_str(),
                        shapeText(tensor.shape).c_str());
        }
    }
}

}  // namespace

int runModelsList(const app::ModelLibrary& library, bool looksElsewhere, bool asJsonText) {
    auto models = library.list();
    if (!models) {
        return reportError(models.error());
    }
    const auto elsewhere =
        looksElsewhere ? library.findElsewhere() : std::vector<app::LibraryModel>();
    if (asJsonText) {
        Json json{{"models", Json::array()}, {"elsewhere", Json::array()}};
        for (const auto& model : *models) {
            json["models"].push_back(asJson(model));
        }
        for (const auto& model : elsewhere) {
            json["elsewhere"].push_back(asJson(model));
        }
        printJson(json);
        return kExitOk;
    }
    if (models->empty()) {
        std::fputs("no models yet; try: quern models pull starter\n", stderr);
    }
    for (const auto& model : *models) {
        std::printf("%-44s %10s  %s\n", model.name.c_str(), app::humanBytes(model.bytes).c_str(),
                    model.isLinked ? model.path.c_str() : "");
    }
    if (!elsewhere.empty()) {
        std::printf("\nfound elsewhere (quern models link PATH adds one in place):\n");
        for (const auto& model : elsewhere) {
            std::printf("%-12s %10s  %s\n", model.origin.c_str(),
                        app::humanBytes(model.bytes).c_str(), model.path.c_str());
        }
    }
    return kExitOk;
}

int runModelsInfo(const app::ModelLibrary& library, const std::string& model, bool listsTensors,
                  bool asJsonText) {
    auto path = library.resolve(model);
    if (!path) {
        return reportError(path.error());
    }
    auto info = engine::inspectModel(*path);
    if (!info) {
        return reportError(info.error());
    }
    if (asJsonText) {
        printJson(asJson(*info, listsTensors));
    } else {
        printInfo(*info, listsTensors);
    }
    return kExitOk;
}

int runModelsPull(app::ModelLibrary& library, const std::string& source,
                  InterruptWatcher& interrupts) {
    std::atomic<bool> isCancelled = false;
    interrupts.setHandler([&] { isCancelled = true; });
    const bool isTerminal = ::isatty(STDERR_FILENO) != 0;
    std::string lastStage;
    auto path = library.pull(source, [&](const app::TransferProgress& progress) {
        if (isTerminal) {
            const std::string total =
                progress.totalBytes > 0 ? " of " + app::humanBytes(progress.totalBytes) : "";
            std::fprintf(stderr, "\r%s: %s%s\033[K", progress.stage.c_str(),
                         app::humanBytes(progress.doneBytes).c_str(), total.c_str());
        } else if (progress.stage != lastStage) {
            std::fprintf(stderr, "%s\n", progress.stage.c_str());
        }
        lastStage = progress.stage;
        return !isCancelled.load();
    });
    interrupts.setHandler({});
    if (isTerminal && !lastStage.empty()) {
        std::fputs("\r\033[K", stderr);
    }
    if (!path) {
        return reportError(path.error());
    }
    std::printf("%s\n", path->c_str());
    return kExitOk;
}

int runModelsRemove(app::ModelLibrary& library, const std::string& model) {
    const auto removed = library.remove(model);
    return removed ? kExitOk : reportError(removed.error());
}

int runModelsLink(app::ModelLibrary& library, const std::string& path) {
    const auto linked = library.link(path);
    return linked ? kExitOk : reportError(linked.error());
}

}  // namespace quern::cli
