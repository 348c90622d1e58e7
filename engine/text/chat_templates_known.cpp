#include "engine/text/chat_templates_known.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace quern::engine {
namespace {

constexpr std::string_view kChatml =
    "{% for message in messages %}"
    "<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

constexpr std::string_view kLlama3 =
    "{{ bos_token }}"
    "{% for message in messages %}"
    "<|start_header_id|>{{ message.role }}<|end_header_id|>\n\n{{ message.content | trim }}"
    "<|eot_id|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}"
    "{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}";

constexpr std::string_view kLlama4 =
    "{{ bos_token }}"
    "{% for message in messages %}"
    "<|header_start|>{{ message.role }}<|header_end|>\n\n{{ message.content | trim }}<|eot|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}"
    "{{ '<|header_start|>assistant<|header_end|>\n\n' }}{% endif %}";

constexpr std::string_view kGemma =
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message.role == 'system' %}"
    "{{ raise_exception('This model takes no system message.') }}{% endif %}"
    "<start_of_turn>{{ 'model' if message.role == 'assistant' else message.role }}\n"
    "{{ message.content | trim }}<end_of_turn>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}";

constexpr std::string_view kPhi3 =
    "{% for message in messages %}"
    "<|{{ message.role }}|>\n{{ message.content }}<|end|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}";

constexpr std::string_view kZephyr =
    "{% for message in messages %}"
    "<|{{ message.role }}|>\n{{ message.content }}{{ eos_token }}\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}";

constexpr std::string_view kGlm4 =
    "[gMask]<sop>"
    "{% for message in messages %}"
    "<|{{ message.role }}|>\n{{ message.content }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>\n{% endif %}";

constexpr std::string_view kLlama2 =
    "{% set ns = namespace(system='') %}"
    "{% for message in messages %}"
    "{% if message.role == 'system' %}"
    "{% set ns.system = '<<SYS>>\n' ~ message.content ~ '\n<</SYS>>\n\n' %}"
    "{% elif message.role == 'user' %}"
    "{{ bos_token }}[INST] {{ ns.system }}{{ message.content | trim }} [/INST]"
    "{% set ns.system = '' %}"
    "{% else %} {{ message.content | trim }} {{ eos_token }}{% endif %}"
    "{% endfor %}";

constexpr std::string_view kMistral =
    "{{ bos_token }}"
    "{% set ns = namespace(system='') %}"
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{% set ns.system = message.content ~ '\n\n' %}"
    "{% elif message.role == 'user' %}"
    "[INST] {{ ns.system }}{{ message.content }}[/INST]{% set ns.system = '' %}"
    "{% else %} {{ message.content | trim }}{{ eos_token }}{% endif %}"
    "{% endfor %}";

constexpr std::string_view kDeepseek =
    "{{ bos_token }}"
    "{% for message in messages if message.role == 'system' %}{{ message.content }}{% endfor %}"
    "{% for message in messages %}"
    "{% if message.role == 'user' %}<｜User｜>{{ message.content }}"
    "{% elif message.role == 'assistant' %}"
    "<｜Assistant｜>{{ message.content }}<｜end▁of▁sentence｜>{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}<｜Assistant｜>{% endif %}";

constexpr std::string_view kCommandR =
    "{{ bos_token }}"
    "{% for message in messages %}"
    "<|START_OF_TURN_TOKEN|>"
    "{{ {'user': '<|USER_TOKEN|>', 'system': '<|SYSTEM_TOKEN|>'}"
    ".get(message.role, '<|CHATBOT_TOKEN|>') }}"
    "{{ message.content }}<|END_OF_TURN_TOKEN|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|START_OF_TURN_TOKEN|><|CHATBOT_TOKEN|>{% endif %}";

constexpr std::string_view kGranite =
    "{% for message in messages %}"
    "<|start_of_role|>{{ message.role }}<|end_of_role|>{{ message.content }}<|end_of_text|>\n"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start_of_role|>assistant<|end_of_role|>{% endif %}";

constexpr std::string_view kHarmony =
    "{% for message in messages %}"
    "<|start|>{{ message.role }}"
    "{% if message.role == 'assistant' %}<|channel|>final{% endif %}"
    "<|message|>{{ message.content }}<|end|>"
    "{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant{% endif %}";

constexpr std::string_view kVicuna =
    "{{ bos_token }}"
    "{% for message in messages %}"
    "{% if message.role == 'system' %}{{ message.content }}\n\n"
    "{% elif message.role == 'user' %}USER: {{ message.content }}\n"
    "{% else %}ASSISTANT: {{ message.content }}{{ eos_token }}\n{% endif %}"
    "{% endfor %}"
    "{% if add_generation_prompt %}ASSISTANT:{% endif %}";

/// A format, and the pieces of a vocabulary that all speak for it.
struct TokenRule {
    KnownTemplate known;
    std::array<std::string_view, 3> tokens;  // empty ones do not count
};

// The more special rule stands before the more general one.
constexpr std::array<TokenRule, 12> kTokenRules = {{
    {{"chatml", kChatml}, {"<|im_start|>", "<|im_end|>", ""}},
    {{"llama3", kLlama3}, {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}},
    {{"llama4", kLlama4}, {"<|header_start|>", "<|header_end|>", "<|eot|>"}},
    {{"gemma", kGemma}, {"<start_of_turn>", "<end_of_turn>", ""}},
    {{"deepseek", kDeepseek}, {"<｜User｜>", "<｜Assistant｜>", ""}},
    {{"gpt-oss", kHarmony}, {"<|start|>", "<|message|>", "<|channel|>"}},
    {{"command-r", kCommandR}, {"<|START_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", ""}},
    {{"granite", kGranite}, {"<|start_of_role|>", "<|end_of_role|>", ""}},
    {{"glm4", kGlm4}, {"[gMask]", "<|user|>", "<|assistant|>"}},
    {{"phi3", kPhi3}, {"<|user|>", "<|assistant|>", "<|end|>"}},
    {{"zephyr", kZephyr}, {"<|user|>", "<|assistant|>", ""}},
    {{"mistral", kMistral}, {"[INST]", "[/INST]", ""}},
}};

/// A format whose marks are plain text, and words that a model's name must all have.
struct NameRule {
    KnownTemplate known;
    std::array<std::string_view, 2> words;
};

constexpr std::array<NameRule, 7> kNameRules = {{
    {{"llama2", kLlama2}, {"llama-2", "chat"}},
    {{"llama2", kLlama2}, {"llama2", "chat"}},
    {{"mistral", kMistral}, {"mistral", "instruct"}},
    {{"mistral", kMistral}, {"mixtral", "instruct"}},
    {{"zephyr", kZephyr}, {"zephyr", ""}},
    {{"zephyr", kZephyr}, {"tinyllama", "chat"}},
    {{"vicuna", kVicuna}, {"vicuna", ""}},
}};

std::string normalized(std::string_view name) {
    std::string out;
    for (const char c : name) {
        out += c == ' ' || c == '_'
                   ? '-'
                   : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
}

}  // namespace

std::optional<KnownTemplate> recognizeTemplate(const ModelSigns& signs) {
    for (const TokenRule& rule : kTokenRules) {
        if (std::all_of(rule.tokens.begin(), rule.tokens.end(), [&](std::string_view token) {
                return token.empty() || signs.hasToken(token);
            })) {
            return rule.known;
        }
    }
    const std::string name = normalized(signs.name);
    for (const NameRule& rule : kNameRules) {
        if (std::all_of(rule.words.begin(), rule.words.end(), [&](std::string_view word) {
                return name.find(word) != std::string::npos;
            })) {
            return rule.known;
        }
    }
    return std::nullopt;
}

}  // namespace quern::engine
