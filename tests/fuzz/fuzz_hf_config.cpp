// Any text as a config.json of any architecture.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/formats/hf_parameters.h"
#include "engine/formats/json_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace quern::engine;
    const auto config = parseJson({reinterpret_cast<const char*>(data), size}, "config.json");
    if (!config || !config->is_object()) {
        return 0;
    }
    const auto type = config->find("model_type");
    if (type == config->end() || !type->is_string()) {
        return 0;
    }
    const Architecture* architecture = architectureOfModelType(type->get_ref<const std::string&>());
    if (architecture != nullptr) {
        (void)readHfParameters(*config, *architecture, 64);
    }
    return 0;
}
