#include <optional>
#include <string>
#include <utility>

#include "engine/formats/gguf_metadata.h"
#include "engine/formats/hf_names.h"
#include "engine/formats/hf_parameters.h"
#include "engine/formats/json_file.h"
#include "engine/formats/model_facts.h"
#include "engine/formats/read_model.h"
#include "engine/formats/safetensors.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostCardBytes = 64 * 1024;

struct Folder {
    Json config;  // of the text model
    std::string modelType;
    std::shared_ptr<const SafetensorsModel> weights;
};

std::string textOf(const Json& object, std::string_view key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t sizeOf(const Json& object, std::string_view key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
}

// The whole of a small text file; empty when there is none.
std::string readText(const fs::path& path) {
    const auto mapping = FileMapping::open(path);
    if (!mapping) {
        return {};
    }
    constexpr std::size_t kMostBytes = std::size_t{16} << 20U;
    const auto bytes = (*mapping)->bytes();
    return {reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kMostBytes)};
}

// The standard template: a file of its own, or in tokenizer_config.json as text or in a list.
std::string readChatTemplate(const fs::path& folder) {
    if (std::string text = readText(folder / "chat_template.jinja"); !text.empty()) {
        return text;
    }
    const auto config = readJsonFile(folder / "tokenizer_config.json");
    if (!config || !config->is_object() || !config->contains("chat_template")) {
        return {};
    }
    const Json& found = (*config)["chat_template"];
    if (found.is_array()) {
        for (const Json& named : found) {
            if (named.is_object() && textOf(named, "name") == "default") {
                return textOf(named, "template");
            }
        }
    }
    return textOf(*config, "chat_template");
}

// "license: apache-2.0" in the front matter of a model card.
std::string readLicense(const fs::path& folder) {
    const std::string card = readText(folder / "README.md").substr(0, kMostCardBytes);
    constexpr std::string_view kKey = "\nlicense:";
    if (!card.starts_with("---")) {
        return {};
    }
    const std::string matter = card.substr(0, card.find("\n---", 3));
    const std::size_t at = matter.find(kKey);
    if (at == std::string::npos) {
        return {};
    }
    const std::size_t from = matter.find_first_not_of(" \"'", at + kKey.size());
    const std::size_t end = matter.find_first_of("\r\n\"'", from);
    return from == std::string::npos ? std::string() : matter.substr(from, end - from);
}

Result<Folder> openFolder(const fs::path& path) {
    auto config = readJsonFile(path / "config.json");
    if (!config) {
        return forward(config);
    }
    if (!config->is_object()) {
        return fail(ErrorCode::kCorrupt, "config.json is no object");
    }
    auto weights = SafetensorsModel::open(path);
    if (!weights) {
        return forward(weights);
    }
    Folder folder{.config = std::move(*config), .modelType = {}, .weights = std::move(*weights)};
    folder.modelType = textOf(folder.config, "model_type");
    // Models for several modalities keep the text model's values in a part of their own.
    if (const auto text = folder.config.find("text_config");
        text != folder.config.end() && text->is_object()) {
        Json inner = *text;
        for (const char* key : {"tie_word_embeddings", "quantization_config"}) {
            if (!inner.contains(key) && folder.config.contains(key)) {
                inner[key] = folder.config[key];
            }
        }
        folder.config = std::move(inner);
    }
    if (folder.modelType.empty()) {
        return fail(ErrorCode::kCorrupt, "config.json: model_type is missing");
    }
    return folder;
}

// MXFP4 lies in two tensors, blocks [experts, rows, groups, 16] and scales [experts, rows, groups]:
// what they are together.
std::optional<kernels::TensorView> wholeOfMxfp4(const SafetensorsEntry& entry) {
    const kernels::Shape& blocks = entry.shape;
    if (!entry.name.ends_with("_blocks") || entry.dtype != "U8" || blocks.rank != 4 ||
        blocks.dims[3] != 16) {
        return std::nullopt;
    }
    return kernels::TensorView{
        .type = kernels::DType::kMXFP4,
        .shape = {.dims = {blocks.dims[0], blocks.dims[1], blocks.dims[2] * 32, 1}, .rank = 3}};
}

ModelInfo describe(const Folder& folder, const fs::path& path) {
    ModelInfo info;
    info.path = path;
    const fs::path clean = path.has_filename() ? path : path.parent_path();
    info.name = clean.filename().string();
    info.format = "Hugging Face folder";
    info.architecture = folder.modelType;
    info.license = readLicense(path);
    std::error_code ignored;
    info.tokenizer = fs::exists(path / "tokenizer.json", ignored) ? "tokenizer.json" : "";
    info.chatTemplate = readChatTemplate(path);
    info.fileBytes = folder.weights->fileBytes();
    info.contextTokens = sizeOf(folder.config, "max_position_embeddings");
    info.layers = sizeOf(folder.config, "num_hidden_layers");
    info.hiddenSize = sizeOf(folder.config, "hidden_size");
    info.vocabSize = sizeOf(folder.config, "vocab_size");
    for (const SafetensorsEntry& entry : folder.weights->entries()) {
        if (const auto whole = wholeOfMxfp4(entry)) {
            addTensor(info, entry.name, *whole,
                      kernels::rowBytes(whole->type, whole->shape.cols()).value_or(0) *
                          whole->shape.rows());
        } else if (entry.type) {
            addTensor(info, entry.name, {.type = *entry.type, .shape = entry.shape},
                      static_cast<std::int64_t>(entry.data.size()));
        }
    }
    info.quantization = mostBytesType(info);
    for (const auto& [key, value] : folder.config.items()) {
        constexpr std::size_t kShown = 256;
        std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
        if (text.size() > kShown) {
            text = text.substr(0, kShown) + "…";
        }
        info.metadata.emplace_back(key, std::move(text));
    }
    return info;
}

// Puts every tensor of the folder under its canonical name.
Status nameTensors(const Folder& folder, const Architecture& architecture, TensorTable& table) {
    for (const SafetensorsEntry& entry : folder.weights->entries()) {
        const HfName name = canonicalHfName(architecture, entry.name);
        if (name.kind == HfName::Kind::kIgnored) {
            continue;
        }
        const std::string at = "tensor " + quotedName(entry.name);
        if (name.kind == HfName::Kind::kUnknown) {
            return fail(ErrorCode::kUnsupported, at + " is none that architecture '" +
                                                     folder.modelType +
                                                     "' is known to have; leaving it out would "
                                                     "change the model");
        }
        // Parts of MXFP4 blocks are put together later, byte by byte.
        const bool isPart =
            name.canonical.ends_with(".blocks") || name.canonical.ends_with(".scales");
        if (isPart && entry.dtype == "U8") {
            table.set(
                name.canonical,
                {.type = kernels::DType::kI8, .shape = entry.shape, .data = entry.data.data()});
            continue;
        }
        if (!entry.type) {
            return fail(ErrorCode::kUnsupported,
                        at + ": dtype " + entry.dtype +
                            " cannot be computed with; F32, F16, BF16 and F8 can");
        }
        if (table.has(name.canonical)) {
            return fail(ErrorCode::kCorrupt, at + " is there under another name already");
        }
        table.set(name.canonical,
                  {.type = *entry.type, .shape = entry.shape, .data = entry.data.data()});
    }
    return {};
}

}  // namespace

Result<ModelInfo> describeHfFolder(const fs::path& path) {
    auto folder = openFolder(path);
    return folder ? describe(*folder, path) : Result<ModelInfo>(forward(folder));
}

Result<ReadModel> readHfFolder(const fs::path& path) {
    auto folder = openFolder(path);
    if (!folder) {
        return forward(folder);
    }
    ReadModel model;
    model.info = describe(*folder, path);
    model.architecture = architectureOfModelType(folder->modelType);
    if (model.architecture == nullptr) {
        return fail(ErrorCode::kUnsupported, whyUnknown(folder->modelType));
    }
    auto parameters =
        readHfParameters(folder->config, *model.architecture, folder->weights->entries().size());
    if (!parameters) {
        return forward(parameters);
    }
    model.parameters = std::move(*parameters);
    model.isTransposed = model.architecture->isTransposed;
    model.areExpertsInterleaved = model.architecture->experts.isInterleaved;
    model.tensors = std::make_unique<TensorTable>();
    if (auto status = nameTensors(*folder, *model.architecture, *model.tensors); !status) {
        return forward(status);
    }
    model.tensors->keepFile(folder->weights,
                            [raw = folder->weights.get()] { raw->releasePages(); });
    if (auto status = checkTensors(*model.architecture, model.parameters, *model.tensors);
        !status) {
        return forward(status);
    }
    auto spec = makeSpec(*model.architecture, model.parameters, *model.tensors);
    if (!spec) {
        return forward(spec);
    }
    model.spec = std::move(*spec);
    completeInfo(model.spec, model.info);
    return model;
}

}  // namespace quern::engine
