#include "engine/formats/file_mapping.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "engine/formats/mapping_guard.h"

namespace quern::engine {

namespace {

std::string systemText(int error) {
    return std::generic_category().message(error);
}

// Closes a descriptor at the end of the scope; a mapping stays valid without it.
struct Descriptor {
    int fd = -1;
    Descriptor(const std::filesystem::path& path)
        // O_NONBLOCK: opening a named pipe must not wait for a writer.
        : fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
    ~Descriptor() {
        if (fd >= 0) {
            ::close(fd);
        }
    }
    Descriptor(const Descriptor&) = delete;
    Descriptor& operator=(const Descriptor&) = delete;
};

}  // namespace

FileMapping::FileMapping(std::filesystem::path path, std::span<const std::byte> bytes)
    : m_path(std::move(path)), m_bytes(bytes) {}

FileMapping::~FileMapping() {
    MappingGuard::forget(m_bytes);
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): munmap takes no const pointer.
    ::munmap(const_cast<std::byte*>(m_bytes.data()), m_bytes.size());
}

Result<std::shared_ptr<const FileMapping>> FileMapping::open(const std::filesystem::path& path) {
    const Descriptor file(path);
    if (file.fd < 0) {
        const int error = errno;
        const bool isMissing = error == ENOENT || error == ENOTDIR;
        if (error == ENXIO) {
            return fail(ErrorCode::kUnsupported, path.string() + " is not a regular file");
        }
        return fail(isMissing ? ErrorCode::kNotFound : ErrorCode::kIo,
                    "cannot open " + path.string(), systemText(error));
    }
    struct stat facts {};
    if (::fstat(file.fd, &facts) != 0) {
        return fail(ErrorCode::kIo, "cannot read " + path.string(), systemText(errno));
    }
    if (!S_ISREG(facts.st_mode)) {
        return fail(ErrorCode::kUnsupported, path.string() + " is not a regular file");
    }
    if (facts.st_size <= 0) {
        return fail(ErrorCode::kCorrupt, path.string() + " is empty");
    }
    const auto size = static_cast<std::size_t>(facts.st_size);
    void* data = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.fd, 0);
    if (data == MAP_FAILED) {
        return fail(ErrorCode::kIo, "cannot map " + path.string() + " into memory",
                    systemText(errno));
    }
    const std::span<const std::byte> bytes(static_cast<const std::byte*>(data), size);
    MappingGuard::watch(bytes);
    return std::shared_ptr<const FileMapping>(new FileMapping(path, bytes));
}

std::uint64_t FileMapping::cuts() {
    return MappingGuard::cuts();
}

Status CutWatch::check(const std::filesystem::path& source) const {
    if (FileMapping::cuts() == m_before) {
        return {};
    }
    return fail(ErrorCode::kIo, source.string() + " was cut while it was read");
}

void FileMapping::releasePages() const {
    // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): madvise takes no const pointer.
    ::madvise(const_cast<std::byte*>(m_bytes.data()), m_bytes.size(), MADV_DONTNEED);
}

}  // namespace quern::engine
