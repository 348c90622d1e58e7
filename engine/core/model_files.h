#pragma once

#include <filesystem>
#include <map>

namespace quern::engine {

using FileTimes = std::map<std::filesystem::path, std::filesystem::file_time_type>;

/// When each file that a model is read from was written last: a GGUF file, with the others of a
/// split one, or what a Hugging Face folder has of JSON, templates and weights.
[[nodiscard]] FileTimes modelFileTimes(const std::filesystem::path& model);

}  // namespace quern::engine
