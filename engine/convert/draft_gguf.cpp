#include <utility>

#include "engine/convert/import_draft.h"
#include "engine/formats/gguf.h"
#include "engine/formats/read_model.h"
#include "kernels/quant.h"

namespace quern::engine::convert {

namespace {

// What the new file says in its own way: it is one file, with our alignment.
bool isReplaced(std::string_view key, const ImportOptions& options) {
    return key == "general.file_type" || key == "general.quantization_version" ||
           key == "general.alignment" || key.starts_with("split.") ||
           (key == "general.name" && !options.name.empty());
}

MixFacts factsOf(const GgufFile& file) {
    const GgufMetadata& metadata = file.metadata();
    const std::string architecture(metadata.stringOr("general.architecture", "").value_or(""));
    const auto size = [&](const char* key) {
        return metadata.integerOr(architecture + key, 0).value_or(0);
    };
    return {.layers = size(".block_count"),
            .isHeadTied = file.find("output.weight") == nullptr,
            .experts = size(".expert_count")};
}

}  // namespace

Result<ImportDraft> draftFromGguf(const ImportOptions& options, const QuantMix& mix) {
    auto opened = GgufFile::open(options.source);
    if (!opened) {
        return forward(opened);
    }
    const std::shared_ptr<const GgufFile> file = std::move(*opened);
    ImportDraft draft;
    for (const auto& [key, value] : file->metadata().entries()) {
        if (!isReplaced(key, options)) {
            draft.keys.copy(key, value);
        }
    }
    if (!options.name.empty()) {
        draft.keys.string("general.name", options.name);
    }
    draft.keys.u32("general.file_type", mix.fileType);
    draft.keys.u32("general.quantization_version", 2);
    draft.facts = factsOf(*file);
    bool isQuantizedTwice = false;
    for (const GgufTensor& tensor : file->tensors()) {
        NamedRows named{.name = std::string(tensor.name), .rows = rowsOf(tensor.view)};
        const kernels::DType type =
            typeOfTensor(mix, named.name, named.rows.shape, named.rows.type, draft.facts);
        isQuantizedTwice =
            isQuantizedTwice || (kernels::traits(tensor.view.type).isQuantized &&
                                 kernels::traits(type).isQuantized && tensor.view.type != type);
        draft.tensors.push_back(std::move(named));
    }
    if (isQuantizedTwice) {
        draft.notes.emplace_back(
            "the source is quantized already: rounding twice loses more than once; the model's "
            "original gives a better file");
    }
    // A model that cannot run here can be written all the same: nothing of it is interpreted.
    if (auto read = readGguf(options.source)) {
        draft.spec = std::move(read->spec);
    }
    draft.kept.push_back(file);
    draft.releasePages = [file] { file->releasePages(); };
    return draft;
}

}  // namespace quern::engine::convert
