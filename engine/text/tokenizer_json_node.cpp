#include "engine/text/tokenizer_json.h"

#include <utility>

namespace quern::engine::text {

bool JsonNode::has(const char* key) const {
    if (isNull() || !m_value->is_object()) {
        return false;
    }
    const auto found = m_value->find(key);
    return found != m_value->end() && !found->is_null();
}

JsonNode JsonNode::child(const char* key) const {
    const nlohmann::json* value = has(key) ? &*m_value->find(key) : nullptr;
    return {value, m_path.empty() ? key : m_path + "." + key, *m_status};
}

JsonNode JsonNode::item(std::size_t index) const {
    return {&(*m_value)[index], m_path + "[" + std::to_string(index) + "]", *m_status};
}

std::vector<JsonNode> JsonNode::items(const char* key) const {
    const JsonNode list = child(key);
    std::vector<JsonNode> items;
    if (list.isNull()) {
        return items;
    }
    if (!list.value().is_array()) {
        list.refuse(ErrorCode::kCorrupt, "must be an array");
        return items;
    }
    items.reserve(list.value().size());
    for (std::size_t i = 0; i < list.value().size(); ++i) {
        items.push_back(list.item(i));
    }
    return items;
}

std::string JsonNode::text(const char* key, std::optional<std::string> fallback) const {
    const JsonNode member = child(key);
    if (member.isNull() && fallback) {
        return *std::move(fallback);
    }
    if (member.isNull() || !member.value().is_string()) {
        member.refuse(ErrorCode::kCorrupt, member.isNull() ? "is missing" : "must be a string");
        return {};
    }
    return member.value().get<std::string>();
}

bool JsonNode::flag(const char* key, bool fallback) const {
    const JsonNode member = child(key);
    if (member.isNull()) {
        return fallback;
    }
    if (!member.value().is_boolean()) {
        member.refuse(ErrorCode::kCorrupt, "must be true or false");
        return fallback;
    }
    return member.value().get<bool>();
}

std::int64_t JsonNode::integer(const char* key, std::optional<std::int64_t> fallback) const {
    const JsonNode member = child(key);
    if (member.isNull() && fallback) {
        return *fallback;
    }
    if (member.isNull() || !member.value().is_number_integer()) {
        member.refuse(ErrorCode::kCorrupt, member.isNull() ? "is missing" : "must be an integer");
        return 0;
    }
    if (member.value().is_number_unsigned() &&
        !std::in_range<std::int64_t>(member.value().get<std::uint64_t>())) {
        member.refuse(ErrorCode::kCorrupt, "is " + member.value().dump() + ", beyond 2^63 - 1");
        return 0;
    }
    return member.value().get<std::int64_t>();
}

std::string JsonNode::nonEmpty(const char* key, std::optional<std::string> fallback) const {
    std::string value = text(key, std::move(fallback));
    if (value.empty()) {
        child(key).refuse(ErrorCode::kCorrupt, "must not be empty");
    }
    return value;
}

void JsonNode::refuse(ErrorCode code, const std::string& what) const {
    if (m_status->has_value()) {
        *m_status =
            fail(code, "tokenizer.json: " + (m_path.empty() ? "the file" : m_path) + " " + what);
    }
}

bool isTooDeep(const JsonNode& node, int depth) {
    constexpr int kDeepest = 8;
    if (depth <= kDeepest) {
        return false;
    }
    node.refuse(ErrorCode::kUnsupported,
                "is nested deeper than " + std::to_string(kDeepest) + " sequences");
    return true;
}

void refuseType(const JsonNode& node, const std::string& type) {
    node.refuse(ErrorCode::kUnsupported, "has the type '" + type + "', which is not known");
}

}  // namespace quern::engine::text
