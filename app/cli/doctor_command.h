#pragma once

#include "app/library/model_library.h"
#include "app/storage/data_folders.h"

namespace quern::cli {

/// `quern doctor`: what this machine offers and what is wrong with it, a line each, for people and
/// for bug reports (no prompts, no content). Changes no file. Exit 1 when something keeps Quern
/// from working.
[[nodiscard]] int runDoctor(const app::DataFolders& folders, const app::ModelLibrary& library,
                            bool asJson);

}  // namespace quern::cli
