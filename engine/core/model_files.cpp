#include "engine/core/model_files.h"

#include <string>
#include <string_view>

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

bool isReadOfFolder(const fs::path& file) {
    const fs::path extension = file.extension();
    return extension == ".json" || extension == ".jinja" || extension == ".safetensors";
}

// Whether two names differ in the number alone: "m-00001-of-00003.gguf".
bool areOfOneSplit(std::string_view a, std::string_view b) {
    constexpr std::size_t kTail = std::string_view("-of-00003.gguf").size();
    constexpr std::size_t kNumber = 5;
    if (a.size() != b.size() || a.size() <= kTail + kNumber) {
        return false;
    }
    const std::size_t number = a.size() - kTail - kNumber;
    return a.substr(0, number) == b.substr(0, number) &&
           a.substr(number + kNumber) == b.substr(number + kNumber) &&
           a.substr(a.size() - kTail).starts_with("-of-");
}

}  // namespace

FileTimes modelFileTimes(const fs::path& model) {
    std::error_code ignored;
    const bool isFolder = fs::is_directory(model, ignored);
    FileTimes times;
    if (!isFolder) {
        times[model] = fs::last_write_time(model, ignored);
    }
    const std::string name = model.filename().string();
    const fs::path folder = isFolder ? model : model.parent_path();
    for (const auto& entry : fs::directory_iterator(folder.empty() ? "." : folder, ignored)) {
        const fs::path& file = entry.path();
        const bool isRead =
            isFolder ? isReadOfFolder(file) : areOfOneSplit(name, file.filename().string());
        if (isRead && entry.is_regular_file(ignored)) {
            times[file] = entry.last_write_time(ignored);
        }
    }
    return times;
}

}  // namespace quern::engine
