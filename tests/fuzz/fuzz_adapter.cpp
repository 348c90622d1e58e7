// Any files of a PEFT adapter, or any bytes of a GGUF one, for a small model of either format.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/formats/adapter_source.h"
#include "tests/engine/formats/adapter_files.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/justified_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    static quern::test::FolderInput folder(
        {"adapter_config.json", "adapter_model.safetensors", "adapter.gguf"});
    static const MatrixLayout kLayouts[] = {quern::test::tinyLlama(false),
                                            quern::test::tinyLlama(true)};
    const auto& path = folder.fill({reinterpret_cast<const char*>(data), size});
    const bool isGguf = std::filesystem::exists(path / "adapter.gguf");
    // Rows that are moved are copied: of the zeros that stand for them, up to 4 MiB.
    const quern::test::JustifiedMemory memory((std::size_t{8} << 20U) + 64 * size);
    for (const MatrixLayout& layout : kLayouts) {
        const auto adapter = openAdapter(isGguf ? path / "adapter.gguf" : path, layout);
        if (!adapter) {
            continue;
        }
        for (const AdapterMatrix& matrix : adapter->matrices) {
            if (!std::isfinite(matrix.scale) || matrix.a.shape.rows() != matrix.b.shape.cols()) {
                std::abort();
            }
        }
    }
    return 0;
}
