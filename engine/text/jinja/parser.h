#pragma once

#include <string_view>

#include "engine/text/jinja/ast.h"

namespace quern::engine::jinja {

/// Parses a template. Throws Failure with the line: TemplateSyntaxError for what is no Jinja,
/// TemplateAssertionError for unknown filters and tests, and for what needs a template loader.
/// `source` is valid UTF-8. Nesting is bounded.
[[nodiscard]] Template parseTemplate(std::string_view source);

}  // namespace quern::engine::jinja
