// Any bytes as a safetensors file; every tensor that is found must lie inside, and no two share a
// byte.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "engine/formats/safetensors.h"
#include "tests/fuzz/justified_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const quern::test::JustifiedMemory memory(4096 + 16 * size);
    const auto entries = quern::engine::parseSafetensors(bytes);
    if (!entries) {
        return 0;
    }
    std::size_t total = 0;
    for (const auto& entry : *entries) {
        const auto first = entry.data.data() - bytes.data();
        if (first < 0 || static_cast<std::size_t>(first) + entry.data.size() > size) {
            std::abort();
        }
        total += entry.data.size();
    }
    if (total > size) {
        std::abort();
    }
    return 0;
}
