#pragma once

#include <string>

#include "app/chat/conversation_store.h"

namespace quern::cli {

/// Shows a reply as it comes: its text on standard output, its reasoning on standard error, so that
/// a pipe gets the answer alone. Belongs to one thread.
class ReplyPrinter {
public:
    ReplyPrinter();

    void reasoning(const std::string& piece);
    void text(const std::string& piece);
    /// Ends the line.
    void end();

private:
    void leaveReasoning();

    bool m_isTerminal;
    bool m_isErrorTerminal;
    bool m_inReasoning = false;
};

/// "42.3 tok/s · 318 tok · TTFT 212 ms · prefix hit 91 % · stop: eos"
[[nodiscard]] std::string figuresLine(const app::ReplyStats& figures);

}  // namespace quern::cli
