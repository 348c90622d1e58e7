#include "engine/formats/adapter_file.h"

#include <algorithm>
#include <exception>
#include <new>
#include <utility>

#include "engine/formats/gguf.h"
#include "engine/formats/gguf_metadata.h"
#include "engine/formats/tensor_table.h"
#include "kernels/quant.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

Result<AdapterFile> readChecked(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
        return fail(ErrorCode::kNotFound, "no adapter at " + path.string());
    }
    return fs::is_directory(status) ? readPeftAdapter(path) : readGgufAdapter(path);
}

std::int64_t bytesOf(const kernels::TensorView& view) {
    return kernels::rowBytes(view.type, view.shape.cols()).value_or(0) * view.shape.rows();
}

}  // namespace

Result<AdapterFile> readAdapterFile(const fs::path& path) {
    try {
        return readChecked(path);
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::kOutOfMemory, "not enough memory to read the adapter's header");
    } catch (const std::exception& error) {
        return fail(ErrorCode::kInternal, "the adapter's header could not be read", error.what());
    }
}

Result<AdapterInfo> inspectAdapter(const fs::path& adapter) {
    auto file = readAdapterFile(adapter);
    if (!file) {
        return forward(file);
    }
    return std::move(file->info);
}

Status AdapterParts::add(const std::string& part, AdapterHalf half, const std::string& tensor,
                         kernels::TensorView view) {
    const std::string at = "tensor " + quotedName(tensor);
    if (view.shape.rank == 1) {  // GGUF drops ones at the end
        view.shape = {.dims = {1, view.shape.dims[0], 1, 1}, .rank = 2};
    }
    if (view.shape.rank != 2 || view.shape.elements() < 1) {
        return fail(ErrorCode::kCorrupt,
                    at + " has shape " + shapeText(view.shape) + "; a matrix was expected");
    }
    if (auto bytes = kernels::rowBytes(view.type, view.shape.cols()); !bytes) {
        return fail(ErrorCode::kCorrupt, at + ": " + bytes.error().message);
    }
    Part& whole = m_parts[part];
    whole.part.name = part;
    bool& isThere = half == AdapterHalf::kA ? whole.hasA : whole.hasB;
    if (std::exchange(isThere, true)) {
        return fail(ErrorCode::kCorrupt, at + " is there twice");
    }
    (half == AdapterHalf::kA ? whole.part.a : whole.part.b) = view;
    return {};
}

Result<std::vector<AdapterFilePart>> AdapterParts::take() {
    std::vector<AdapterFilePart> parts;
    for (auto& [name, one] : m_parts) {
        const std::string at = "adapter of " + quotedName(name);
        if (!one.hasA || !one.hasB) {
            return fail(ErrorCode::kCorrupt,
                        at + ": its " + (one.hasA ? "B" : "A") + " matrix is missing");
        }
        if (one.part.a.shape.rows() != one.part.b.shape.cols()) {
            return fail(ErrorCode::kCorrupt, at + ": A of shape " + shapeText(one.part.a.shape) +
                                                 " and B of shape " + shapeText(one.part.b.shape) +
                                                 " are of different ranks");
        }
        parts.push_back(std::move(one.part));
    }
    if (parts.empty()) {
        return fail(ErrorCode::kCorrupt, "the adapter holds no matrices");
    }
    return parts;
}

void describeParts(AdapterFile& adapter) {
    for (const AdapterFilePart& part : adapter.parts) {
        adapter.info.rank = std::max(adapter.info.rank, part.a.shape.rows());
        adapter.info.bytes += bytesOf(part.a) + bytesOf(part.b);
    }
    adapter.info.matrices = static_cast<std::int64_t>(adapter.parts.size());
}

}  // namespace quern::engine
