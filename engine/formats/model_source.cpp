#include "engine/formats/model_source.h"

#include <exception>
#include <utility>

#include "engine/formats/adapter_source.h"
#include "engine/formats/gguf.h"
#include "engine/formats/read_model.h"
#include "engine/formats/rewritten.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

enum class Format { kGguf, kHfFolder };

Result<Format> recognize(const fs::path& model) {
    std::error_code error;
    const fs::file_status status = fs::status(model, error);
    if (!fs::exists(status)) {
        return fail(ErrorCode::kNotFound, "no model at " + model.string());
    }
    if (fs::is_directory(status)) {
        if (!fs::exists(model / "config.json", error)) {
            return fail(
                ErrorCode::kNotFound,
                "folder " + model.string() + " has no config.json: it is no Hugging Face model");
        }
        return Format::kHfFolder;
    }
    // What is no GGUF file is told by its reader, which names the magic.
    return Format::kGguf;
}

Result<ReadModel> readModel(const fs::path& model) {
    auto format = recognize(model);
    if (!format) {
        return forward(format);
    }
    auto read = *format == Format::kGguf ? readGguf(model) : readHfFolder(model);
    if (read) {
        read->info.rewritten = rewrittenWeights(*read);
    }
    return read;
}

Result<ModelInfo> describeUnsupported(const fs::path& model, std::string whyNot) {
    auto format = recognize(model);
    if (!format) {
        return forward(format);
    }
    auto info = *format == Format::kGguf ? describeGguf(model) : describeHfFolder(model);
    if (info) {
        info->whyNot = std::move(whyNot);
    }
    return info;
}

Result<ModelSource> openChecked(const fs::path& model, const AdmitModel& admit) {
    auto read = readModel(model);
    if (!read) {
        return forward(read);
    }
    if (admit) {
        if (Status status = admit(read->info); !status) {
            return forward(status);
        }
    }
    if (auto status = arrangeTensors(*read); !status) {
        return forward(status);
    }
    const auto format = recognize(model);
    const bool isGguf = format && *format == Format::kGguf;
    auto layout =
        std::make_shared<MatrixLayout>(MatrixLayout{.architecture = read->architecture,
                                                    .parameters = std::move(read->parameters),
                                                    .isGguf = isGguf});
    return ModelSource{.info = std::move(read->info),
                       .spec = std::move(read->spec),
                       .layout = std::move(layout),
                       .tensors = std::move(read->tensors)};
}

Result<ModelInfo> inspectChecked(const fs::path& model) {
    auto read = readModel(model);
    if (read) {
        return std::move(read->info);
    }
    if (read.error().code == ErrorCode::kUnsupported) {
        return describeUnsupported(model, read.error().message);
    }
    return forward(read);
}

// Libraries below throw only when memory runs out, or the file system's encoding is broken.
template <class Read>
auto guarded(const fs::path& model, Read read) -> decltype(read(model)) {
    try {
        return read(model);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::kOutOfMemory, "not enough memory to read the model");
    } catch (const std::exception& error) {
        return fail(ErrorCode::kInternal, "the model could not be read", error.what());
    }
}

}  // namespace

Result<ModelSource> openModel(const fs::path& model, const AdmitModel& admit) {
    return guarded(model, [&](const fs::path& path) { return openChecked(path, admit); });
}

Result<ModelInfo> inspectModel(const fs::path& model) {
    return guarded(model, inspectChecked);
}

}  // namespace quern::engine
