// Any text as a config.json of any architecture; what is read of one has only finite numbers.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/formats/hf_parameters.h"
#include "engine/formats/json_file.h"
#include "tests/fuzz/justified_memory.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    constexpr std::size_t kLayers = 64;
    const quern::test::JustifiedMemory memory(65536 + 64 * size);
    const auto config = parseJson({reinterpret_cast<const char*>(data), size}, "config.json");
    if (!config || !config->is_object()) {
        return 0;
    }
    const auto type = config->find("model_type");
    if (type == config->end() || !type->is_string()) {
        return 0;
    }
    const Architecture* architecture = architectureOfModelType(type->get_ref<const std::string&>());
    if (architecture == nullptr) {
        return 0;
    }
    const auto read =
        readHfParameters(*config, *architecture, type->get_ref<const std::string&>(), kLayers);
    if (!read) {
        return 0;
    }
    const bool isBounded = read->heads.size() <= kLayers && read->window.size() <= kLayers &&
                           read->hasExperts.size() <= kLayers;
    if (!isBounded || !(read->normEps >= 0) || !(read->normEps <= 1) ||
        !std::isfinite(read->rope.theta)) {
        std::abort();
    }
    return 0;
}
