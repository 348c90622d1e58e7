#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "engine/formats/architecture.h"
#include "engine/formats/json_file.h"

namespace quern::engine {

/// Reads values of a config.json. Each is asked for by the names it goes by, the first one that is
/// there and not null counts; then what the architecture knows, then what the class of `modelType`
/// takes for one that is left out. The first error stays, so that a config is read without a check
/// a line. One thread; borrows the config.
class HfConfig {
public:
    using Keys = std::initializer_list<std::string_view>;

    HfConfig(const Json& config, const Architecture& architecture, std::string_view modelType)
        : m_config(config), m_architecture(architecture), m_modelType(modelType) {}

    [[nodiscard]] const std::optional<Error>& error() const { return m_error; }
    void setError(ErrorCode code, std::string message);

    /// Null when none is there.
    [[nodiscard]] const Json* find(Keys keys) const;
    [[nodiscard]] bool has(Keys keys) const { return find(keys) != nullptr; }
    /// What stands for a key that is left out, as text; empty when nothing does. A null is a value:
    /// "no window" is not the default window.
    [[nodiscard]] std::string_view standard(std::string_view key) const;

    /// Absent only when neither the config nor the defaults have it. An error when it is infinite
    /// or no number.
    [[nodiscard]] std::optional<double> number(Keys keys);
    [[nodiscard]] double numberOr(Keys keys, double fallback) {
        return number(keys).value_or(fallback);
    }
    /// A number above 0 and below `limit`, or an error.
    [[nodiscard]] double fractionOr(Keys keys, double limit, double fallback);
    [[nodiscard]] std::optional<std::int64_t> integer(Keys keys);
    [[nodiscard]] std::int64_t integerOr(Keys keys, std::int64_t fallback) {
        return integer(keys).value_or(fallback);
    }
    /// An error when it is not there.
    [[nodiscard]] std::int64_t required(Keys keys);
    [[nodiscard]] std::optional<bool> boolean(std::string_view key);
    [[nodiscard]] bool booleanOr(std::string_view key, bool fallback) {
        return boolean(key).value_or(fallback);
    }
    [[nodiscard]] std::string string(Keys keys);
    /// Numbers of a list; empty, with an error, when it is something else.
    [[nodiscard]] std::vector<double> numbers(const Json& list, std::string_view key);

private:
    [[nodiscard]] std::optional<double> toNumber(const Json& value, std::string_view key);
    /// The name that the value goes by here; the first where it is not there.
    [[nodiscard]] std::string nameOf(Keys keys) const;
    [[nodiscard]] std::optional<double> standardNumber(std::string_view key) const;

    const Json& m_config;
    const Architecture& m_architecture;
    std::string_view m_modelType;
    std::optional<Error> m_error;
};

}  // namespace quern::engine
