#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>

#include "kernels/result.h"

namespace quern::engine {

/// A file mapped read-only into memory. Immutable; any thread. Where another program has cut the
/// file since, zeros are read; whoever takes bytes over asks a CutWatch whether that happened.
class FileMapping {
public:
    /// kNotFound, kIo (no permission), kUnsupported (not a regular file) or kCorrupt (empty).
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

    /// How often in this process bytes were read that their file no longer had.
    [[nodiscard]] static std::uint64_t cuts();

private:
    FileMapping(std::filesystem::path path, std::span<const std::byte> bytes);
    std::filesystem::path m_path;
    std::span<const std::byte> m_bytes;
};

/// Begins before mapped files are read, and tells after it whether one was cut meanwhile.
class CutWatch {
public:
    /// kIo naming `source` when a file of this process was cut since the watch began.
    [[nodiscard]] Status check(const std::filesystem::path& source) const;

private:
    std::uint64_t m_before = FileMapping::cuts();
};

}  // namespace quern::engine
