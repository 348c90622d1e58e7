#include <set>
#include <string>
#include <utility>

#include "engine/convert/import_draft.h"
#include "engine/convert/shape_keys.h"
#include "engine/convert/tokenizer_keys.h"

namespace quern::engine::convert {

namespace {

constexpr std::uint32_t kQuantizationVersion = 2;  // of the block formats, as GGML counts

void addGeneralKeys(const ReadModel& model, const ImportOptions& options, const QuantMix& mix,
                    GgufKeys& keys) {
    keys.string("general.architecture", model.architecture->gguf);
    keys.string("general.type", "model");
    keys.string("general.name", options.name.empty() ? model.info.name : options.name);
    if (!model.info.license.empty()) {
        keys.string("general.license", model.info.license);
    }
    keys.u32("general.file_type", mix.fileType);
    keys.u32("general.quantization_version", kQuantizationVersion);
}

// Kinds of layers whose tensors a folder holds otherwise than a GGUF file does; empty: none.
std::string layersThatCannotBeWritten(const ModelSpec& spec) {
    std::set<std::string> kinds;
    if (spec.pooling != Pooling::kNone) {
        kinds.insert("pooled vectors");
    }
    for (const LayerSpec& layer : spec.layers) {
        if (stateFloats(layer.state, spec.hiddenSize) > 0) {
            kinds.insert("layers that keep a state");
        }
        if (layer.experts.count > 0) {
            kinds.insert("mixture-of-experts layers");
        }
        if (layer.attention.latent.rank > 0) {
            kinds.insert("multi-head latent attention");
        }
    }
    std::string text;
    for (const std::string& kind : kinds) {
        text += (text.empty() ? "" : " and ") + kind;
    }
    return text;
}

}  // namespace

Result<ImportDraft> draftFromFolder(const ImportOptions& options, const QuantMix& mix) {
    auto read = readHfFolder(options.source);
    if (!read) {
        return forward(read);
    }
    const auto model = std::make_shared<const ReadModel>(std::move(*read));
    if (const std::string missing = layersThatCannotBeWritten(model->spec); !missing.empty()) {
        return fail(ErrorCode::kUnsupported, "folders of architecture '" +
                                                 std::string(model->architecture->gguf) +
                                                 "' cannot be written as GGUF yet: missing are " +
                                                 missing + "; the folder itself can be used");
    }
    ImportDraft draft;
    addGeneralKeys(*model, options, mix, draft.keys);
    auto factors = addShapeKeys(*model, draft.keys);
    if (!factors) {
        return forward(factors);
    }
    auto notes = addTokenizerKeys(options.source, model->parameters.vocabSize, draft.keys);
    if (!notes) {
        return forward(notes);
    }
    draft.notes = std::move(*notes);
    auto tensors = folderTensors(*model);
    if (!tensors) {
        return forward(tensors);
    }
    draft.tensors = std::move(*tensors);
    for (FactorTensor& factor : *factors) {
        const auto values = std::make_shared<const std::vector<float>>(std::move(factor.values));
        const kernels::Shape shape{.dims = {static_cast<std::int64_t>(values->size()), 1, 1, 1},
                                   .rank = 1};
        draft.tensors.push_back(
            {.name = factor.name,
             .rows = rowsOf({.type = kernels::DType::kF32,
                             .shape = shape,
                             .data = reinterpret_cast<const std::byte*>(values->data())})});
        draft.kept.push_back(values);
    }
    draft.facts = {.layers = model->parameters.layers(), .isHeadTied = model->spec.isHeadTied};
    draft.spec = model->spec;
    draft.releasePages = [model] { model->tensors->releasePages(); };
    return draft;
}

}  // namespace quern::engine::convert
