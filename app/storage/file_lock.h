#pragma once

#include <filesystem>
#include <string>

#include "kernels/result.h"

namespace quern::app {

/// A lock that programs (and threads) take by a file's name; the kernel frees it when its holder
/// ends, however it ends. The file is made when the lock is taken and removed when it is given
/// back; it holds the process id of the holder. Movable; belongs to one thread at a time.
class FileLock {
public:
    /// kBusy when it is taken: "`what` by another program (process 123) …".
    [[nodiscard]] static Result<FileLock> tryTake(const std::filesystem::path& file,
                                                  const std::string& what);
    /// Waits for it: for locks that are held for moments only.
    [[nodiscard]] static Result<FileLock> take(const std::filesystem::path& file);

    FileLock(FileLock&& other) noexcept;
    FileLock& operator=(FileLock&&) = delete;
    ~FileLock();

private:
    FileLock(std::filesystem::path file, int descriptor);
    [[nodiscard]] static Result<FileLock> takeWith(const std::filesystem::path& file, int operation,
                                                   const std::string& what);

    std::filesystem::path m_file;
    int m_descriptor = -1;  // -1: moved from
};

}  // namespace quern::app
