#include "app/server/openai/fields.h"

#include <cmath>
#include <sstream>
#include <utility>

namespace quern::app {

namespace {

std::string plain(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
}

// The value of an integer, also of one written as 1.0; none beyond 64 bits.
std::optional<std::int64_t> asInteger(const Json& number) {
    constexpr double kBeyond = 9223372036854775808.0;  // 2^63
    if (number.is_number_float()) {
        const auto value = number.get<double>();
        return value >= -kBeyond && value < kBeyond
                   ? std::optional(static_cast<std::int64_t>(value))
                   : std::nullopt;
    }
    if (number.is_number_unsigned() && !std::in_range<std::int64_t>(number.get<std::uint64_t>())) {
        return std::nullopt;
    }
    return number.get<std::int64_t>();
}

}  // namespace

const Json* Fields::find(const char* name) {
    m_known.insert(name);
    const auto found = m_object.find(name);
    return found == m_object.end() || found->is_null() ? nullptr : &*found;
}

void Fields::fail(const std::string& name, const std::string& message) {
    if (!m_error) {
        m_error = ApiError{.status = 400, .message = message, .param = name};
    }
}

void Fields::failType(const char* name, const Json& value, const char* wanted) {
    fail(name, std::string("'") + name + "' must be " + wanted + ", and is " +
                   (value.is_number() ? "the number " + value.dump() : value.type_name()));
}

std::optional<std::string> Fields::text(const char* name) {
    const Json* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_string()) {
        failType(name, *value, "a string");
        return std::nullopt;
    }
    return value->get<std::string>();
}

std::optional<bool> Fields::flag(const char* name) {
    const Json* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_boolean()) {
        failType(name, *value, "true or false");
        return std::nullopt;
    }
    return value->get<bool>();
}

std::optional<std::int64_t> Fields::integer(const char* name, std::int64_t least,
                                            std::int64_t most) {
    const Json* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_number()) {
        failType(name, *value, "a number");
        return std::nullopt;
    }
    if (value->is_number_float() && std::floor(value->get<double>()) != value->get<double>()) {
        fail(name, std::string("'") + name + "' must be an integer, and is " + value->dump());
        return std::nullopt;
    }
    const auto given = asInteger(*value);
    if (!given || *given < least || *given > most) {
        fail(name, std::string("'") + name + "' is " + value->dump() + ", and must be between " +
                       std::to_string(least) + " and " + std::to_string(most));
        return std::nullopt;
    }
    return given;
}

std::optional<double> Fields::number(const char* name, double least, double most) {
    const Json* value = find(name);
    if (value == nullptr) {
        return std::nullopt;
    }
    if (!value->is_number()) {
        failType(name, *value, "a number");
        return std::nullopt;
    }
    const double given = value->get<double>();
    if (!(given >= least && given <= most)) {
        fail(name, std::string("'") + name + "' is " + value->dump() + ", and must be between " +
                       plain(least) + " and " + plain(most));
        return std::nullopt;
    }
    return given;
}

std::vector<std::int32_t> Fields::integers(const char* name, std::size_t most) {
    const Json* value = find(name);
    std::vector<std::int32_t> all;
    if (value == nullptr) {
        return all;
    }
    if (!value->is_array() || value->size() > most) {
        failType(name, *value, ("a list of at most " + std::to_string(most) + " integers").c_str());
        return all;
    }
    for (const Json& entry : *value) {
        const auto given = entry.is_number_integer() ? asInteger(entry) : std::nullopt;
        if (!given || !std::in_range<std::int32_t>(*given)) {
            fail(name, std::string("'") + name + "' must be a list of integers of 32 bits, and " +
                           (entry.is_number() ? "has " + entry.dump()
                                              : std::string("has a ") + entry.type_name()));
            return {};
        }
        all.push_back(static_cast<std::int32_t>(*given));
    }
    return all;
}

std::vector<std::string> Fields::texts(const char* name, std::size_t most) {
    const Json* value = find(name);
    std::vector<std::string> all;
    if (value == nullptr) {
        return all;
    }
    if (value->is_string()) {
        return {value->get<std::string>()};
    }
    if (!value->is_array() || value->size() > most) {
        failType(name, *value,
                 ("a string or a list of at most " + std::to_string(most) + " strings").c_str());
        return all;
    }
    for (const Json& entry : *value) {
        if (!entry.is_string()) {
            failType(name, entry, "a list of strings");
            return {};
        }
        all.push_back(entry.get<std::string>());
    }
    return all;
}

const Json* Fields::object(const char* name) {
    const Json* value = find(name);
    if (value != nullptr && !value->is_object()) {
        failType(name, *value, "an object");
        return nullptr;
    }
    return value;
}

const Json* Fields::any(const char* name) {
    return find(name);
}

void Fields::refuse(const char* name, const Json& neutral, const char* why) {
    const Json* value = find(name);
    if (value != nullptr && *value != neutral) {
        fail(name, std::string("'") + name + "' cannot be honoured: " + why);
    }
}

std::vector<std::string> Fields::unknown() const {
    std::vector<std::string> names;
    for (const auto& [key, value] : m_object.items()) {
        if (!m_known.contains(key)) {
            names.push_back(key);
        }
    }
    return names;
}

}  // namespace quern::app
