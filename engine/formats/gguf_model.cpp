#include "engine/formats/gguf.h"

#include <charconv>
#include <string>
#include <utility>

#include "engine/formats/gguf_experts.h"
#include "engine/formats/gguf_parameters.h"
#include "engine/formats/model_facts.h"
#include "engine/formats/read_model.h"
#include "engine/formats/state_tensors.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

std::string describeTokenizer(const GgufMetadata& metadata) {
    const auto model = metadata.stringOr("tokenizer.ggml.model", "");
    const auto splitter = metadata.stringOr("tokenizer.ggml.pre", "");
    if (!model || model->empty()) {
        return {};
    }
    const std::string in =
        splitter && !splitter->empty() ? " (" + std::string(*splitter) + ")" : "";
    if (*model == "gpt2") {
        return "BPE" + in;
    }
    if (*model == "llama") {
        return "SentencePiece BPE";
    }
    if (*model == "bert") {
        return "WordPiece";
    }
    if (*model == "t5") {
        return "Unigram";
    }
    return std::string(*model);
}

// A text of the file for people; empty when absent or of another type.
std::string textOf(const GgufMetadata& metadata, std::string_view key) {
    const auto value = metadata.stringOr(key, "");
    return value ? std::string(*value) : std::string();
}

// Every token must have a row; more rows than tokens is normal (padded tables).
Status checkVocabulary(const GgufFile& file, std::int64_t rows) {
    const auto tokens = file.metadata().strings("tokenizer.ggml.tokens");
    if (!tokens) {
        const bool isAbsent = tokens.error().code == ErrorCode::kNotFound;
        return isAbsent ? Status() : tl::unexpected<Error>(tokens.error());
    }
    if (static_cast<std::int64_t>(tokens->size()) > rows) {
        return fail(ErrorCode::kCorrupt, "tokenizer.ggml.tokens has " +
                                             std::to_string(tokens->size()) +
                                             " tokens, but tensor 'token_embd.weight' has only " +
                                             std::to_string(rows) + " rows");
    }
    return {};
}

// The N of "blk.N.…"; -1 for a tensor of no layer.
std::int64_t layerOfGgufName(std::string_view name) {
    constexpr std::string_view kPrefix = "blk.";
    std::int64_t layer = -1;
    if (name.starts_with(kPrefix)) {
        (void)std::from_chars(name.data() + kPrefix.size(), name.data() + name.size(), layer);
    }
    return layer;
}

// Brings the file's names to canonical ones where they differ.
void renameTensors(const Architecture& architecture, const Hyperparameters& parameters,
                   TensorTable& table) {
    renameGgufState(architecture, parameters, table);
    for (std::int64_t layer = 0; layer < parameters.layers(); ++layer) {
        const std::string prefix = "blk." + std::to_string(layer) + ".";
        // The rules speak of blocks with both norms.
        const bool applies =
            !architecture.ggufNames.empty() &&
            table.has(prefix + std::string(architecture.ggufNames.back().from) + ".weight");
        for (const std::string_view suffix : {".weight", ".bias"}) {
            for (const NameRule& rule : architecture.ggufNames) {
                const std::string from = prefix + std::string(rule.from) + std::string(suffix);
                if (const auto view = table.find(from); applies && view) {
                    table.remove(from);
                    table.set(prefix + std::string(rule.to) + std::string(suffix), *view);
                }
            }
        }
        // Gate and up in one tensor go by the name of the second.
        const bool isFused = architecture.isGated && !table.has(prefix + "ffn_gate.weight");
        for (const std::string_view suffix : {".weight", ".bias"}) {
            const std::string up = prefix + "ffn_up" + std::string(suffix);
            if (const auto view = table.find(up); isFused && view) {
                table.set(prefix + "ffn_gate_up" + std::string(suffix), *view);
                table.remove(up);
            }
        }
    }
}

Result<ModelInfo> describe(const GgufFile& file, const fs::path& path) {
    const GgufMetadata& metadata = file.metadata();
    auto architecture = metadata.string("general.architecture");
    if (!architecture) {
        architecture.error().code = ErrorCode::kCorrupt;
        return forward(architecture);
    }
    ModelInfo info;
    info.path = path;
    info.name = textOf(metadata, "general.name");
    if (info.name.empty()) {
        info.name = path.stem().string();
    }
    info.format = "GGUF v" + std::to_string(file.version());
    info.architecture = *architecture;
    info.license = textOf(metadata, "general.license");
    info.tokenizer = describeTokenizer(metadata);
    info.fileBytes = file.fileBytes();
    const auto size = [&](std::string_view key) {
        return metadata.integerOr(info.architecture + "." + std::string(key), 0).value_or(0);
    };
    info.contextTokens = size("context_length");
    info.layers = size("block_count");
    info.hiddenSize = size("embedding_length");
    const auto tokens = metadata.strings("tokenizer.ggml.tokens");
    info.vocabSize = tokens ? static_cast<std::int64_t>(tokens->size()) : 0;
    for (const GgufTensor& tensor : file.tensors()) {
        addTensor(info, std::string(tensor.name), tensor.view, tensor.bytes);
        if (tensor.name == "token_embd.weight") {
            info.vocabSize = tensor.view.shape.dims[0];
        }
    }
    info.quantization = mostBytesType(info);
    for (const auto& [key, value] : metadata.entries()) {
        info.metadata.emplace_back(key, describeValue(value));
    }
    return info;
}

}  // namespace

Result<ModelInfo> describeGguf(const fs::path& path) {
    auto file = GgufFile::open(path);
    return file ? describe(**file, path) : Result<ModelInfo>(forward(file));
}

Result<ReadModel> readGguf(const fs::path& path) {
    auto opened = GgufFile::open(path);
    if (!opened) {
        return forward(opened);
    }
    const std::shared_ptr<const GgufFile> file = std::move(*opened);
    auto info = describe(*file, path);
    if (!info) {
        return forward(info);
    }
    ReadModel model;
    model.info = std::move(*info);
    model.architecture = architectureOfGguf(model.info.architecture);
    model.tensors = std::make_unique<TensorTable>();
    if (model.architecture == nullptr) {
        return fail(ErrorCode::kUnsupported, whyUnknown(model.info.architecture));
    }
    if (file->tensors().empty()) {
        return fail(ErrorCode::kUnsupported,
                    "the file holds a vocabulary and no tensors: it can tokenize, not generate");
    }
    auto parameters = readGgufParameters(*file, *model.architecture);
    if (!parameters) {
        return forward(parameters);
    }
    model.parameters = std::move(*parameters);
    if (auto status = checkVocabulary(*file, model.parameters.vocabSize); !status) {
        return forward(status);
    }
    for (const GgufTensor& tensor : file->tensors()) {
        if (!model.parameters.isGuessingLayer(layerOfGgufName(tensor.name))) {
            model.tensors->set(std::string(tensor.name), tensor.view);
        }
    }
    model.tensors->keepFile(file, [raw = file.get()] { raw->releasePages(); });
    renameTensors(*model.architecture, model.parameters, *model.tensors);
    renameEarlyExperts(model.parameters, *model.tensors);
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
