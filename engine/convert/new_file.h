#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>

#include "kernels/result.h"

namespace quern::engine::convert {

/// A file that is there whole or not at all: written under a temporary name beside its own, which
/// it gets when it is finished; removed if that never comes. One thread.
class NewFile {
public:
    /// Checks first that the disk has `bytes` free (kIo says both numbers) and that no file has the
    /// name (kConflict).
    [[nodiscard]] static Result<NewFile> create(const std::filesystem::path& path,
                                                std::int64_t bytes);
    NewFile(NewFile&& other) noexcept;
    NewFile& operator=(NewFile&&) = delete;
    ~NewFile();

    [[nodiscard]] Status append(std::span<const std::byte> bytes);
    /// Zeros up to a multiple of `alignment`.
    [[nodiscard]] Status pad(std::int64_t alignment);
    /// Waits until all is on the disk. The file keeps its temporary name.
    [[nodiscard]] Status flush();
    /// Gives the file its name.
    [[nodiscard]] Status finish();

    [[nodiscard]] const std::filesystem::path& temporaryPath() const { return m_temporary; }

private:
    NewFile(std::filesystem::path path, std::filesystem::path temporary, int file)
        : m_path(std::move(path)), m_temporary(std::move(temporary)), m_file(file) {}

    std::filesystem::path m_path;
    std::filesystem::path m_temporary;  // empty once it has its name
    int m_file = -1;
    std::int64_t m_bytes = 0;
};

}  // namespace quern::engine::convert
