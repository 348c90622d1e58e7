#pragma once

#include <string>

#include "app/cli/interrupt.h"
#include "app/cli/lora_flags.h"
#include "app/cli/model_flags.h"
#include "app/library/model_library.h"
#include "app/storage/data_folders.h"

namespace quern::cli {

struct ChatOptions {
    std::string model;  // empty: starter
    std::string system;
    bool resumesLast = false;
    LoraFlags lora;
    ModelFlags modelFlags;
    SamplingFlags sampling;
};

/// `quern chat`: a conversation in the terminal, kept with those of the window.
[[nodiscard]] int runChat(const ChatOptions& options, const app::DataFolders& folders,
                          const app::ModelLibrary& library, InterruptWatcher& interrupts);

}  // namespace quern::cli
