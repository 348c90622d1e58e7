// Any bytes as a GGUF file: parsed; then, lengthened by zeros for the tensors that a header speaks
// of, read as far as a model's forward pass.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "engine/formats/gguf_parser.h"
#include "engine/formats/model_source.h"
#include "engine/model/forward.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/justified_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    static quern::test::FolderInput folder({"model.gguf"});
    const auto bytes = std::as_bytes(std::span(data, size));
    {
        // A key of a few bytes makes an entry of a table.
        const quern::test::JustifiedMemory memory(4096 + 32 * size);
        if (const auto parsed = parseGguf(bytes)) {
            for (const auto& [key, value] : parsed->metadata.entries()) {
                (void)describeValue(value);
            }
        }
    }
    const auto& path = folder.fill({reinterpret_cast<const char*>(data), size});
    // Tensors that are laid out anew are copied: of the zeros that stand for them, up to a MiB.
    const quern::test::JustifiedMemory memory((std::size_t{4} << 20U) + 32 * size);
    const auto model = openModel(path / "model.gguf");
    if (model) {
        (void)buildForward(model->spec, *model->tensors);
    }
    return 0;
}
