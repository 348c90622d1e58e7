#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "engine/formats/gguf_metadata.h"
#include "engine/formats/head_norms.h"
#include "engine/formats/hf_names.h"
#include "engine/formats/hf_parameters.h"
#include "engine/formats/hf_pooling.h"
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

// The first that is there; 0 for none.
std::int64_t sizeOf(const Json& object, std::initializer_list<std::string_view> keys) {
    for (const std::string_view key : keys) {
        const auto found = object.find(key);
        if (found != object.end() && found->is_number_integer()) {
            return found->get<std::int64_t>();
        }
    }
    return 0;
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
    info.fileBytes = folder.weights->fileBytes();
    const auto size = [&](std::initializer_list<std::string_view> keys) {
        return sizeOf(folder.config, keys);
    };
    info.contextTokens = size({"max_position_embeddings", "n_positions", "n_ctx"});
    info.layers = size({"num_hidden_layers", "n_layer"});
    info.hiddenSize = size({"hidden_size", "n_embd"});
    info.vocabSize = size({"vocab_size"});
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

// "….weight_scale" or "….weight_scale_inv" (which multiplies, whatever its name says) → "….weight";
// empty for other names.
std::string scaledName(std::string_view name) {
    for (const std::string_view end : {"_scale_inv", "_scale"}) {
        if (name.ends_with(end) && name.substr(0, name.size() - end.size()).ends_with(".weight")) {
            return std::string(name.substr(0, name.size() - end.size()));
        }
    }
    return {};
}

// Scales of activations, which a program with its own activations has no use for.
bool isActivationScale(std::string_view name) {
    return name.ends_with(".input_scale") || name.ends_with(".activation_scale");
}

// The scales of 8-bit matrices, once these have their names.
Status readScales(const Folder& folder, ReadModel& model) {
    std::int64_t tileRows = 128;
    std::int64_t tileCols = 128;
    if (const auto config = folder.config.find("quantization_config");
        config != folder.config.end() && config->is_object()) {
        const auto size = config->find("weight_block_size");
        if (size != config->end() && size->is_array() && size->size() == 2 &&
            (*size)[0].is_number_integer() && (*size)[1].is_number_integer()) {
            tileRows = (*size)[0].get<std::int64_t>();
            tileCols = (*size)[1].get<std::int64_t>();
        }
    }
    for (const SafetensorsEntry& entry : folder.weights->entries()) {
        const std::string matrix = scaledName(entry.name);
        if (matrix.empty() || model.parameters.isGuessingLayer(layerOfHfName(matrix))) {
            continue;
        }
        const HfName name = canonicalHfName(*model.architecture, matrix);
        const auto view = model.tensors->find(name.canonical);
        if (name.kind != HfName::Kind::kKnown || !view || !entry.type) {
            return fail(ErrorCode::kUnsupported,
                        "tensor " + quotedName(entry.name) + " scales none that is known");
        }
        auto scales = WeightScales::create(
            {.type = *entry.type, .shape = entry.shape, .data = entry.data.data()}, view->shape,
            tileRows, tileCols);
        if (!scales) {
            scales.error().message = "tensor " + quotedName(matrix) + ": " + scales.error().message;
            return forward(scales);
        }
        model.scales.emplace(name.canonical, std::move(*scales));
    }
    return {};
}

bool isSequenceClassifier(const Json& config) {
    const auto classes = config.find("architectures");
    return classes != config.end() && classes->is_array() && !classes->empty() &&
           (*classes)[0].is_string() &&
           (*classes)[0].get_ref<const std::string&>().ends_with("ForSequenceClassification");
}

// Puts every tensor of the folder under its canonical name.
Status nameTensors(const Folder& folder, const Architecture& architecture,
                   const Hyperparameters& parameters, TensorTable& table) {
    for (const SafetensorsEntry& entry : folder.weights->entries()) {
        if (!scaledName(entry.name).empty() || isActivationScale(entry.name) ||
            parameters.isGuessingLayer(layerOfHfName(entry.name))) {
            continue;
        }
        const HfName name = canonicalHfName(architecture, entry.name);
        if (name.kind == HfName::Kind::kIgnored ||
            (!parameters.isScorer && name.canonical.starts_with("cls"))) {
            continue;  // a head of another task
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
    auto parameters = readHfParameters(folder->config, *model.architecture, folder->modelType,
                                       folder->weights->entries().size());
    if (!parameters) {
        return forward(parameters);
    }
    model.parameters = std::move(*parameters);
    model.parameters.guessingLayers =
        sizeOf(folder->config, {"num_nextn_predict_layers", "num_mtp_layers"});
    model.isTransposed = model.architecture->isTransposed;
    model.areExpertsInterleaved = model.architecture->experts.isInterleaved;
    model.tensors = std::make_unique<TensorTable>();
    auto modules = readSentenceModules(path);
    if (!modules) {
        return forward(modules);
    }
    if (*modules) {
        model.parameters.pooling = (*modules)->pooling;
        model.info.isNormalized = (*modules)->isNormalized;
        if ((*modules)->mostTokens > 0) {
            model.parameters.contextTokens =
                std::min(model.parameters.contextTokens, (*modules)->mostTokens);
        }
    }
    model.parameters.isScorer = isSequenceClassifier(folder->config);
    if (model.parameters.isScorer && textOf(folder->config, "classifier_pooling") == "mean") {
        model.parameters.pooling = Pooling::kMean;
    }
    if (auto status = nameTensors(*folder, *model.architecture, model.parameters, *model.tensors);
        !status) {
        return forward(status);
    }
    if (auto status = readScales(*folder, model); !status) {
        return forward(status);
    }
    model.tensors->keepFile(folder->weights,
                            [raw = folder->weights.get()] { raw->releasePages(); });
    if (auto status = joinHeadNorms(model.parameters, *model.tensors); !status) {
        return forward(status);
    }
    if (auto status = splitSharedExperts(model.parameters, *model.tensors); !status) {
        return forward(status);
    }
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
