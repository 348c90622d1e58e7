// Any bytes as a safetensors file; every tensor that is found must lie inside.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "engine/formats/safetensors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    const auto entries = quern::engine::parseSafetensors(bytes);
    if (!entries) {
        return 0;
    }
    for (const auto& entry : *entries) {
        const auto first = entry.data.data() - bytes.data();
        if (first < 0 || static_cast<std::size_t>(first) + entry.data.size() > size) {
            std::abort();
        }
    }
    return 0;
}
