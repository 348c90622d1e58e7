// Any bytes as a GGUF file with a tokenizer in its keys: read, and what is read encodes and
// decodes.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/formats/gguf_parser.h"
#include "engine/text/tokenizer_load.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    std::string file(reinterpret_cast<const char*>(data), size);
    constexpr std::size_t kTensorCount = 8;  // where it stands: of tensors there are none
    if (file.size() >= kTensorCount + sizeof(std::uint64_t)) {
        file.replace(kTensorCount, sizeof(std::uint64_t), sizeof(std::uint64_t), '\0');
    }
    const auto parsed = parseGguf(std::as_bytes(std::span(file)));
    if (!parsed) {
        return 0;
    }
    const auto tokenizer = text::readGgufTokenizer(parsed->metadata);
    if (!tokenizer) {
        return 0;
    }
    for (const std::string_view text : {"", " ", "Hello, wörld 123\n\n", "\xFF\xE6\xAD"}) {
        const auto ids = (*tokenizer)->encode(text, {.addSpecial = true, .parseSpecial = true});
        if (ids) {
            (void)(*tokenizer)->decode(*ids, false);
        }
    }
    return 0;
}
