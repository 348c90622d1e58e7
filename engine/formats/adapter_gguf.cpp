#include <cmath>
#include <string>
#include <utility>

#include "engine/formats/adapter_file.h"
#include "engine/formats/gguf.h"

namespace quern::engine {

namespace {

// "blk.0.attn_q.weight.lora_a" → "blk.0.attn_q.weight"; empty for other names.
std::string_view withoutEnd(std::string_view name, std::string_view end) {
    return name.ends_with(end) ? name.substr(0, name.size() - end.size()) : std::string_view();
}

Status addTensor(const GgufTensor& tensor, AdapterParts& parts) {
    const std::string name(tensor.name);
    if (const auto matrix = withoutEnd(tensor.name, ".lora_a"); !matrix.empty()) {
        return parts.add(std::string(matrix), AdapterHalf::kA, name, tensor.view);
    }
    if (const auto matrix = withoutEnd(tensor.name, ".lora_b"); !matrix.empty()) {
        return parts.add(std::string(matrix), AdapterHalf::kB, name, tensor.view);
    }
    return fail(ErrorCode::kUnsupported,
                "tensor " + quotedName(name) +
                    " is neither A nor B of a matrix; leaving it out would change the adapter");
}

// A text that must be there and say `wanted`.
Status mustSay(const GgufMetadata& metadata, std::string_view key, std::string_view wanted,
               const std::string& whatElse) {
    auto value = metadata.stringOr(key, "");
    if (!value) {
        return forward(value);
    }
    if (*value != wanted) {
        return fail(ErrorCode::kUnsupported,
                    std::string(key) + " is " + quotedName(*value) + ": " + whatElse);
    }
    return {};
}

}  // namespace

Result<AdapterFile> readGgufAdapter(const std::filesystem::path& path) {
    auto opened = GgufFile::open(path);
    if (!opened) {
        return forward(opened);
    }
    const std::shared_ptr<const GgufFile> file = std::move(*opened);
    const GgufMetadata& metadata = file->metadata();
    if (auto status =
            mustSay(metadata, "general.type", "adapter", "the file holds no adapter of a model");
        !status) {
        return forward(status);
    }
    if (auto status = mustSay(metadata, "adapter.type", "lora", "only LoRA adapters can be read");
        !status) {
        return forward(status);
    }
    if (metadata.has("adapter.alora.invocation_tokens")) {
        return fail(ErrorCode::kUnsupported,
                    "adapter.alora.invocation_tokens: adapters that begin in the middle of a "
                    "prompt are not supported");
    }
    const auto architecture = metadata.string("general.architecture");
    if (!architecture) {
        return fail(ErrorCode::kCorrupt, architecture.error().message);
    }
    auto alpha = metadata.numberOr("adapter.lora.alpha", 0.0);
    if (!alpha) {
        return forward(alpha);
    }
    AdapterParts parts;
    for (const GgufTensor& tensor : file->tensors()) {
        if (auto status = addTensor(tensor, parts); !status) {
            return forward(status);
        }
    }
    auto taken = parts.take();
    if (!taken) {
        return forward(taken);
    }
    AdapterFile adapter{
        .info = {.path = path, .format = "GGUF v" + std::to_string(file->version()), .base = {}},
        .isGguf = true,
        .architecture = std::string(*architecture),
        .parts = std::move(*taken),
        .file = file};
    const auto base = metadata.stringOr("general.base_model.0.name", "");
    adapter.info.base = base ? std::string(*base) : std::string();
    for (AdapterFilePart& part : adapter.parts) {
        // No alpha: the numbers are as they are to be added.
        part.scale = *alpha == 0.0
                         ? 1.0F
                         : static_cast<float>(*alpha / static_cast<double>(part.a.shape.rows()));
        if (!std::isfinite(part.scale)) {
            return fail(ErrorCode::kCorrupt, "adapter.lora.alpha is no finite number");
        }
    }
    describeParts(adapter);
    return adapter;
}

}  // namespace quern::engine
