#pragma once

#include <QString>
#include <string>

#include "ui/ports/conversation_store.h"
#include "ui/text/markdown.h"

namespace quern::ui {

/// "complete" "writing" "interrupted" "failed"
[[nodiscard]] QString stateName(TurnState state);

/// "para" "heading" "list" "quote" "code" "table" "rule"
[[nodiscard]] QString blockName(BlockKind kind);

/// "42.3 tok/s · 318 tok · TTFT 212 ms · prefix hit 91 % · stop: eos"
[[nodiscard]] QString figuresLine(const TurnFigures& figures);

/// The arguments of a call, a line a member once they are a whole JSON text, in their own order.
[[nodiscard]] QString readableArguments(const std::string& arguments);

}  // namespace quern::ui
