#pragma once

#include <optional>
#include <string>

#include "app/cli/interrupt.h"
#include "app/cli/lora_flags.h"
#include "app/cli/model_flags.h"
#include "app/library/model_library.h"

namespace quern::cli {

struct RunOptions {
    std::string model;
    std::optional<std::string> prompt;  // absent or "-": from standard input
    std::string system;
    std::string suffix;  // the reply fills the gap between the prompt and this
    bool isRaw = false;  // the prompt as it is, without a chat template
    bool asJson = false;
    std::int32_t logprobs = -1;
    LoraFlags lora;
    ModelFlags modelFlags;
    SamplingFlags sampling;
};

/// `quern run`: one reply to standard output; notes and figures go to standard error.
[[nodiscard]] int runRun(const RunOptions& options, const app::ModelLibrary& library,
                         InterruptWatcher& interrupts);

}  // namespace quern::cli
