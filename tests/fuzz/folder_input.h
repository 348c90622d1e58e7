#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace quern::test {

/// A folder in memory whose files are an input's: what stands before the first mark goes into the
/// first of `names`, and each mark, "\0FILE" and a letter, begins the file of that letter ("a" is
/// the first). Safetensors files are lengthened by zeros, to where the last tensor of the header
/// ends, GGUF files by a MiB; an empty file is not there. One for the process; one thread.
class FolderInput {
public:
    /// Ends the process where there is no folder to be had.
    explicit FolderInput(std::vector<std::string> names);

    /// Makes the files anew. Returns the folder.
    const std::filesystem::path& fill(std::string_view input);

private:
    void write(std::size_t index, std::string_view bytes);

    std::filesystem::path m_folder;
    std::vector<std::string> m_names;
};

}  // namespace quern::test
