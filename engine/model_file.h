#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/result.h"

namespace quern::engine {

/// How far an import is; called a few times a second on the importing thread, returning false
/// cancels.
struct ImportProgress {
    std::string tensor;  // that is being written
    std::int64_t doneBytes = 0;
    std::int64_t totalBytes = 0;
};

struct ImportOptions {
    std::filesystem::path source;  // a Hugging Face folder, or a GGUF file (of a split model any)
    std::filesystem::path target;  // the GGUF file to be; its folder must be there
    std::string quantization;      // a name of importQuantizations(), in any case
    std::string name;              // what the file calls itself; empty: as the source does
    std::int32_t threads = 0;      // 0: one for each processor
    std::function<bool(const ImportProgress&)> progress;
};

struct ImportReport {
    std::int64_t fileBytes = 0;
    std::vector<std::pair<std::string, std::int64_t>> types;  // bytes by tensor type
    std::vector<std::string> notes;                           // what a person should know
};

/// "F32, F16, BF16, Q8_0, …"
[[nodiscard]] std::string importQuantizations();

/// Writes a model as a GGUF v3 file of that quantization. Streams: no more than a part of one
/// tensor is in memory. The file has its name only when it is whole and reading it back gave the
/// model that the source is; before, and after an error or a cancellation, nothing stays.
/// kNotFound, kCorrupt, kUnsupported as openModel; kConflict when the target is there, kIo when the
/// disk has not the room, kInvalidArgument for an unknown quantization, kCancelled.
[[nodiscard]] Result<ImportReport> importModel(const ImportOptions& options);

}  // namespace quern::engine
