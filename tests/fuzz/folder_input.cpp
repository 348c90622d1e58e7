#include "tests/fuzz/folder_input.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace quern::test {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view kMark("\0FILE", 5);

[[noreturn]] void end(const char* why) {
    std::perror(why);
    std::abort();
}

// Where the last tensor of a safetensors header ends, counted from the file's beginning.
std::uintmax_t wholeSize(std::string_view bytes) {
    constexpr std::string_view kOffsets = "\"data_offsets\":[";
    constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20U;
    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), std::min(bytes.size(), sizeof(header)));
    std::uint64_t last = 0;
    for (std::size_t at = bytes.find(kOffsets); at != std::string_view::npos;
         at = bytes.find(kOffsets, at)) {
        at = bytes.find(',', at + kOffsets.size());
        if (at == std::string_view::npos) {
            break;
        }
        std::uint64_t offset = 0;
        ++at;
        std::from_chars(bytes.data() + at, bytes.data() + bytes.size(), offset);
        last = std::max(last, offset);
    }
    return header <= bytes.size() && last <= kMostBytes ? sizeof(header) + header + last : 0;
}

constexpr std::uintmax_t kZeros = std::uintmax_t{1} << 20;

fs::path makeFolder() {
    std::string name = "/dev/shm/quern-fuzz-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        end("no folder under /dev/shm");
    }
    return name;
}

}  // namespace

FolderInput::FolderInput(std::vector<std::string> names) : m_names(std::move(names)) {
    // Left behind by a process that a finding ends; what ends well removes it.
    static const fs::path folder = makeFolder();
    m_folder = folder;
    std::atexit([] {
        std::error_code ignored;
        fs::remove_all(folder, ignored);
    });
}

const fs::path& FolderInput::fill(std::string_view input) {
    std::error_code ignored;
    for (const std::string& name : m_names) {
        fs::remove(m_folder / name, ignored);
    }
    std::size_t index = 0;
    while (true) {
        const std::size_t mark = input.find(kMark);
        write(index, input.substr(0, mark));
        if (mark == std::string_view::npos || mark + kMark.size() >= input.size()) {
            return m_folder;
        }
        const auto letter = static_cast<unsigned char>(input[mark + kMark.size()]);
        index = (letter + m_names.size() - 'a' % m_names.size()) % m_names.size();
        input.remove_prefix(mark + kMark.size() + 1);
    }
}

void FolderInput::write(std::size_t index, std::string_view bytes) {
    if (bytes.empty()) {
        return;
    }
    const std::string& name = m_names[index];
    const fs::path path = m_folder / name;
    fs::create_directories(path.parent_path());
    std::FILE* out = std::fopen(path.c_str(), "wb");
    if (out == nullptr || std::fwrite(bytes.data(), 1, bytes.size(), out) != bytes.size() ||
        std::fclose(out) != 0) {
        end("cannot write a file of the input");
    }
    if (name.ends_with(".safetensors")) {
        fs::resize_file(path, std::max<std::uintmax_t>(bytes.size(), wholeSize(bytes)));
    } else if (name.ends_with(".gguf")) {
        fs::resize_file(path, bytes.size() + kZeros);
    }
}

}  // namespace quern::test
