#include "engine/formats/hf_pooling.h"

#include <string>
#include <utility>

#include "engine/formats/gguf_metadata.h"
#include "engine/formats/json_file.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

std::string textOf(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool isOn(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

// A folder's own module lies in a folder below it, whatever modules.json says.
Result<fs::path> moduleFolder(const fs::path& folder, const Json& module) {
    const std::string path = textOf(module, "path");
    if (path.empty()) {
        return folder;
    }
    if (path.find("..") != std::string::npos || path.find('/') != std::string::npos) {
        return fail(ErrorCode::kCorrupt,
                    "modules.json: " + quotedName(path) + " is no folder of the model");
    }
    return folder / path;
}

Result<Pooling> readPooling(const fs::path& folder) {
    struct Mode {
        const char* key;
        std::optional<Pooling> pooling;
    };
    const auto config = readJsonFile(folder / "config.json");
    if (!config) {
        return tl::unexpected<Error>(config.error());
    }
    if (!config->is_object()) {
        return fail(ErrorCode::kCorrupt, "the pooling's config.json is no object");
    }
    std::optional<Pooling> chosen;
    for (const Mode& mode :
         {Mode{"pooling_mode_cls_token", Pooling::kFirst},
          Mode{"pooling_mode_mean_tokens", Pooling::kMean},
          Mode{"pooling_mode_lasttoken", Pooling::kLast}, Mode{"pooling_mode_max_tokens", {}},
          Mode{"pooling_mode_mean_sqrt_len_tokens", {}},
          Mode{"pooling_mode_weightedmean_tokens", {}}}) {
        if (!isOn(*config, mode.key)) {
            continue;
        }
        if (!mode.pooling || chosen) {
            return fail(ErrorCode::kUnsupported,
                        "the pooling's config.json: " + std::string(mode.key) +
                            (chosen ? " beside another one" : "") +
                            " is not supported; the first token, the last one and the mean are");
        }
        chosen = mode.pooling;
    }
    // The default of the class that reads it.
    return chosen.value_or(Pooling::kMean);
}

std::int64_t readMostTokens(const fs::path& folder) {
    const auto config = readJsonFile(folder / "sentence_bert_config.json");
    if (!config || !config->is_object()) {
        return 0;
    }
    const auto found = config->find("max_seq_length");
    return found != config->end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

}  // namespace

Result<std::optional<SentenceModules>> readSentenceModules(const fs::path& folder) {
    const auto list = readJsonFile(folder / "modules.json");
    if (!list) {
        if (list.error().code == ErrorCode::kNotFound) {
            return std::optional<SentenceModules>();
        }
        return tl::unexpected<Error>(list.error());
    }
    if (!list->is_array()) {
        return fail(ErrorCode::kCorrupt, "modules.json is no list");
    }
    SentenceModules modules;
    for (const Json& module : *list) {
        const std::string type = module.is_object() ? textOf(module, "type") : std::string();
        const std::string name = type.substr(type.rfind('.') + 1);
        if (name == "Transformer") {
            continue;
        }
        if (name == "Normalize") {
            modules.isNormalized = true;
            continue;
        }
        if (name != "Pooling") {
            return fail(ErrorCode::kUnsupported,
                        "modules.json: a module of type " + quotedName(type) +
                            " is not supported; Transformer, Pooling and Normalize are");
        }
        const auto at = moduleFolder(folder, module);
        if (!at) {
            return tl::unexpected<Error>(at.error());
        }
        const auto pooling = readPooling(*at);
        if (!pooling) {
            return tl::unexpected<Error>(pooling.error());
        }
        modules.pooling = *pooling;
    }
    modules.mostTokens = readMostTokens(folder);
    return std::optional<SentenceModules>(modules);
}

}  // namespace quern::engine
