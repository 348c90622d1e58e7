#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/interrupt.h"
#include "app/cli/lora_flags.h"
#include "app/cli/model_flags.h"
#include "app/library/model_library.h"
#include "app/server/server.h"

namespace quern::cli {

struct ServeOptions {
    std::vector<std::string> models;
    std::string host = "127.0.0.1";
    std::uint16_t port = app::kDefaultPort;
    // An empty one is refused: a variable was not set.
    std::optional<std::string> apiKey;
    std::optional<std::string> adminKey;
    LoraFlags lora;
    ModelFlags modelFlags;
};

/// `quern serve`: answers from the start, loads the models, goes on until Ctrl+C or SIGTERM, then
/// lets running requests end for a bounded time. Exit 0 after such an end, be it while a model
/// loads, whose load is cancelled; 2 for values that cannot be, as a context the model does not
/// have, or two models of one name. A load that fails ends it in the same way, with its error's
/// status.
[[nodiscard]] int runServe(const ServeOptions& options, const app::ModelLibrary& library,
                           InterruptWatcher& interrupts);

}  // namespace quern::cli
