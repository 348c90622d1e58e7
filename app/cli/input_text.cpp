#include "app/cli/input_text.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

namespace quern::cli {

namespace {

struct FileCloser {
    void operator()(std::FILE* file) const { std::fclose(file); }
};

Result<std::string> readAll(std::FILE* file, const std::string& name, std::size_t most) {
    std::string text;
    std::array<char, 65536> bytes{};
    while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), file)) {
        if (count > most - text.size()) {
            return fail(
                ErrorCode::kInvalidArgument,
                name + " has more than the " + std::to_string(most >> 20) + " MiB that are read");
        }
        text.append(bytes.data(), count);
    }
    if (std::ferror(file) != 0) {
        const int why = errno;
        return fail(why == EISDIR ? ErrorCode::kInvalidArgument : ErrorCode::kIo,
                    name + " cannot be read", std::strerror(why));
    }
    return text;
}

}  // namespace

Result<std::string> readStandardInput(std::size_t most) {
    return readAll(stdin, "standard input", most);
}

Result<std::string> readInputFile(const std::filesystem::path& path, std::size_t most) {
    const std::unique_ptr<std::FILE, FileCloser> file(std::fopen(path.c_str(), "rbe"));
    if (file == nullptr) {
        const int why = errno;
        return fail(why == ENOENT || why == ENOTDIR ? ErrorCode::kInvalidArgument : ErrorCode::kIo,
                    "cannot open " + path.string(), std::strerror(why));
    }
    return readAll(file.get(), path.string(), most);
}

}  // namespace quern::cli
