// Any text as the body of a request to the endpoint; the first byte chooses which. What is refused
// is refused as a client's mistake, in JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>

#include "app/server/openai/generation_request.h"
#include "app/server/openai/vector_request.h"
#include "tests/fuzz/justified_memory.h"

namespace {

using namespace quern::app;

void check(const ApiError& error) {
    if (error.status != 400 || error.message.empty() ||
        nlohmann::json::parse(errorBody(error), nullptr, false).is_discarded()) {
        std::abort();
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::string body(reinterpret_cast<const char*>(data) + 1, size - 1);
    const quern::test::JustifiedMemory memory((std::size_t{1} << 20U) + 256 * size);
    constexpr std::uint8_t kGenerations = 2;
    constexpr std::uint8_t kVectors = 3;
    const std::uint8_t kind = data[0] % (kGenerations + kVectors);
    if (kind < kGenerations) {
        const auto read = readGenerationRequest(
            static_cast<GenerationKind>(kind), body,
            [](const std::string&) { return quern::engine::SamplingParams(); });
        if (!read) {
            check(read.error());
        } else if (read->prompts.empty()) {
            std::abort();
        }
        return 0;
    }
    const auto read = readVectorRequest(static_cast<VectorKind>(kind - kGenerations), body);
    if (!read) {
        check(read.error());
    } else if (read->requests.empty()) {
        std::abort();
    }
    return 0;
}
