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
    if (model.spec.tokenTypes > 0) {
        keys.u32("tokenizer.ggml.token_type_count",
                 static_cast<std::uint32_t>(model.spec.tokenTypes));
    }
}

// What reading the file back must give: what the format keeps in the tensors themselves is no
// number of the model any more.
ModelSpec specInFile(const ModelSpec& spec) {
    ModelSpec inFile = spec;
    inFile.norm.weightOffset = 0.0F;
    inFile.positionOffset = 0;
    return inFile;
}

}  // namespace

Result<ImportDraft> draftFromFolder(const ImportOptions& options, const QuantMix& mix) {
    auto read = readHfFolder(options.source);
    if (!read) {
        return forward(read);
    }
    const auto model = std::make_shared<const ReadModel>(std::move(*read));
    if (model->architecture->isFolderOnly) {
        return fail(ErrorCode::kUnsupported, "models of architecture '" + model->info.architecture +
                                                 "' cannot be written as GGUF yet; the folder "
                                                 "itself can be used");
    }
    if (model->architecture->isLatent &&
        model->parameters.rope.layout != model->architecture->hfRope) {
        return fail(ErrorCode::kUnsupported,
                    "config.json: rope_interleave is false, for which GGUF has no key; the folder "
                    "itself can be used");
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
    if (!model->info.isNormalized) {
        draft.notes.emplace_back(
            "the folder's vectors keep their length; GGUF has no key for that, so those of the "
            "file "
            "get length 1 where a request does not say otherwise");
    }
    draft.facts = {.layers = model->parameters.layers(),
                   .isHeadTied = model->spec.isHeadTied,
                   .experts = model->parameters.experts.count};
    draft.spec = specInFile(model->spec);
    draft.releasePages = [model] { model->tensors->releasePages(); };
    return draft;
}

}  // namespace quern::engine::convert
