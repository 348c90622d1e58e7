#include "engine/convert/new_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

namespace quern::engine::convert {

namespace fs = std::filesystem;

namespace {

tl::unexpected<Error> refused(const std::string& what, const fs::path& path) {
    return fail(ErrorCode::kIo, what + " " + path.string(), std::strerror(errno));
}

std::string megabytes(std::uintmax_t bytes) {
    return std::to_string((bytes + 999'999) / 1'000'000) + " MB";
}

}  // namespace

Result<NewFile> NewFile::create(const fs::path& path, std::int64_t bytes) {
    std::error_code error;
    if (fs::exists(path, error)) {
        return fail(ErrorCode::kConflict, "there is a file " + path.string() + " already");
    }
    const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
    const fs::space_info space = fs::space(folder, error);
    if (error) {
        return fail(ErrorCode::kIo, "cannot write to folder " + folder.string(), error.message());
    }
    if (space.available < static_cast<std::uintmax_t>(bytes)) {
        return fail(ErrorCode::kIo,
                    folder.string() + " has " + megabytes(space.available) + " free, and " +
                        megabytes(static_cast<std::uintmax_t>(bytes)) + " are needed");
    }
    fs::path temporary = path.string() + ".part";
    const int file = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    if (file < 0) {
        return refused("cannot create", temporary);
    }
    // What a killed program left is written over, what a living one writes is not.
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
        ::close(file);
        return fail(ErrorCode::kBusy, "another program is writing " + temporary.string());
    }
    NewFile made(path, std::move(temporary), file);
    if (::ftruncate(file, 0) != 0) {
        return refused("cannot write", made.m_temporary);
    }
    return made;
}

NewFile::NewFile(NewFile&& other) noexcept
    : m_path(std::move(other.m_path)),
      m_temporary(std::exchange(other.m_temporary, {})),
      m_file(std::exchange(other.m_file, -1)),
      m_bytes(other.m_bytes) {}

NewFile::~NewFile() {
    if (m_file >= 0) {
        ::close(m_file);
    }
    if (!m_temporary.empty()) {
        std::error_code ignored;
        fs::remove(m_temporary, ignored);
    }
}

Status NewFile::append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(m_file, bytes.data(), bytes.size());
        if (written < 0 && errno == EINTR) {
            continue;
        }
        if (written <= 0) {
            return refused("cannot write", m_temporary);
        }
        m_bytes += written;
        bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return {};
}

Status NewFile::pad(std::int64_t alignment) {
    static constexpr std::array<std::byte, 64> kZeros{};
    while (m_bytes % alignment != 0) {
        const auto missing = static_cast<std::size_t>(alignment - m_bytes % alignment);
        if (auto status = append(std::span(kZeros).first(std::min(missing, kZeros.size())));
            !status) {
            return status;
        }
    }
    return {};
}

Status NewFile::flush() {
    return ::fdatasync(m_file) == 0 ? Status() : refused("cannot write", m_temporary);
}

Status NewFile::finish() {
    // Not rename(): a file that came to have the name meanwhile is not ours to replace.
    if (::link(m_temporary.c_str(), m_path.c_str()) != 0) {
        if (errno == EEXIST) {
            return fail(ErrorCode::kConflict, "there is a file " + m_path.string() + " already");
        }
        // Some file systems have no links.
        if (::rename(m_temporary.c_str(), m_path.c_str()) != 0) {
            return refused("cannot name", m_path);
        }
        m_temporary.clear();
        return {};
    }
    std::error_code ignored;
    fs::remove(std::exchange(m_temporary, {}), ignored);
    return {};
}

}  // namespace quern::engine::convert
