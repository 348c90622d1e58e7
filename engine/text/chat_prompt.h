#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/request.h"
#include "engine/text.h"

namespace quern::engine {

struct RenderedChat {
    std::string text;
    ReplyFormat replyFormat;  // how replies to it are built
};

/// A chat as the text that the model is to go on with. Uses the prompt's own template where it has
/// one, else `templates.toolUse` when there are tools, else `templates.standard`.
///
/// Tools that the template has no place for are said in the system message, and calls and their
/// results are written as text (see tools_as_text.h).
///
/// continueFinalMessage renders without a generation prompt and ends behind the last message's
/// text. Both it and addGenerationPrompt: kInvalidArgument with the field
/// "continue_final_message".
///
/// A refusal is kInvalidArgument with the template's own sentence as message; its `field` is
/// "messages[N]" where the chat up to message N is the first that is refused so. kUnsupported when
/// there is no template.
[[nodiscard]] Result<RenderedChat> renderPrompt(const ChatTemplates& templates,
                                                const ChatPrompt& prompt, std::string_view bos,
                                                std::string_view eos,
                                                std::optional<std::int64_t> now = std::nullopt);

}  // namespace quern::engine
