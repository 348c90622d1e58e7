#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

#include "kernels/result.h"

namespace quern::engine {

/// A file mapped read-only into memory. Immutable; any thread. A file that another program cuts
/// while it is mapped is beyond our power: the system then ends the process.
class FileMapping {
public:
    /// kNotFound, kIo (not a regular file, no permission) or kCorrupt (empty).
    [[nodiscard]] static Result<std::shared_ptr<const FileMapping>> open(
        const std::filesystem::path& path);
    ~FileMapping();
    FileMapping(const FileMapping&) = delete;
    FileMapping& operator=(const FileMapping&) = delete;

    /// The whole file; never empty.
    [[nodiscard]] std::span<const std::byte> bytes() const { return m_bytes; }
    [[nodiscard]] const std::filesystem::path& path() const { return m_path; }
    /// Gives resident pages back to the system; they are read again when touched.
    void releasePages() const;

private:
    FileMapping(std::filesystem::path path, std::span<const std::byte> bytes);
    std::filesystem::path m_path;
    std::span<const std::byte> m_bytes;
};

}  // namespace quern::engine
