// Any bytes as SentencePiece's character map, over any text: two bytes say how long the map is.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/text/jinja/unicode.h"
#include "engine/text/normalizer_charsmap.h"
#include "tests/fuzz/justified_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    constexpr std::size_t kLengthBytes = 2;
    if (size < kLengthBytes) {
        return 0;
    }
    const std::string_view all(reinterpret_cast<const char*>(data) + kLengthBytes,
                               size - kLengthBytes);
    const std::string_view blob = all.substr(0, data[0] + 256U * data[1]);
    const std::string_view text = all.substr(blob.size());
    if (jinja::findInvalidUtf8(text)) {
        return 0;
    }
    // A text may grow as its rules say, up to a bound that the engine keeps.
    const quern::test::JustifiedMemory memory((std::size_t{16} << 20U) + 64 * size);
    const auto map = text::CharacterMap::create(blob);
    if (!map) {
        return 0;
    }
    (void)text::makePrecompiled(*map)->apply(text);
    (void)text::makeSentencePieceNormalizer({.map = *map})->apply(text);
    return 0;
}
