#include "engine/formats/hf_config.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/formats/class_defaults.h"

namespace quern::engine {

void HfConfig::setError(ErrorCode code, std::string message) {
    if (!m_error) {
        m_error = Error{.code = code, .message = "config.json: " + std::move(message)};
    }
}

const Json* HfConfig::find(Keys keys) const {
    for (const std::string_view key : keys) {
        const auto found = m_config.find(key);
        if (found != m_config.end() && !found->is_null()) {
            return &*found;
        }
    }
    return nullptr;
}

std::string HfConfig::nameOf(Keys keys) const {
    for (const std::string_view key : keys) {
        if (has({key})) {
            return std::string(key);
        }
    }
    return std::string(*keys.begin());
}

std::optional<double> HfConfig::toNumber(const Json& value, std::string_view key) {
    if (value.is_number()) {
        return value.get<double>();
    }
    // transformers 5 writes {"__float__": "Infinity"}; bare ones are strings after parsing.
    const Json* text = &value;
    if (value.is_object() && value.contains("__float__")) {
        text = &value["__float__"];
    }
    if (text->is_string()) {
        const auto& word = text->get_ref<const std::string&>();
        if (word == "Infinity") {
            return std::numeric_limits<double>::infinity();
        }
        if (word == "-Infinity") {
            return -std::numeric_limits<double>::infinity();
        }
        if (word == "NaN") {
            return std::numeric_limits<double>::quiet_NaN();
        }
    }
    setError(ErrorCode::kCorrupt, std::string(key) + " is no number");
    return std::nullopt;
}

std::optional<double> HfConfig::number(Keys keys) {
    for (const std::string_view key : keys) {
        if (const Json* value = find({key}); value != nullptr) {
            const auto given = toNumber(*value, key);
            if (given && !std::isfinite(*given)) {
                setError(ErrorCode::kCorrupt,
                         std::string(key) + " is " + std::to_string(*given) + ", no finite number");
                return std::nullopt;
            }
            return given;
        }
    }
    for (const std::string_view key : keys) {
        if (const auto value = standardNumber(key)) {
            return value;
        }
    }
    return std::nullopt;
}

double HfConfig::fractionOr(Keys keys, double limit, double fallback) {
    const double value = number(keys).value_or(fallback);
    if (!(value > 0) || !(value < limit)) {
        setError(ErrorCode::kCorrupt, nameOf(keys) + " is " + std::to_string(value) +
                                          "; above 0 and below " + std::to_string(limit) +
                                          " is allowed");
    }
    return value;
}

std::string_view HfConfig::standard(std::string_view key) const {
    return m_config.contains(key) ? std::string_view() : classDefault(m_modelType, key);
}

std::optional<double> HfConfig::standardNumber(std::string_view key) const {
    if (m_config.contains(key)) {
        return std::nullopt;
    }
    const auto known = std::ranges::find(m_architecture.defaults, key, &ConfigDefault::key);
    if (known != m_architecture.defaults.end()) {
        return known->value;
    }
    const std::string_view text = standard(key);
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && end == text.data() + text.size() ? std::optional(value)
                                                                    : std::nullopt;
}

std::optional<std::int64_t> HfConfig::integer(Keys keys) {
    const std::optional<double> value = number(keys);
    if (!value) {
        return std::nullopt;
    }
    constexpr double kMost = 9.0e15;  // where doubles still hold every integer
    if (!(std::fabs(*value) <= kMost) || std::floor(*value) != *value) {
        setError(ErrorCode::kCorrupt,
                 nameOf(keys) + " is " + std::to_string(*value) + ", no integer");
        return std::nullopt;
    }
    return static_cast<std::int64_t>(*value);
}

std::int64_t HfConfig::required(Keys keys) {
    const std::optional<std::int64_t> value = integer(keys);
    if (!value) {
        setError(ErrorCode::kCorrupt, std::string(*keys.begin()) + " is missing");
    }
    return value.value_or(0);
}

std::optional<bool> HfConfig::boolean(std::string_view key) {
    const Json* value = find({key});
    if (value == nullptr) {
        if (const auto number = standardNumber(key)) {
            return *number != 0;
        }
        const std::string_view text = standard(key);
        return text == "true" || text == "false" ? std::optional(text == "true") : std::nullopt;
    }
    if (!value->is_boolean()) {
        setError(ErrorCode::kCorrupt, std::string(key) + " is neither true nor false");
        return std::nullopt;
    }
    return value->get<bool>();
}

std::string HfConfig::string(Keys keys) {
    const Json* value = find(keys);
    if (value == nullptr) {
        for (const std::string_view key : keys) {
            if (const std::string_view text = standard(key); !text.empty()) {
                return std::string(text);
            }
        }
        return {};
    }
    if (!value->is_string()) {
        setError(ErrorCode::kCorrupt, nameOf(keys) + " is no string");
        return {};
    }
    return value->get<std::string>();
}

std::vector<double> HfConfig::numbers(const Json& list, std::string_view key) {
    if (!list.is_array()) {
        setError(ErrorCode::kCorrupt, std::string(key) + " is no list");
        return {};
    }
    std::vector<double> values;
    for (const Json& value : list) {
        const std::optional<double> number = toNumber(value, key);
        if (!number) {
            return {};
        }
        values.push_back(*number);
    }
    return values;
}

}  // namespace quern::engine
