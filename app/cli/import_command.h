#pragma once

#include <filesystem>
#include <string>

#include "app/cli/interrupt.h"
#include "app/storage/data_folders.h"

namespace quern::cli {

struct ImportCommandOptions {
    std::filesystem::path source;
    std::string quantization = "Q4_K_M";
    std::string name;
    std::filesystem::path output;  // empty: NAME-QUANTIZATION.gguf in the models folder
    bool asJson = false;
};

/// `quern models import`: writes a GGUF file, progress to standard error, the new file's path to
/// standard output. Ctrl+C leaves nothing.
int runModelsImport(const ImportCommandOptions& options, const app::DataFolders& folders,
                    InterruptWatcher& interrupts);

}  // namespace quern::cli
