// Any text as the index of a folder of two files; whatever it names, nothing outside is read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string_view>

#include "engine/formats/safetensors.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/justified_memory.h"
#include "tests/support/safetensors_builder.h"

namespace {

void write(const std::filesystem::path& path, const char* tensor) {
    std::ofstream(path, std::ios::binary)
        << quern::test::SafetensorsBuilder().tensor(tensor, {2}).bytes();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static quern::test::FolderInput files({"model/model.safetensors.index.json"});
    const auto folder = files.fill({reinterpret_cast<const char*>(data), size}) / "model";
    static const bool kIsReady = [&] {
        std::filesystem::create_directories(folder);
        write(folder / "one.safetensors", "a");
        write(folder / "two.safetensors", "b");
        write(folder.parent_path() / "one.safetensors", "outside");
        return true;
    }();
    (void)kIsReady;
    const quern::test::JustifiedMemory memory(65536 + 64 * size);
    const auto model = quern::engine::SafetensorsModel::open(folder);
    if (!model) {
        return 0;
    }
    for (const auto& entry : (*model)->entries()) {
        if (entry.name != "a" && entry.name != "b") {
            std::abort();
        }
    }
    return 0;
}
