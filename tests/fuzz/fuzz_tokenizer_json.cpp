// Any text as a tokenizer.json: read, and what is read encodes and decodes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/text/tokenizer_load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    const std::string_view document(reinterpret_cast<const char*>(data), size);
    const auto tokenizer = text::readJsonTokenizerText(document, {});
    if (!tokenizer) {
        return 0;
    }
    for (const std::string_view text :
         {"", " ", "Hello, wörld 123\n\n", "\xFF\xE6\xAD", "<s>x</s>"}) {
        const auto ids = (*tokenizer)->encode(text, {.addSpecial = true, .parseSpecial = true});
        if (ids) {
            (void)(*tokenizer)->decode(*ids, false);
        }
    }
    return 0;
}
