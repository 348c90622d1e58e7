#include "app/storage/file_trouble.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <vector>

namespace quern::app {

namespace fs = std::filesystem;

Status checkWritable(const fs::path& path) {
    std::error_code error;
    const int wanted = fs::is_directory(path, error) ? W_OK | X_OK : W_OK;
    if (::faccessat(AT_FDCWD, path.c_str(), wanted, AT_EACCESS) != 0) {
        return fail(ErrorCode::kIo, path.string() + " cannot be written", std::strerror(errno));
    }
    return {};
}

Status checkIsFile(const fs::path& path) {
    std::error_code error;
    const fs::file_status found = fs::status(path, error);
    if (fs::exists(found) && !fs::is_regular_file(found)) {
        return fail(ErrorCode::kIo,
                    path.string() + " is no file: it is a folder, a pipe or a device");
    }
    return {};
}

Result<fs::path> setAside(const fs::path& file, std::string_view suffix,
                          std::span<const std::string_view> beside) {
    std::error_code error;
    const auto isThere = [&error](const fs::path& path) {
        return fs::exists(fs::symlink_status(path, error));
    };
    std::vector<std::string> endings;
    for (const std::string_view ending : beside) {
        if (isThere(file.string() + std::string(ending))) {
            endings.emplace_back(ending);
        }
    }
    endings.emplace_back();
    const std::string wanted = file.string() + std::string(suffix);
    std::string kept = wanted;
    const auto isTaken = [&](const std::string& ending) { return isThere(kept + ending); };
    for (int number = 2; std::any_of(endings.begin(), endings.end(), isTaken); ++number) {
        kept = wanted + std::to_string(number);
    }
    for (auto at = endings.begin(); at != endings.end(); ++at) {
        fs::rename(file.string() + *at, kept + *at, error);
        if (error) {
            const std::string why = error.message();
            while (at != endings.begin()) {
                --at;
                fs::rename(kept + *at, file.string() + *at, error);
            }
            return fail(ErrorCode::kIo, file.string() + " cannot be renamed", why);
        }
    }
    return fs::path(kept);
}

}  // namespace quern::app
