#pragma once

#include <span>
#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// A filter of the language: `input | name(arguments)`.
struct FilterEntry {
    std::string_view name;
    Value (*apply)(Interpreter&, const Value& input, const Arguments&);
};

/// Null when there is no such filter. The entry lives forever.
[[nodiscard]] const FilterEntry* findFilter(std::string_view name);

// The tables it looks in.
[[nodiscard]] std::span<const FilterEntry> textFilters();
[[nodiscard]] std::span<const FilterEntry> wrapFilters();
[[nodiscard]] std::span<const FilterEntry> markupFilters();
[[nodiscard]] std::span<const FilterEntry> numberFilters();
[[nodiscard]] std::span<const FilterEntry> sequenceFilters();
[[nodiscard]] std::span<const FilterEntry> orderFilters();
[[nodiscard]] std::span<const FilterEntry> selectFilters();

}  // namespace quern::engine::jinja
