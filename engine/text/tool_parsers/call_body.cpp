#include "engine/text/tool_parsers/call_body.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace quern::engine::tool_parsers {

using Json = nlohmann::json;

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
            if (property.is_object() && property.contains("type") &&
                property.at("type").is_string()) {
                m_types[{function.at("name").get<std::string>(), name}] =
                    property.at("type").get<std::string>();
            }
        }
    }
}

std::string ParameterTypes::toJson(const std::string& tool, const std::string& parameter,
                                   std::string_view text) const {
    const auto found = m_types.find({tool, parameter});
    if (found != m_types.end() && found->second == "string") {
        return quoteJson(text);
    }
    const Json parsed = Json::parse(text, nullptr, false);
    return parsed.is_discarded() ? quoteJson(text) : std::string(text);
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
