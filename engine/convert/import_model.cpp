#include <algorithm>
#include <exception>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "engine/convert/import_draft.h"
#include "engine/convert/new_file.h"
#include "engine/convert/same_model.h"
#include "engine/convert/tensor_writer.h"
#include "engine/formats/file_mapping.h"
#include "engine/formats/gguf.h"
#include "engine/formats/read_model.h"
#include "engine/model_file.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;
using namespace convert;

std::vector<GgufTensorPlan> planTensors(const ImportDraft& draft, const QuantMix& mix) {
    std::vector<GgufTensorPlan> plans;
    for (const NamedRows& tensor : draft.tensors) {
        plans.push_back({.name = tensor.name,
                         .type = typeOfTensor(mix, tensor.name, tensor.rows.shape, tensor.rows.type,
                                              draft.facts),
                         .shape = tensor.rows.shape});
    }
    return plans;
}

Status writeTensors(const ImportDraft& draft, const std::vector<GgufTensorPlan>& plans,
                    const GgufLayout& layout, const ImportOptions& options, NewFile& file) {
    const auto processors = static_cast<std::int32_t>(std::thread::hardware_concurrency());
    TensorWriter writer(file, std::max(options.threads > 0 ? options.threads : processors, 1));
    auto done = static_cast<std::int64_t>(layout.header.size());
    for (std::size_t i = 0; i < plans.size(); ++i) {
        const auto wrote = [&](std::int64_t bytes) {
            done += bytes;
            return !options.progress || options.progress({.tensor = plans[i].name,
                                                          .doneBytes = done,
                                                          .totalBytes = layout.fileBytes});
        };
        Status status = writer.write(draft.tensors[i].rows, plans[i].type, wrote);
        if (status) {
            status = file.pad(kGgufAlignment);
        } else if (status.error().code == ErrorCode::kInvalidArgument) {
            status.error().message =
                "tensor " + quotedName(plans[i].name) + ": " + status.error().message;
        }
        if (!status) {
            return status;
        }
        draft.releasePages();
    }
    return {};
}

/// The file, read again, must be the model that it was made from.
Status checkWritten(const ImportDraft& draft, const fs::path& path) {
    if (!draft.spec) {
        auto file = GgufFile::open(path);
        return file ? Status() : tl::unexpected<Error>(std::move(file.error()));
    }
    auto read = readGguf(path);
    if (!read) {
        return fail(ErrorCode::kUnsupported,
                    "the model cannot be written as GGUF yet: what was written does not read back; "
                    "the source itself can be used",
                    read.error().message);
    }
    if (const auto difference = differenceOf(*draft.spec, read->spec)) {
        return fail(ErrorCode::kUnsupported,
                    "GGUF cannot say all of this model: " + *difference +
                        " would be another in the file; the folder itself can be used");
    }
    return {};
}

Result<ImportReport> importChecked(const ImportOptions& options) {
    auto mix = findQuantMix(options.quantization);
    if (!mix) {
        return forward(mix);
    }
    std::error_code error;
    const CutWatch watch;
    auto draft = fs::is_directory(options.source, error) ? draftFromFolder(options, *mix)
                                                         : draftFromGguf(options, *mix);
    if (!draft) {
        return forward(draft);
    }
    const std::vector<GgufTensorPlan> plans = planTensors(*draft, *mix);
    auto layout = layOut(draft->keys, plans);
    if (!layout) {
        return forward(layout);
    }
    auto file = NewFile::create(options.target, layout->fileBytes);
    if (!file) {
        return forward(file);
    }
    Status status = file->append(std::as_bytes(std::span(layout->header)));
    if (status) {
        status = writeTensors(*draft, plans, *layout, options, *file);
    }
    if (Status uncut = watch.check(options.source); !uncut) {
        status = std::move(uncut);
    }
    if (status) {
        status = checkWritten(*draft, file->temporaryPath());
    }
    if (status) {
        status = file->flush();
    }
    if (status) {
        status = file->finish();
    }
    if (!status) {
        return forward(status);
    }
    ImportReport report{.fileBytes = layout->fileBytes, .types = {}, .notes = draft->notes};
    std::map<std::string_view, std::int64_t> bytes;
    for (std::size_t i = 0; i < plans.size(); ++i) {
        bytes[kernels::traits(plans[i].type).name] += layout->bytes[i];
    }
    report.types.assign(bytes.begin(), bytes.end());
    std::ranges::sort(report.types, std::greater(), &std::pair<std::string, std::int64_t>::second);
    return report;
}

}  // namespace

std::string importQuantizations() {
    return quantMixNames();
}

Result<ImportReport> importModel(const ImportOptions& options) {
    // Libraries below throw when memory runs out, or the file system's encoding is broken.
    try {
        return importChecked(options);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::kOutOfMemory, "not enough memory to import the model");
    } catch (const std::exception& error) {
        return fail(ErrorCode::kInternal, "the model could not be imported", error.what());
    }
}

}  // namespace quern::engine
