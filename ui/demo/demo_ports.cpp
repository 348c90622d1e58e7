#include "ui/demo/demo_ports.h"

#include <algorithm>

#include "ui/core/sizes.h"

namespace quern::ui {

std::optional<std::string> MemorySettings::get(const std::string& key) const {
    const std::lock_guard lock(m_mutex);
    const auto at = m_values.find(key);
    return at == m_values.end() ? std::nullopt : std::optional(at->second);
}

Status MemorySettings::set(const std::string& key, const std::string& value) {
    const std::lock_guard lock(m_mutex);
    m_values[key] = value;
    return {};
}

Result<std::vector<LibraryModel>> DemoLibrary::list() {
    if (m_isEmpty) {
        return std::vector<LibraryModel>{};
    }
    const auto model = [](const char* file, const char* name, const char* architecture,
                          const char* quantization, const char* license, double billions,
                          double gibibytes, std::int64_t context) {
        LibraryModel made;
        made.info.path = std::filesystem::path("/home/ada/.local/share/quern/models") / file;
        made.info.name = name;
        made.info.format = "GGUF v3";
        made.info.architecture = architecture;
        made.info.quantization = quantization;
        made.info.license = license;
        made.info.isSupported = true;
        made.info.parameters = static_cast<std::int64_t>(billions * 1e9);
        made.info.fileBytes = static_cast<std::int64_t>(gibibytes * static_cast<double>(kGiB));
        made.info.weightBytes = made.info.fileBytes;
        made.info.contextTokens = context;
        made.source = "models folder";
        return made;
    };
    std::vector<LibraryModel> models{
        model("qwen3-8b-q4_k_m.gguf", "qwen3-8b", "qwen3", "Q4_K", "apache-2.0", 8.19, 4.68, 40960),
        model("SmolLM2-135M-Instruct.Q4_1.gguf", "SmolLM2 135M Instruct", "llama", "Q4_1",
              "apache-2.0", 0.1345, 0.086, 8192),
        model("gemma-3-270m-q4_k_m.gguf", "gemma-3-270m", "gemma3", "Q4_K", "gemma", 0.268, 0.236,
              32768),
        model("llama-3.3-70b-q4_k_m.gguf", "Llama 3.3 70B Instruct", "llama", "Q4_K", "llama3.3",
              70.6, 39.6, 131072),
        model("mamba-2.8b-f16.gguf", "mamba-2.8b", "mamba", "F16", "apache-2.0", 2.77, 5.16, 2048),
        model("qwen2.5-7b.gguf", "Qwen2.5 7B Instruct", "qwen2", "Q4_K", "apache-2.0", 7.62, 4.36,
              32768),
        model("half-downloaded.gguf", "half-downloaded", "", "", "", 0, 0, 0),
    };
    models[4].info.isSupported = false;
    models[4].info.whyNot = "the architecture \"mamba\" is not one of llama, qwen2, qwen3, gemma3";
    models[5].source = "Ollama";
    models[5].isInPlace = true;
    models[5].isAdded = false;
    models[6].problem =
        "the file ends at byte 1 048 576, but tensor \"blk.3.ffn_up.weight\" needs 412 090 368";
    return models;
}

Status DemoLibrary::add(const std::filesystem::path& model) {
    if (model.extension() != ".gguf") {
        return fail(ErrorCode::kCorrupt, "the file does not begin with \"GGUF\"");
    }
    return {};
}

Status DemoLibrary::forget(const std::filesystem::path&) {
    return {};
}

Result<engine::FitEstimate> DemoLibrary::estimate(const engine::LoadOptions& options) {
    Result<std::vector<LibraryModel>> models = list();
    if (!models) {
        return forward(models);
    }
    for (const LibraryModel& model : *models) {
        if (model.info.path != options.path) {
            continue;
        }
        const std::int64_t context = options.contextTokens > 0
                                         ? options.contextTokens
                                         : std::min<std::int64_t>(8192, model.info.contextTokens);
        const std::int64_t perToken =
            (options.kvType == kernels::DType::kF32 ? 2 : 1) * model.info.parameters / 65536;
        engine::FitEstimate estimate;
        estimate.items = {{"weights", model.info.weightBytes},
                          {"KV cache", options.kvBytes > 0 ? options.kvBytes : context * perToken},
                          {"scratch", 96 * kMiB},
                          {"tokenizer", 18 * kMiB},
                          {"margin", 512 * kMiB}};
        for (const engine::FitItem& item : estimate.items) {
            estimate.totalBytes += item.bytes;
        }
        estimate.freeBytes = 15 * kGiB;
        estimate.contextTokens = context;
        estimate.kvTokens = estimate.items[1].bytes / std::max<std::int64_t>(1, perToken);
        estimate.fit = estimate.totalBytes > estimate.freeBytes           ? engine::Fit::kDoesNotFit
                       : estimate.totalBytes > estimate.freeBytes * 4 / 5 ? engine::Fit::kTight
                                                                          : engine::Fit::kFits;
        if (estimate.fit != engine::Fit::kFits) {
            estimate.advice = "A context of 4 096 instead saves half of the KV cache.";
        }
        return estimate;
    }
    return fail(ErrorCode::kNotFound, "there is no model at this path");
}

std::filesystem::path DemoLibrary::folder() const {
    return "/home/ada/.local/share/quern/models";
}

Status DemoServer::start(const ServerSettings& settings) {
    const std::lock_guard lock(m_mutex);
    if (m_isPortTaken) {
        return fail(ErrorCode::kConflict, "port " + std::to_string(settings.port) +
                                              " is held by another program: node, process 4711");
    }
    m_status = {.isRunning = true,
                .address = "http://" + settings.host + ":" + std::to_string(settings.port),
                .connections = 3,
                .requestsServed = 1284,
                .requestsActive = 2};
    return {};
}

void DemoServer::stop() {
    const std::lock_guard lock(m_mutex);
    m_status = {};
}

ServerStatus DemoServer::status() const {
    const std::lock_guard lock(m_mutex);
    return m_status;
}

}  // namespace quern::ui
