#include "app/library/other_programs.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <nlohmann/json.hpp>

namespace quern::app {

namespace fs = std::filesystem;

namespace {

struct Place {
    const char* program;
    const char* belowHome;
};

constexpr std::array<Place, 7> kPlaces{{
    {"LM Studio", ".lmstudio/models"},
    {"LM Studio", ".cache/lm-studio/models"},
    {"Jan", ".local/share/Jan/data/llamacpp/models"},
    {"Jan", "jan/models"},
    {"GPT4All", ".local/share/nomic.ai/GPT4All"},
    {"llama.cpp", ".cache/llama.cpp"},
    {"Hugging Face", ".cache/huggingface/hub"},
}};

constexpr int kDeepest = 6;

std::int64_t sizeOf(const fs::path& path) {
    std::error_code error;
    const auto size = fs::file_size(path, error);
    return error ? 0 : static_cast<std::int64_t>(size);
}

// The string of that name; empty when there is none or it is something else.
std::string textOf(const nlohmann::json& object, const char* name) {
    if (!object.is_object()) {
        return {};
    }
    const auto found = object.find(name);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void addGgufFiles(const Place& place, const fs::path& folder, std::vector<LibraryModel>& found) {
    std::error_code error;
    fs::recursive_directory_iterator it(folder, fs::directory_options::skip_permission_denied,
                                        error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (it.depth() >= kDeepest) {
            it.disable_recursion_pending();
        }
        if (it->path().extension() == ".gguf" && it->is_regular_file(error)) {
            found.push_back({.name = it->path().stem().string(),
                             .path = it->path(),
                             .origin = place.program,
                             .bytes = sizeOf(it->path()),
                             .isLinked = true});
        }
    }
}

// Ollama keeps GGUF files as blobs named after their digest; a manifest says which one is the
// model.
void addOllamaModels(const fs::path& root, std::vector<LibraryModel>& found) {
    std::error_code error;
    fs::recursive_directory_iterator it(root / "manifests",
                                        fs::directory_options::skip_permission_denied, error);
    for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
        if (!it->is_regular_file(error) || it->file_size(error) > 1 << 20) {
            continue;
        }
        std::ifstream in(it->path());
        const auto manifest = nlohmann::json::parse(in, nullptr, false);
        if (!manifest.is_object() || !manifest.contains("layers") ||
            !manifest["layers"].is_array()) {
            continue;
        }
        for (const auto& layer : manifest["layers"]) {
            if (textOf(layer, "mediaType") != "application/vnd.ollama.image.model") {
                continue;
            }
            std::string digest = textOf(layer, "digest");
            std::replace(digest.begin(), digest.end(), ':', '-');
            const fs::path blob = root / "blobs" / fs::path(digest).filename();
            if (fs::is_regular_file(blob, error)) {
                found.push_back({.name = it->path().parent_path().filename().string() + "-" +
                                         it->path().filename().string(),
                                 .path = blob,
                                 .origin = "Ollama",
                                 .bytes = sizeOf(blob),
                                 .isLinked = true});
            }
        }
    }
}

}  // namespace

std::vector<LibraryModel> modelsOfOtherPrograms(const fs::path& home) {
    std::vector<LibraryModel> found;
    for (const Place& place : kPlaces) {
        addGgufFiles(place, home / place.belowHome, found);
    }
    addOllamaModels(home / ".ollama" / "models", found);
    return found;
}

}  // namespace quern::app
