// Any text as a chat template: parsed, and rendered within small bounds.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/json.h"
#include "engine/text/jinja/parser.h"
#include "engine/text/jinja/unicode.h"
#include "tests/fuzz/justified_memory.h"

namespace {

constexpr const char* kMessages = R"([
    {"role": "system", "content": "S"},
    {"role": "user", "content": [{"type": "text", "text": "ü"}]},
    {"role": "assistant", "content": null, "tool_calls": [{"id": "1", "type": "function",
        "function": {"name": "f", "arguments": {"a": [1, 2.5, true, null]}}}]},
    {"role": "tool", "content": "x", "tool_call_id": "1"}])";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace jinja = quern::engine::jinja;
    const std::string_view source(reinterpret_cast<const char*>(data), size);
    if (jinja::findInvalidUtf8(source)) {
        return 0;
    }
    constexpr jinja::Limits kLimits = {.steps = 20'000,
                                       .outputBytes = std::size_t{1} << 20U,
                                       .memoryBytes = std::size_t{8} << 20U,
                                       .depth = 200};  // sanitizers take more stack
    // Parsed, and rendered within its own limit.
    const quern::test::JustifiedMemory memory(4 * kLimits.memoryBytes + 1024 * size);
    try {
        const jinja::Template code = jinja::parseTemplate(source);
        jinja::Interpreter interpreter(code, kLimits, 0);
        interpreter.define("messages", jinja::parseJson(interpreter.heap(), kMessages));
        interpreter.define("tools", jinja::Value());
        interpreter.define("bos_token", interpreter.heap().text("<s>"));
        interpreter.define("add_generation_prompt", jinja::Value(true));
        (void)interpreter.render();
    } catch (const jinja::Failure&) {
        // What a template cannot do it says so.
    }
    return 0;
}
