// Any texts as the files beside a tokenizer.json, which name its special tokens and hold its chat
// templates.
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string_view>

#include "engine/text.h"
#include "tests/engine/text/sound_tokenizer.h"
#include "tests/fuzz/folder_input.h"
#include "tests/fuzz/justified_memory.h"
#include "tests/fuzz/tokenizer_use.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    static quern::test::FolderInput files({"tokenizer_config.json", "special_tokens_map.json",
                                           "generation_config.json", "config.json",
                                           "chat_template.jinja"});
    const auto& folder = files.fill({reinterpret_cast<const char*>(data), size});
    static const bool kIsReady = [&] {
        std::ofstream(folder / "tokenizer.json") << quern::test::soundTokenizer().dump();
        return true;
    }();
    (void)kIsReady;
    const quern::test::JustifiedMemory memory((std::size_t{1} << 20U) + 256 * size);
    const auto tokenizer = loadTokenizer(folder);
    if (tokenizer) {
        quern::test::useTokenizer(**tokenizer);
    }
    (void)loadChatTemplates(folder);
    return 0;
}
