#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// The arguments of a native function by the names of its parameters. Raises TypeError as Python
/// does for too many, unknown, repeated and missing ones.
class Parameters {
public:
    Parameters(std::string_view function, const Arguments& arguments,
               std::initializer_list<std::string_view> names, std::size_t required = 0);

    [[nodiscard]] bool has(std::size_t i) const { return m_values[i] != nullptr; }
    /// None when it was not given.
    [[nodiscard]] const Value& operator[](std::size_t i) const;
    [[nodiscard]] bool isTrue(std::size_t i, bool otherwise) const;
    /// Raises TypeError for what is no integer.
    [[nodiscard]] std::int64_t integer(std::size_t i, std::int64_t otherwise) const;
    /// Raises TypeError for what is no text. The view lives as long as the arguments.
    [[nodiscard]] std::string_view text(std::size_t i, std::string_view otherwise) const;

private:
    std::vector<const Value*> m_values;
    Value m_none;
};

}  // namespace quern::engine::jinja
