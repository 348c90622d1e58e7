#include "app/storage/file_trouble.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

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

Result<fs::path> setAside(const fs::path& file, std::string_view suffix) {
    const std::string wanted = file.string() + std::string(suffix);
    fs::path kept = wanted;
    std::error_code error;
    for (int number = 2; fs::exists(fs::symlink_status(kept, error)); ++number) {
        kept = wanted + std::to_string(number);
    }
    fs::rename(file, kept, error);
    if (error) {
        return fail(ErrorCode::kIo, file.string() + " cannot be renamed", error.message());
    }
    return kept;
}

}  // namespace quern::app
