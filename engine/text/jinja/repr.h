#pragma once

#include <string>
#include <string_view>

#include "engine/text/jinja/value.h"

namespace quern::engine::jinja {

/// Python's name of a value's type, as error messages show it: "str", "list", "NoneType".
[[nodiscard]] std::string typeName(const Value& value);

/// Python's str(): what printing a value gives.
[[nodiscard]] std::string toText(const Value& value);
/// Python's repr().
[[nodiscard]] std::string toRepr(const Value& value);
[[nodiscard]] std::string reprText(std::string_view text);
/// repr with everything beyond ASCII escaped.
[[nodiscard]] std::string asciiRepr(const Value& value);

/// repr with the keys of every dict in order, where they are texts.
[[nodiscard]] std::string sortedRepr(const Value& value);

/// Python's truth.
[[nodiscard]] bool isTrue(const Value& value);

/// Raises the error that an undefined value stands for; does nothing for all others.
void raiseIfUndefined(const Value& value);

/// Number of items, or of code points. Throws TypeError where there is none.
[[nodiscard]] std::int64_t lengthOf(const Value& value);
[[nodiscard]] bool hasLength(const Value& value);

/// Walks over a value's items (characters, keys…). Throws TypeError where there are none.
[[nodiscard]] Cursor iterate(Heap& heap, const Value& value);
[[nodiscard]] bool isIterable(const Value& value);
/// The item that a view shows for an entry.
[[nodiscard]] Value viewItem(Heap& heap, DictView::Part part, const Dict::Entry& entry);

/// Text with & < > ' " replaced, as Jinja escapes HTML.
[[nodiscard]] std::string escapeHtml(std::string_view text);

}  // namespace quern::engine::jinja
