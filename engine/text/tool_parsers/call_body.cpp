#include "engine/text/tool_parsers/call_body.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace quern::engine::tool_parsers {

using Json = nlohmann::json;
namespace {

void addTypeName(const Json& name, ParameterType& type, bool& isOther) {
    if (!name.is_string()) {
        return;
    }
    type.isKnown = true;
    if (name == "string") {
        type.isText = true;
    } else if (name == "null") {
        type.mayBeNull = true;
    } else {
        type.isList = type.isList || name == "array";
        isOther = true;
    }
}

/// What a schema says by "type", "enum", "const" or the branches of a choice.
void addSchema(const Json& schema, int depth, ParameterType& type, bool& isOther) {
    if (!schema.is_object() || depth > 4) {
        return;
    }
    if (schema.contains("type")) {
        const Json& name = schema.at("type");
        if (name.is_array()) {
            for (const Json& each : name) {
                addTypeName(each, type, isOther);
            }
        } else {
            addTypeName(name, type, isOther);
        }
        return;
    }
    const auto addValue = [&](const Json& value) {
        addTypeName(value.is_string() ? "string"
                    : value.is_null() ? "null"
                                      : "other",
                    type, isOther);
    };
    if (schema.contains("const")) {
        addValue(schema.at("const"));
    } else if (schema.contains("enum") && schema.at("enum").is_array()) {
        for (const Json& value : schema.at("enum")) {
            addValue(value);
        }
    }
    for (const char* choice : {"anyOf", "oneOf"}) {
        if (schema.contains(choice) && schema.at(choice).is_array()) {
            for (const Json& branch : schema.at(choice)) {
                addSchema(branch, depth + 1, type, isOther);
            }
        }
    }
}

}  // namespace

ParameterTypes::ParameterTypes(const std::vector<std::string>& tools) {
    for (const std::string& text : tools) {
        const Json tool = Json::parse(text, nullptr, false);
        if (!tool.is_object()) {
            continue;
        }
        const Json& function = tool.contains("function") ? tool.at("function") : tool;
        const Json* schema = function.is_object() && function.contains("parameters")
                                 ? &function.at("parameters")
                                 : nullptr;
        if (schema == nullptr || !schema->is_object() || !schema->contains("properties") ||
            !function.contains("name") || !function.at("name").is_string()) {
            continue;
        }
        for (const auto& [name, property] : schema->at("properties").items()) {
            ParameterType type;
            bool isOther = false;
            addSchema(property, 0, type, isOther);
            // A number or a text: the text itself has to tell.
            type.isText = type.isText && !isOther;
            m_types[{function.at("name").get<std::string>(), name}] = type;
        }
    }
}

ParameterType ParameterTypes::of(const std::string& tool, const std::string& parameter) const {
    const auto found = m_types.find({tool, parameter});
    return found == m_types.end() ? ParameterType() : found->second;
}

std::string ParameterTypes::toJson(const std::string& tool, const std::string& parameter,
                                   std::string_view text) const {
    const ParameterType type = of(tool, parameter);
    if (type.isText) {
        return type.mayBeNull && (text == "null" || text == "None") ? "null" : quoteJson(text);
    }
    if (Json::accept(text)) {
        return std::string(text);
    }
    // Templates that print a value write it as Python does.
    if (type.isKnown) {
        if (std::string literal = literalToJson(trimmed(text)); Json::accept(literal)) {
            return literal;
        }
    }
    return quoteJson(text);
}

std::string quoteJson(std::string_view text) {
    return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string_view trimmed(std::string_view text) {
    const std::size_t begin = text.find_first_not_of(" \n\r\t");
    if (begin == std::string_view::npos) {
        return {};
    }
    return text.substr(begin, text.find_last_not_of(" \n\r\t") - begin + 1);
}

bool isCallName(std::string_view name) {
    return !name.empty() && name.size() <= 128 && std::all_of(name.begin(), name.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
               c == '.' || c == ':' || c == '/';
    });
}

}  // namespace quern::engine::tool_parsers
