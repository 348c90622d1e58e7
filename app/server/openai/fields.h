#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/server/openai/api_error.h"

namespace quern::app {

using Json = nlohmann::ordered_json;

/// Reads the fields of a request's JSON object, one by one, with their types and ranges. Keeps the
/// first error, and knows which fields nobody asked for.
class Fields {
public:
    /// `object` must outlive it.
    explicit Fields(const Json& object) : m_object(object) {}

    [[nodiscard]] std::optional<std::string> text(const char* name);
    [[nodiscard]] std::optional<bool> flag(const char* name);
    [[nodiscard]] std::optional<std::int64_t> integer(const char* name, std::int64_t least,
                                                      std::int64_t most);
    [[nodiscard]] std::optional<double> number(const char* name, double least, double most);
    [[nodiscard]] std::vector<std::int32_t> integers(const char* name, std::size_t most);
    /// A text or a list of texts.
    [[nodiscard]] std::vector<std::string> texts(const char* name, std::size_t most);
    /// Null when absent, or with an error when it is something else.
    [[nodiscard]] const Json* object(const char* name);
    /// Any value but null; null when absent.
    [[nodiscard]] const Json* any(const char* name);
    /// A parameter that is known and cannot be honoured: an error unless it has its neutral value.
    void refuse(const char* name, const Json& neutral, const char* why);

    void fail(const std::string& name, const std::string& message);
    [[nodiscard]] const std::optional<ApiError>& error() const { return m_error; }
    /// Names of fields that nobody asked for.
    [[nodiscard]] std::vector<std::string> unknown() const;

private:
    [[nodiscard]] const Json* find(const char* name);
    void failType(const char* name, const Json& value, const char* wanted);

    const Json& m_object;
    std::set<std::string> m_known;
    std::optional<ApiError> m_error;
};

}  // namespace quern::app
