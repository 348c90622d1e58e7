#include "app/storage/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace quern::app {

namespace {

// What a holder wrote into its lock; empty when it has not come to it yet.
std::string holderOf(int descriptor) {
    std::array<char, 32> text{};
    const ssize_t count = ::pread(descriptor, text.data(), text.size() - 1, 0);
    return count > 0 ? " (process " + std::string(text.data()) + ")" : std::string();
}

// Whether the name still leads to the file that is open: its last holder has removed it else.
bool isNamed(int descriptor, const std::filesystem::path& file) {
    struct stat open {};
    struct stat named {};
    return ::fstat(descriptor, &open) == 0 && ::stat(file.c_str(), &named) == 0 &&
           open.st_ino == named.st_ino && open.st_dev == named.st_dev;
}

}  // namespace

FileLock::FileLock(std::filesystem::path file, int descriptor)
    : m_file(std::move(file)), m_descriptor(descriptor) {
    const std::string holder = std::to_string(::getpid());
    // A lock without a name in it holds as well.
    [[maybe_unused]] const int cut = ::ftruncate(m_descriptor, 0);
    [[maybe_unused]] const ssize_t written =
        ::pwrite(m_descriptor, holder.data(), holder.size(), 0);
}

FileLock::FileLock(FileLock&& other) noexcept
    : m_file(std::move(other.m_file)), m_descriptor(std::exchange(other.m_descriptor, -1)) {}

FileLock::~FileLock() {
    if (m_descriptor >= 0) {
        ::unlink(m_file.c_str());  // while it is still held: whoever waits sees it and opens anew
        ::close(m_descriptor);
    }
}

Result<FileLock> FileLock::tryTake(const std::filesystem::path& file, const std::string& what) {
    return takeWith(file, LOCK_EX | LOCK_NB, what);
}

Result<FileLock> FileLock::take(const std::filesystem::path& file) {
    return takeWith(file, LOCK_EX, {});
}

Result<FileLock> FileLock::takeWith(const std::filesystem::path& file, int operation,
                                    const std::string& what) {
    while (true) {
        const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (descriptor < 0) {
            return fail(ErrorCode::kIo, "cannot make the lock " + file.string(),
                        std::strerror(errno));
        }
        int locked = 0;
        do {
            locked = ::flock(descriptor, operation);
        } while (locked != 0 && errno == EINTR);
        if (locked == 0 && isNamed(descriptor, file)) {
            return FileLock(file, descriptor);
        }
        const int why = locked == 0 ? 0 : errno;
        const std::string holder = why == EWOULDBLOCK ? holderOf(descriptor) : std::string();
        ::close(descriptor);
        if (why == EWOULDBLOCK) {
            return fail(ErrorCode::kBusy,
                        what + " by another program" + holder + "; try again when it is done");
        }
        if (why != 0) {
            return fail(ErrorCode::kIo, "cannot take the lock " + file.string(),
                        std::strerror(why));
        }
    }
}

}  // namespace quern::app
