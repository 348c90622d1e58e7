#include "engine/formats/gguf.h"

#include <array>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string>
#include <utility>

#include "engine/formats/gguf_parser.h"

namespace quern::engine {

namespace {

namespace fs = std::filesystem;

struct OpenedFile {
    std::shared_ptr<const FileMapping> mapping;
    ParsedGguf parsed;
};

// Puts the file's name before an error's message.
template <class T>
tl::unexpected<Error> inFile(const fs::path& path, Result<T>& failed) {
    Error error = std::move(failed.error());
    error.message = path.filename().string() + ": " + error.message;
    return tl::unexpected<Error>(std::move(error));
}

Result<OpenedFile> openOne(const fs::path& path) {
    auto mapping = FileMapping::open(path);
    if (!mapping) {
        return forward(mapping);
    }
    auto parsed = parseGguf((*mapping)->bytes());
    if (!parsed) {
        return inFile(path, parsed);
    }
    return OpenedFile{.mapping = std::move(*mapping), .parsed = std::move(*parsed)};
}

// Where a file stands among the files of a split model.
struct SplitPlace {
    std::int64_t number = 0;
    std::int64_t count = 1;
    std::int64_t tensors = -1;  // of all files; −1: not said
};

Result<SplitPlace> splitPlace(const GgufMetadata& metadata) {
    auto number = metadata.integerOr("split.no", 0);
    auto count = metadata.integerOr("split.count", 1);
    auto tensors = metadata.integerOr("split.tensors.count", -1);
    for (auto* value : {&number, &count, &tensors}) {
        if (!*value) {
            return forward(*value);
        }
    }
    // One file may be written with split.count 0 by tools that did not split.
    const std::int64_t files = *count == 0 ? 1 : *count;
    constexpr std::int64_t kMostFiles = 65535;  // the key is a u16
    if (files < 1 || files > kMostFiles) {
        return fail(ErrorCode::kCorrupt,
                    "split.count is " + std::to_string(*count) + "; 1 to 65535 are allowed");
    }
    if (*number < 0 || *number >= files) {
        return fail(ErrorCode::kCorrupt, "split.no is " + std::to_string(*number) +
                                             "; it must be below split.count " +
                                             std::to_string(files));
    }
    return SplitPlace{.number = *number, .count = files, .tensors = *tensors};
}

std::string splitSuffix(std::int64_t number, std::int64_t count) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "-%05lld-of-%05lld.gguf",
                  static_cast<long long>(number + 1), static_cast<long long>(count));
    return text.data();
}

// The path of a split model's other file, from the path of one.
Result<fs::path> siblingPath(const fs::path& path, const SplitPlace& place, std::int64_t wanted) {
    const std::string name = path.filename().string();
    const std::string suffix = splitSuffix(place.number, place.count);
    if (name.size() <= suffix.size() || !name.ends_with(suffix)) {
        return fail(ErrorCode::kCorrupt, name + ": file " + std::to_string(place.number + 1) +
                                             " of a model split into " +
                                             std::to_string(place.count) + " must be named …" +
                                             suffix);
    }
    return path.parent_path() /
           (name.substr(0, name.size() - suffix.size()) + splitSuffix(wanted, place.count));
}

Result<std::vector<OpenedFile>> openAll(const fs::path& path) {
    auto first = openOne(path);
    if (!first) {
        return forward(first);
    }
    auto place = splitPlace(first->parsed.metadata);
    if (!place) {
        return inFile(path, place);
    }
    std::vector<OpenedFile> files;
    if (place->count == 1) {
        files.push_back(std::move(*first));
        return files;
    }
    std::size_t tensors = 0;
    for (std::int64_t i = 0; i < place->count; ++i) {
        auto sibling = siblingPath(path, *place, i);
        if (!sibling) {
            return forward(sibling);
        }
        auto file = openOne(*sibling);
        if (!file) {
            return forward(file);
        }
        auto itsPlace = splitPlace(file->parsed.metadata);
        if (!itsPlace) {
            return inFile(*sibling, itsPlace);
        }
        if (itsPlace->number != i || itsPlace->count != place->count) {
            return fail(ErrorCode::kCorrupt,
                        sibling->filename().string() + ": split.no and split.count say file " +
                            std::to_string(itsPlace->number + 1) + " of " +
                            std::to_string(itsPlace->count) + ", its name says " +
                            std::to_string(i + 1) + " of " + std::to_string(place->count));
        }
        tensors += file->parsed.tensors.size();
        files.push_back(std::move(*file));
    }
    if (place->tensors >= 0 && static_cast<std::uint64_t>(place->tensors) != tensors) {
        return fail(ErrorCode::kCorrupt, path.filename().string() + ": split.tensors.count says " +
                                             std::to_string(place->tensors) +
                                             " tensors; the files hold " + std::to_string(tensors));
    }
    return files;
}

}  // namespace

Result<std::shared_ptr<const GgufFile>> GgufFile::open(const fs::path& path) {
    auto files = openAll(path);
    if (!files) {
        return forward(files);
    }
    const std::shared_ptr<GgufFile> gguf(new GgufFile());
    gguf->m_version = files->front().parsed.version;
    gguf->m_metadata = std::move(files->front().parsed.metadata);
    for (OpenedFile& file : *files) {
        for (const GgufTensor& tensor : file.parsed.tensors) {
            if (!gguf->m_index.emplace(tensor.name, gguf->m_tensors.size()).second) {
                return fail(ErrorCode::kCorrupt, file.mapping->path().filename().string() +
                                                     ": tensor " + quotedName(tensor.name) +
                                                     " is in another file of the model already");
            }
            gguf->m_tensors.push_back(tensor);
        }
        gguf->m_mappings.push_back(std::move(file.mapping));
    }
    return gguf;
}

bool GgufFile::isGguf(const fs::path& path) {
    std::error_code ignored;
    if (!fs::is_regular_file(path, ignored)) {
        return false;
    }
    std::ifstream in(path, std::ios::binary);
    std::array<char, 4> magic{};
    return in.read(magic.data(), magic.size()) && std::string_view(magic.data(), 4) == "GGUF";
}

const GgufTensor* GgufFile::find(std::string_view name) const {
    const auto found = m_index.find(name);
    return found == m_index.end() ? nullptr : &m_tensors[found->second];
}

std::int64_t GgufFile::fileBytes() const {
    std::int64_t bytes = 0;
    for (const auto& mapping : m_mappings) {
        bytes += static_cast<std::int64_t>(mapping->bytes().size());
    }
    return bytes;
}

void GgufFile::releasePages() const {
    for (const auto& mapping : m_mappings) {
        mapping->releasePages();
    }
}

}  // namespace quern::engine
