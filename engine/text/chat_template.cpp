#include <memory>
#include <string>
#include <utility>

#include "engine/text.h"
#include "engine/text/chat_template_traits.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/interpreter.h"
#include "engine/text/jinja/json.h"
#include "engine/text/jinja/parser.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine {
namespace {

/// What a failing template says to a person. A refusal is the template's own sentence and nothing
/// else; where it stands goes into the cause.
tl::unexpected<Error> describe(const jinja::Failure& failure) {
    const std::string where =
        failure.line > 0 ? "chat template, line " + std::to_string(failure.line) : "chat template";
    if (failure.type == "TemplateError") {
        return fail(ErrorCode::kInvalidArgument, failure.message, where);
    }
    return fail(ErrorCode::kInvalidArgument, where + ": " + failure.type + ": " + failure.message);
}

/// Parses one of the JSON inputs. An empty text is None.
jinja::Value parseInput(jinja::Heap& heap, const char* name, const std::string& text,
                        jinja::Kind expected) {
    if (text.empty()) {
        return {};
    }
    jinja::Value value;
    try {
        value = jinja::parseJson(heap, text);
    } catch (const jinja::Failure& failure) {
        throw jinja::Failure("TemplateError",
                             std::string(name) + " is not valid JSON: " + failure.message);
    }
    if (!value.is(expected)) {
        throw jinja::Failure("TemplateError",
                             std::string(name) + " must be a JSON " +
                                 (expected == jinja::Kind::kList ? "array" : "object"));
    }
    return value;
}

// A probe is tiny; a template that does not end with it is refused soon.
constexpr jinja::Limits kProbeLimits = {.steps = 1'000'000,
                                        .outputBytes = std::size_t{4} << 20U,
                                        .memoryBytes = std::size_t{32} << 20U};

/// For real chats it asks the template first what it takes, once, when it is made: content as text
/// or as parts (for each role), a system and a developer role, arguments of tool calls as object
/// or as text, null content beside tool calls, the form of tool call ids, the key of reasoning.
/// See TemplateTraits.
class JinjaChatTemplate : public ChatTemplate {
public:
    JinjaChatTemplate(std::string source, jinja::Template code)
        : m_source(std::move(source)), m_code(std::move(code)) {
        const Probe probe = [this](const TemplateInput& input) {
            auto text = renderWithin(input, kProbeLimits);
            return text ? std::optional(std::move(*text)) : std::nullopt;
        };
        m_traits = probeTemplate(probe, m_source);
    }

    [[nodiscard]] Result<std::string> render(const TemplateInput& input) const override {
        return renderWithin(input, jinja::Limits());
    }

    [[nodiscard]] Result<std::string> renderChat(const TemplateInput& input) const override {
        auto messages = nlohmann::ordered_json::parse(input.messages, nullptr, false);
        if (messages.is_discarded()) {
            return render(input);  // which says what is wrong with it
        }
        auto adapted = adaptMessages(std::move(messages), m_traits);
        if (!adapted) {
            return forward(adapted);
        }
        TemplateInput given = input;
        given.messages = adapted->dump();
        return render(given);
    }

    [[nodiscard]] const std::string& source() const override { return m_source; }

private:
    [[nodiscard]] Result<std::string> renderWithin(const TemplateInput& input,
                                                   const jinja::Limits& limits) const {
        try {
            jinja::Interpreter interpreter(m_code, limits, input.now);
            define(interpreter, input);
            return interpreter.render();
        } catch (const jinja::Failure& failure) {
            return describe(failure);
        } catch (const std::bad_alloc&) {
            return fail(ErrorCode::kOutOfMemory, "no memory left to render the chat template");
        } catch (const std::exception& failure) {
            return fail(ErrorCode::kInternal, "the chat template could not be rendered",
                        failure.what());
        }
    }

    static void define(jinja::Interpreter& interpreter, const TemplateInput& input) {
        jinja::Heap& heap = interpreter.heap();
        const auto parse = [&](const char* name, const std::string& text) {
            return parseInput(heap, name, text, jinja::Kind::kList);
        };
        interpreter.define("messages", parse("messages", input.messages));
        interpreter.define("tools", parse("tools", input.tools));
        interpreter.define("documents", parse("documents", input.documents));
        interpreter.define("bos_token", heap.text(input.bos));
        interpreter.define("eos_token", heap.text(input.eos));
        interpreter.define("add_generation_prompt", jinja::Value(input.addGenerationPrompt));
        const jinja::Value kwargs = parseInput(heap, "kwargs", input.kwargs, jinja::Kind::kDict);
        if (!kwargs.isNone()) {
            for (const auto& [name, value] : kwargs.as<jinja::Dict>().entries()) {
                interpreter.define(name.text(), value);
            }
        }
    }

    std::string m_source;
    jinja::Template m_code;
    TemplateTraits m_traits;
};

}  // namespace

Result<std::shared_ptr<const ChatTemplate>> ChatTemplate::create(std::string source) {
    if (const auto at = jinja::findInvalidUtf8(source)) {
        return fail(ErrorCode::kInvalidArgument,
                    "the chat template is not valid UTF-8 at byte " + std::to_string(*at));
    }
    try {
        jinja::Template code = jinja::parseTemplate(source);
        return std::make_shared<const JinjaChatTemplate>(std::move(source), std::move(code));
    } catch (const jinja::Failure& failure) {
        return describe(failure);
    } catch (const std::exception& failure) {
        return fail(ErrorCode::kInternal, "the chat template could not be read", failure.what());
    }
}

}  // namespace quern::engine
