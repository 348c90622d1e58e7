// Any text as the file of settings: what is there is read, and what is set afterwards is there
// again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "app/storage/settings_file.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/justified_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using quern::app::SettingsFile;
    static quern::test::FolderInput folder({"settings.json"});
    const auto path = folder.fill({reinterpret_cast<const char*>(data), size}) / "settings.json";
    const quern::test::JustifiedMemory memory(65536 + 256 * size);
    auto settings = SettingsFile::open(path);
    if (settings->trouble()) {
        std::filesystem::remove(
            settings->trouble()->kept);  // else each is kept under a longer name
    }
    if (!settings->set("probe", std::int64_t{7})) {
        std::abort();
    }
    auto again = SettingsFile::open(path);
    if (again->get("probe", std::int64_t{0}) != 7 || again->trouble()) {
        std::abort();
    }
    return 0;
}
