// Any bytes as a GGUF file with a tokenizer in its keys: read, and what is read encodes and
// decodes.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "engine/formats/gguf_parser.h"
#include "engine/text/tokenizer_load.h"
#include "tests/fuzz/justified_memory.h"
#include "tests/fuzz/tokenizer_use.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    std::string file(reinterpret_cast<const char*>(data), size);
    constexpr std::size_t kTensorCount = 8;  // where it stands: of tensors there are none
    if (file.size() >= kTensorCount + sizeof(std::uint64_t)) {
        file.replace(kTensorCount, sizeof(std::uint64_t), sizeof(std::uint64_t), '\0');
    }
    const quern::test::JustifiedMemory memory((std::size_t{4} << 20U) + 128 * size);
    const auto parsed = parseGguf(std::as_bytes(std::span(file)));
    if (!parsed) {
        return 0;
    }
    const auto tokenizer = text::readGgufTokenizer(parsed->metadata);
    if (tokenizer) {
        quern::test::useTokenizer(**tokenizer);
    }
    return 0;
}
