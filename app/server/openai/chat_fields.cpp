#include "app/server/openai/chat_fields.h"

#include <algorithm>

#include "app/server/openai/chat_messages.h"
#include "app/server/openai/reply_json.h"

namespace quern::app {

namespace {

constexpr std::size_t kMostTools = 1024;

constexpr const char* kNeedsConstraint =
    "needs output that is held to a grammar, which this server does not have yet";

std::string nameOf(const Json& function) {
    const auto name = function.is_object() ? function.find("name") : function.end();
    return name != function.end() && name->is_string() ? name->get<std::string>() : std::string();
}

// Reads one definition; the error is kept in `fields`.
void readTool(Fields& fields, const Json& tool, const std::string& where,
              std::vector<std::string>& tools) {
    if (!tool.is_object() || tool.value("type", Json()) != "function") {
        fields.fail(where, "'" + where + "' must be an object of type 'function'");
        return;
    }
    const auto function = tool.find("function");
    if (function == tool.end() || nameOf(*function).empty()) {
        fields.fail(where + ".function.name",
                    "'" + where + ".function.name' must be a string with the tool's name");
        return;
    }
    const auto parameters = function->find("parameters");
    if (parameters != function->end() && !parameters->is_null() && !parameters->is_object()) {
        fields.fail(where + ".function.parameters",
                    "'" + where + ".function.parameters' must be an object, a JSON schema");
        return;
    }
    if (const auto strict = function->find("strict");
        strict != function->end() && *strict == true) {
        fields.fail(where + ".function.strict",
                    "'" + where + ".function.strict' cannot be honoured: it " + kNeedsConstraint);
        return;
    }
    tools.push_back(jsonText(tool));
}

// Whether the model is to be told of its tools. What cannot be honoured is an error in `fields`.
bool readToolChoice(Fields& fields) {
    const Json* choice = fields.any("tool_choice");
    if (choice == nullptr || *choice == "auto") {
        return true;
    }
    if (*choice == "none") {
        return false;
    }
    if (*choice == "required" || choice->is_object()) {
        fields.fail("tool_choice", std::string("'tool_choice' ") + jsonText(*choice) +
                                       " cannot be honoured: a call that must be made " +
                                       kNeedsConstraint + "; \"auto\" and \"none\" are taken");
        return false;
    }
    fields.fail("tool_choice",
                "'tool_choice' must be \"auto\", \"none\", \"required\" or an object that names a "
                "function, and is " +
                    jsonText(*choice));
    return false;
}

std::vector<std::string> readTools(Fields& fields) {
    const bool isWanted = readToolChoice(fields);
    std::vector<std::string> tools;
    if (const Json* given = fields.any("tools")) {
        if (!given->is_array() || given->size() > kMostTools) {
            fields.fail("tools", "'tools' must be a list of at most " + std::to_string(kMostTools) +
                                     " definitions");
            return {};
        }
        for (std::size_t i = 0; i < given->size(); ++i) {
            readTool(fields, (*given)[i], "tools[" + std::to_string(i) + "]", tools);
        }
    }
    for (const char* older : {"functions", "function_call"}) {
        fields.refuse(older, Json(), "it gave way to tools and tool_choice");
    }
    return isWanted ? tools : std::vector<std::string>{};
}

std::string readTemplateKwargs(Fields& fields) {
    Json kwargs = Json::object();
    if (const Json* given = fields.object("chat_template_kwargs")) {
        kwargs = *given;
    }
    if (const Json* documents = fields.any("documents")) {
        if (documents->is_array() &&
            std::ranges::all_of(*documents, [](const Json& one) { return one.is_object(); })) {
            kwargs["documents"] = *documents;
        } else {
            fields.fail("documents", "'documents' must be a list of objects");
        }
    }
    if (const auto effort = fields.text("reasoning_effort")) {
        kwargs["reasoning_effort"] = *effort;
    }
    return kwargs.empty() ? std::string() : jsonText(kwargs);
}

}  // namespace

engine::ChatPrompt readChatPrompt(Fields& fields) {
    engine::ChatPrompt prompt;
    if (const Json* messages = fields.any("messages")) {
        if (const auto error = readChatMessages(*messages, prompt.messages)) {
            fields.fail(error->param, error->message);
        }
    } else {
        fields.fail("messages", "'messages' is missing");
    }
    prompt.tools = readTools(fields);
    prompt.chatTemplate = fields.text("chat_template").value_or("");
    prompt.continueFinalMessage = fields.flag("continue_final_message").value_or(false);
    prompt.addGenerationPrompt =
        fields.flag("add_generation_prompt").value_or(!prompt.continueFinalMessage);
    prompt.templateKwargs = readTemplateKwargs(fields);
    return prompt;
}

}  // namespace quern::app
