#include "app/cli/reply_printer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "app/cli/terminal_text.h"

namespace quern::cli {

namespace {

void print(std::FILE* to, bool isTerminal, const std::string& text) {
    const std::string shown = isTerminal ? withoutTerminalControls(text) : text;
    std::fwrite(shown.data(), 1, shown.size(), to);
    std::fflush(to);
}

}  // namespace

ReplyPrinter::ReplyPrinter()
    : m_isTerminal(::isatty(STDOUT_FILENO) != 0), m_isErrorTerminal(::isatty(STDERR_FILENO) != 0) {}

void ReplyPrinter::reasoning(const std::string& piece) {
    if (piece.empty()) {
        return;
    }
    if (!m_inReasoning && m_isErrorTerminal) {
        std::fputs("\033[2m", stderr);
    }
    m_inReasoning = true;
    print(stderr, m_isErrorTerminal, piece);
}

void ReplyPrinter::leaveReasoning() {
    if (m_inReasoning) {
        std::fputs(m_isErrorTerminal ? "\033[0m\n\n" : "\n\n", stderr);
        m_inReasoning = false;
    }
}

void ReplyPrinter::text(const std::string& piece) {
    if (!piece.empty()) {
        leaveReasoning();
        print(stdout, m_isTerminal, piece);
    }
}

void ReplyPrinter::end() {
    leaveReasoning();
    print(stdout, m_isTerminal, "\n");
}

std::string figuresLine(const app::ReplyStats& figures) {
    const double hit = figures.promptTokens > 0
                           ? 100.0 * static_cast<double>(figures.cachedTokens) /
                                 static_cast<double>(figures.promptTokens)
                           : 0.0;
    return fmt::format("{:.1f} tok/s · {} tok · TTFT {:.0f} ms · prefix hit {:.0f} % · stop: {}",
                       figures.tokensPerSecond, figures.completionTokens, figures.ttftMs, hit,
                       figures.stopReason);
}

}  // namespace quern::cli
