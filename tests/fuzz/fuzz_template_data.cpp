// Any JSON as the messages of a chat, through templates that look at all of it. What is given back
// as JSON is what was given.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/text.h"
#include "tests/fuzz/justified_memory.h"

namespace {

constexpr std::array kSources{
    "{{ messages | tojson }}",
    "{% for m in messages %}{{ m.role }}{{ m['content'] | trim }}{{ loop.index }}{% endfor %}",
    "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
    "{% for part in m.content %}{{ part.text | default('') | upper }}{% endfor %}{% endif %}"
    "{% for call in m.tool_calls %}{{ call.function.name }}"
    "{% for k, v in call.function.arguments | items %}{{ k }}={{ v | string }}{% endfor %}"
    "{% endfor %}{% endfor %}",
    "{{ messages }}{{ messages | length }}{{ messages | map(attribute='role') | join(',') }}"
    "{{ messages | selectattr('role', 'equalto', 'user') | list | length }}",
};

const quern::engine::ChatTemplate& templateOf(std::size_t index) {
    static const auto kTemplates = [] {
        std::array<std::shared_ptr<const quern::engine::ChatTemplate>, kSources.size()> made;
        for (std::size_t i = 0; i < made.size(); ++i) {
            made[i] = quern::engine::ChatTemplate::create(kSources[i]).value();
        }
        return made;
    }();
    return *kTemplates[index % kTemplates.size()];
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const std::size_t index = data[0] % kSources.size();
    const auto& chatTemplate = templateOf(index);
    quern::engine::TemplateInput input;
    input.messages.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
    input.now = 0;
    {
        const quern::test::JustifiedMemory memory((std::size_t{1} << 20U) + 512 * size);
        (void)chatTemplate.renderChat(input);
    }
    const auto text = chatTemplate.render(input);
    if (index != 0 || !text) {
        return 0;
    }
    const auto given = nlohmann::json::parse(input.messages, nullptr, false);
    if (!given.is_discarded() && nlohmann::json::parse(*text, nullptr, false) != given) {
        std::abort();
    }
    return 0;
}
