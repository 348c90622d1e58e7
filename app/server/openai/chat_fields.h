#pragma once

#include "app/server/openai/fields.h"
#include "engine/request.h"

namespace quern::app {

/// Reads what a chat's prompt is made of: messages, tools, and what else its template is given. An
/// error is kept in `fields`, with the place ("tools[1].function.name").
[[nodiscard]] engine::ChatPrompt readChatPrompt(Fields& fields);

}  // namespace quern::app
