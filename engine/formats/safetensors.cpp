#include "engine/formats/safetensors.h"

#include <set>
#include <unordered_map>
#include <utility>

#include "engine/formats/gguf_metadata.h"
#include "engine/formats/json_file.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

constexpr const char* kSingleName = "model.safetensors";
constexpr const char* kIndexName = "model.safetensors.index.json";

struct FileNames {
    std::set<std::string> files;
    Json weightMap;  // tensor → file; null for a single file
};

Result<FileNames> readIndex(const fs::path& path) {
    auto index = readJsonFile(path);
    if (!index) {
        return forward(index);
    }
    const std::string what = path.filename().string();
    if (!index->is_object() || !index->contains("weight_map") ||
        !(*index)["weight_map"].is_object()) {
        return fail(ErrorCode::kCorrupt, what + ": weight_map is missing or no object");
    }
    FileNames names{.files = {}, .weightMap = std::move((*index)["weight_map"])};
    for (const auto& [tensor, file] : names.weightMap.items()) {
        const std::string name = file.is_string() ? file.get<std::string>() : std::string();
        // A name, not a path: an index must not reach out of its folder.
        if (name.empty() || name == "." || name == ".." || name.find('/') != std::string::npos ||
            name.find('\0') != std::string::npos) {
            return fail(ErrorCode::kCorrupt, what + ": weight_map: tensor " + quotedName(tensor) +
                                                 " names no file of the folder");
        }
        names.files.insert(name);
    }
    if (names.files.empty()) {
        return fail(ErrorCode::kCorrupt, what + ": weight_map names no file");
    }
    return names;
}

Result<FileNames> findFiles(const fs::path& folder) {
    std::error_code ignored;
    if (fs::exists(folder / kSingleName, ignored)) {
        return FileNames{.files = {kSingleName}, .weightMap = {}};
    }
    if (fs::exists(folder / kIndexName, ignored)) {
        return readIndex(folder / kIndexName);
    }
    return fail(ErrorCode::kNotFound,
                folder.filename().string() + " has neither " + kSingleName + " nor " + kIndexName);
}

}  // namespace

Result<std::shared_ptr<const SafetensorsModel>> SafetensorsModel::open(const fs::path& folder) {
    auto names = findFiles(folder);
    if (!names) {
        return forward(names);
    }
    const std::shared_ptr<SafetensorsModel> model(new SafetensorsModel());
    std::unordered_map<std::string, const std::string*> seen;  // tensor → its file
    for (const std::string& file : names->files) {
        auto mapping = FileMapping::open(folder / file);
        if (!mapping) {
            return forward(mapping);
        }
        auto entries = parseSafetensors((*mapping)->bytes());
        if (!entries) {
            entries.error().message = file + ": " + entries.error().message;
            return forward(entries);
        }
        for (SafetensorsEntry& entry : *entries) {
            const auto [place, isNew] = seen.emplace(entry.name, &file);
            if (!isNew) {
                return fail(ErrorCode::kCorrupt, file + ": tensor " + quotedName(entry.name) +
                                                     " is in " + quotedName(*place->second) +
                                                     " already");
            }
            model->m_entries.push_back(std::move(entry));
        }
        model->m_mappings.push_back(std::move(*mapping));
    }
    for (const auto& [tensor, file] : names->weightMap.items()) {
        const auto found = seen.find(tensor);
        const auto& named = file.get_ref<const std::string&>();
        if (found == seen.end() || *found->second != named) {
            return fail(ErrorCode::kCorrupt, std::string(kIndexName) + ": weight_map has tensor " +
                                                 quotedName(tensor) + " in " + quotedName(named) +
                                                 ", which does not hold it");
        }
    }
    return model;
}

std::int64_t SafetensorsModel::fileBytes() const {
    std::int64_t bytes = 0;
    for (const auto& mapping : m_mappings) {
        bytes += static_cast<std::int64_t>(mapping->bytes().size());
    }
    return bytes;
}

void SafetensorsModel::releasePages() const {
    for (const auto& mapping : m_mappings) {
        mapping->releasePages();
    }
}

}  // namespace quern::engine
