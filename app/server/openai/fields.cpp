#include "app/server/openai/fields.h"

#include <cmath>
#include <sstream>

namespace quern::app {

namespace {

std::string plain(double value) {
    std::ostringstream text;
    text << value;
    return text.str();
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
    const auto value = number(name, static_cast<double>(least), static_cast<double>(most));
    if (!value) {
        return std::nullopt;
    }
    if (std::floor(*value) != *value) {
        fail(name, std::string("'") + name + "' must be an integer, and is " + plain(*value));
        return std::nullopt;
    }
    const Json& json = m_object.at(name);
    return json.is_number_float() ? static_cast<std::int64_t>(*value) : json.get<std::int64_t>();
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

std::vector<std::int64_t> Fields::integers(const char* name, std::size_t most) {
    const Json* value = find(name);
    std::vector<std::int64_t> all;
    if (value == nullptr) {
        return all;
    }
    if (!value->is_array() || value->size() > most) {
        failType(name, *value, ("a list of at most " + std::to_string(most) + " integers").c_str());
        return all;
    }
    for (const Json& entry : *value) {
        if (!entry.is_number_integer()) {
            failType(name, entry, "a list of integers");
            return {};
        }
        all.push_back(entry.get<std::int64_t>());
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
