#pragma once

#include <vector>

#include "app/library/model_library.h"

namespace quern::app {

/// Models in the folders that other programs use by default, below the home folder.
[[nodiscard]] std::vector<LibraryModel> modelsOfOtherPrograms(const std::filesystem::path& home);

}  // namespace quern::app
