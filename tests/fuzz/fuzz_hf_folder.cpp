// Any files of a Hugging Face folder, as far as a model's forward pass.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/formats/model_source.h"
#include "engine/model/forward.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/justified_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    static quern::test::FolderInput folder(
        {"config.json", "model.safetensors", "modules.json", "1_Pooling/config.json",
         "sentence_bert_config.json", "tokenizer_config.json", "chat_template.jinja", "README.md"});
    const auto& path = folder.fill({reinterpret_cast<const char*>(data), size});
    // Fused and transposed tensors are copied: of the zeros that stand for them, up to 4 MiB.
    const quern::test::JustifiedMemory memory((std::size_t{8} << 20U) + 64 * size);
    const auto model = openModel(path);
    if (model) {
        (void)buildForward(model->spec, *model->tensors);
    }
    return 0;
}
