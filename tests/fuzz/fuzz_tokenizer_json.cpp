// Any text as a tokenizer.json: read, and what is read encodes and decodes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/text/tokenizer_load.h"
#include "tests/fuzz/justified_memory.h"
#include "tests/fuzz/tokenizer_use.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    const std::string_view document(reinterpret_cast<const char*>(data), size);
    // A hundred thousand ids may be left out between those of a vocabulary.
    const quern::test::JustifiedMemory memory((std::size_t{32} << 20U) + 128 * size);
    const auto tokenizer = text::readJsonTokenizerText(document, {});
    if (tokenizer) {
        quern::test::useTokenizer(**tokenizer);
    }
    return 0;
}
