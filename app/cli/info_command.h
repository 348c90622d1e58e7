#pragma once

#include <filesystem>

namespace quern::cli {

struct InfoOptions {
    std::filesystem::path model;
    bool listsTensors = false;
    bool listsMetadata = false;
    bool asJson = false;
};

/// `quern models info`: what a file or folder says of itself, from its headers, also where it
/// cannot run here.
[[nodiscard]] int runModelsInfo(const InfoOptions& options);

}  // namespace quern::cli
