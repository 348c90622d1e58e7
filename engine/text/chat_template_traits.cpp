#include "engine/text/chat_template_traits.h"

#include <array>
#include <utility>

namespace quern::engine {
namespace {

using Json = nlohmann::ordered_json;

// Words that no template says by itself.
constexpr const char* kUserWord = "QuernUserProbe";
constexpr const char* kOtherWord = "QuernOtherProbe";
constexpr const char* kCallId = "abcdefgh1";
constexpr const char* kLongCallId = "call_quern_probe_1";

bool holds(const std::optional<std::string>& text, const std::string& word) {
    return text && text->find(word) != std::string::npos;
}

Json message(const char* role, Json content) {
    return Json{{"role", role}, {"content", std::move(content)}};
}

Json parts(const char* text) {
    return Json::array({Json{{"type", "text"}, {"text", text}}});
}

Json probeTools() {
    return Json::array(
        {{{"type", "function"},
          {"function",
           {{"name", "quern_probe"},
            {"description", "A tool."},
            {"parameters",
             {{"type", "object"},
              {"properties", {{"key", {{"type", "string"}, {"description", "A key."}}}}},
              {"required", Json::array({"key"})}}}}}}});
}

Json callMessage(Json arguments, Json content, const char* id) {
    return Json{
        {"role", "assistant"},
        {"content", std::move(content)},
        {"tool_calls",
         Json::array(
             {{{"id", id},
               {"type", "function"},
               {"function", {{"name", "quern_probe"}, {"arguments", std::move(arguments)}}}}})}};
}

Json toolResult(Json content, const char* id) {
    return Json{{"role", "tool"},
                {"tool_call_id", id},
                {"name", "quern_probe"},
                {"content", std::move(content)}};
}

class Prober {
public:
    explicit Prober(const Probe& render) : m_render(render) {}

    /// Renders without tools, or with them where that alone is refused.
    [[nodiscard]] std::optional<std::string> run(const Json& messages,
                                                 bool withTools = false) const {
        TemplateInput input;
        input.messages = messages.dump();
        input.bos = "<s>";
        input.eos = "</s>";
        input.addGenerationPrompt = false;
        input.now = 0;
        if (!withTools) {
            if (auto text = m_render(input)) {
                return text;
            }
        }
        input.tools = probeTools().dump();
        return m_render(input);
    }

    /// Whether `word` shows, as text and not as the printed form of a list.
    [[nodiscard]] bool shows(const Json& messages, const char* word, bool withTools = false) const {
        const auto text = run(messages, withTools);
        return holds(text, word) && !holds(text, "'type': 'text'") &&
               !holds(text, "\"type\": \"text\"");
    }

private:
    const Probe& m_render;
};

/// Content forms of a role, given how a conversation with such content is made.
template <class Make>
TemplateTraits::Content contentForms(const Prober& prober, bool withTools, const Make& make) {
    TemplateTraits::Content forms;
    forms.text = prober.shows(make(Json(kOtherWord)), kOtherWord, withTools);
    forms.parts = prober.shows(make(parts(kOtherWord)), kOtherWord, withTools);
    if (!forms.text && !forms.parts) {
        // It shows neither, such as tool results it does not know: the plain form is the safe one.
        forms.text = true;
    }
    return forms;
}

void probeContent(const Prober& prober, TemplateTraits& traits) {
    traits.user = contentForms(prober, false, [](Json content) {
        return Json::array({message("user", std::move(content))});
    });
    const Json user = message("user", traits.user.text ? Json(kUserWord) : parts(kUserWord));
    const auto withSystem = [&](const char* role, Json content) {
        return Json::array({message(role, std::move(content)), user});
    };
    traits.system = contentForms(
        prober, false, [&](Json content) { return withSystem("system", std::move(content)); });
    const auto knows = [&](const char* role) {
        return prober.shows(withSystem(role, kOtherWord), kOtherWord) ||
               prober.shows(withSystem(role, parts(kOtherWord)), kOtherWord);
    };
    traits.knowsSystem = knows("system");
    traits.knowsDeveloper = knows("developer");
    traits.assistant = contentForms(prober, false, [&](Json content) {
        return Json::array({user, message("assistant", std::move(content))});
    });
}

void probeCalls(const Prober& prober, TemplateTraits& traits) {
    const Json user = message("user", traits.user.text ? Json(kUserWord) : parts(kUserWord));
    const Json object = {{"key", kOtherWord}};
    const auto call = [&](Json arguments, Json content, const char* id) {
        return Json::array({user, callMessage(std::move(arguments), std::move(content), id),
                            toolResult("done", id)});
    };
    const auto withObject = prober.run(call(object, "", kCallId), true);
    const auto withText = prober.run(call(object.dump(), "", kCallId), true);
    // An object that is printed and not written as JSON, or a text that is quoted once more, is
    // not what the model was trained on.
    const bool objectIsGood = holds(withObject, kOtherWord) && !holds(withObject, "{'key'");
    const bool textIsGood = holds(withText, kOtherWord) && !holds(withText, "\\\"key\\\"");
    if (objectIsGood || textIsGood) {
        traits.takesArgumentObject = objectIsGood;
        traits.takesArgumentText = textIsGood;
    }
    const Json arguments = objectIsGood || !textIsGood ? object : Json(object.dump());
    const auto withEmpty = prober.run(call(arguments, "", kCallId), true);
    const auto withNull = prober.run(call(arguments, nullptr, kCallId), true);
    traits.takesNullContent = withNull && withNull == withEmpty;
    traits.needsShortIds = withEmpty && !prober.run(call(arguments, "", kLongCallId), true);
    traits.tool = contentForms(prober, true, [&](Json content) {
        return Json::array(
            {user, callMessage(arguments, "", kCallId), toolResult(std::move(content), kCallId)});
    });
}

}  // namespace

TemplateTraits probeTemplate(const Probe& render, const std::string& source) {
    TemplateTraits traits;
    // Reasoning of past turns is mostly left out, so that its key cannot be seen in an output.
    for (const char* key : {"reasoning_content", "thinking", "reasoning"}) {
        const std::string name(key);
        if (source.find("." + name) != std::string::npos ||
            source.find("'" + name + "'") != std::string::npos ||
            source.find('"' + name + '"') != std::string::npos) {
            traits.reasoningKey = name;
            break;
        }
    }
    const Prober prober(render);
    const bool answers = prober.run(Json::array({message("user", kUserWord)})) ||
                         prober.run(Json::array({message("user", parts(kUserWord))}));
    if (answers) {
        probeContent(prober, traits);
        probeCalls(prober, traits);
    }
    return traits;
}

}  // namespace quern::engine
