#include "engine/text/jinja/filters.h"

#include <algorithm>

namespace quern::engine::jinja {

const FilterEntry* findFilter(std::string_view name) {
    for (const auto table : {textFilters(), wrapFilters(), markupFilters(), numberFilters(),
                             sequenceFilters(), orderFilters(), selectFilters()}) {
        const auto found = std::find_if(table.begin(), table.end(),
                                        [name](const FilterEntry& f) { return f.name == name; });
        if (found != table.end()) {
            return &*found;
        }
    }
    return nullptr;
}

}  // namespace quern::engine::jinja
