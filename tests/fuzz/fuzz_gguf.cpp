// Any bytes as a GGUF file: parsed; then, with zeros behind them for the tensors that a header
// speaks of, read as far as a model's forward pass.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <string>

#include "engine/formats/gguf_parser.h"
#include "engine/formats/model_source.h"
#include "engine/model/forward.h"

namespace {

// A file in memory, one for the process.
const std::filesystem::path& scratchFile() {
    static const std::filesystem::path path = [] {
        std::string name = "/dev/shm/quern-fuzz-XXXXXX";
        const int file = ::mkstemp(name.data());
        return file < 0 ? std::filesystem::path() : std::filesystem::path(name);
    }();
    return path;
}

void readAsModel(std::span<const std::byte> bytes) {
    if (scratchFile().empty()) {
        return;
    }
    std::FILE* out = std::fopen(scratchFile().c_str(), "wb");
    if (out == nullptr) {
        return;
    }
    std::fwrite(bytes.data(), 1, bytes.size(), out);
    std::fclose(out);
    constexpr std::uintmax_t kZeros = std::uintmax_t{1} << 20;
    std::filesystem::resize_file(scratchFile(), bytes.size() + kZeros);
    const auto model = quern::engine::openModel(scratchFile());
    if (model) {
        (void)quern::engine::buildForward(model->spec, *model->tensors);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto bytes = std::as_bytes(std::span(data, size));
    if (const auto parsed = quern::engine::parseGguf(bytes)) {
        for (const auto& [key, value] : parsed->metadata.entries()) {
            (void)quern::engine::describeValue(value);
        }
    }
    readAsModel(bytes);
    return 0;
}
