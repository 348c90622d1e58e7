#include "engine/text/jinja/parameters.h"

#include <algorithm>

#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/operators.h"
#include "engine/text/jinja/repr.h"

namespace quern::engine::jinja {

Parameters::Parameters(std::string_view function, const Arguments& arguments,
                       std::initializer_list<std::string_view> names, std::size_t required)
    : m_values(names.size(), nullptr) {
    const std::string shown = std::string(function) + "()";
    if (arguments.positional.size() > names.size()) {
        raiseType(shown + " takes at most " + std::to_string(names.size()) + " arguments (" +
                  std::to_string(arguments.positional.size()) + " given)");
    }
    for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
        m_values[i] = &arguments.positional[i];
    }
    for (const auto& [name, value] : arguments.named) {
        const auto* const found = std::find(names.begin(), names.end(), name);
        if (found == names.end()) {
            raiseType(shown + " got an unexpected keyword argument '" + name + "'");
        }
        const Value*& slot = m_values[static_cast<std::size_t>(found - names.begin())];
        if (slot != nullptr) {
            raiseType(shown + " got multiple values for argument '" + name + "'");
        }
        slot = &value;
    }
    for (std::size_t i = 0; i < required; ++i) {
        if (m_values[i] == nullptr) {
            raiseType(shown + " missing required argument: '" + std::string(names.begin()[i]) +
                      "'");
        }
    }
}

const Value& Parameters::operator[](std::size_t i) const {
    return m_values[i] == nullptr ? m_none : *m_values[i];
}

bool Parameters::isTrue(std::size_t i, bool otherwise) const {
    return m_values[i] == nullptr ? otherwise : jinja::isTrue(*m_values[i]);
}

std::int64_t Parameters::integer(std::size_t i, std::int64_t otherwise) const {
    if (m_values[i] == nullptr) {
        return otherwise;
    }
    raiseIfUndefined(*m_values[i]);
    if (!isInteger(*m_values[i])) {
        raiseType("'" + typeName(*m_values[i]) + "' object cannot be interpreted as an integer");
    }
    return integerOf(*m_values[i]);
}

std::string_view Parameters::text(std::size_t i, std::string_view otherwise) const {
    if (m_values[i] == nullptr) {
        return otherwise;
    }
    if (!m_values[i]->isText()) {
        raiseType("expected str, not " + typeName(*m_values[i]));
    }
    return m_values[i]->text();
}

}  // namespace quern::engine::jinja
