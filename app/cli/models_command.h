#pragma once

#include <string>

#include "app/cli/interrupt.h"
#include "app/library/model_library.h"

namespace quern::cli {

/// `quern models list | pull | rm | link`. With `asJson`, one JSON value on standard output.
[[nodiscard]] int runModelsList(const app::ModelLibrary& library, bool looksElsewhere, bool asJson);
/// Notes and progress go to standard error; with `isVerbose` what pip writes too.
[[nodiscard]] int runModelsPull(app::ModelLibrary& library, const std::string& source,
                                bool isVerbose, InterruptWatcher& interrupts);
[[nodiscard]] int runModelsRemove(app::ModelLibrary& library, const std::string& model);
[[nodiscard]] int runModelsLink(app::ModelLibrary& library, const std::string& path);

}  // namespace quern::cli
