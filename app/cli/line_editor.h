#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

namespace quern::cli {

/// Reads messages from a person: editing and history on a terminal (libedit), plain lines
/// elsewhere. A message may have several lines: a line that ends in a backslash goes on, """ opens
/// a text that the next """ closes, and lines that are pasted at once stay together. Ctrl+C drops
/// what was typed. Belongs to one thread.
class LineEditor {
public:
    /// History is kept in `historyFile` across runs.
    explicit LineEditor(std::filesystem::path historyFile);
    ~LineEditor();
    LineEditor(const LineEditor&) = delete;
    LineEditor& operator=(const LineEditor&) = delete;

    /// The next message without its last newline; absent at the end of input (Ctrl+D).
    [[nodiscard]] std::optional<std::string> readMessage(const std::string& prompt);
    /// Gives the terminal back as it was found, for an end at once. Any thread.
    void restoreTerminal() const;

private:
    struct State;
    [[nodiscard]] std::optional<std::string> readLine(const std::string& prompt);
    std::unique_ptr<State> m_state;
};

}  // namespace quern::cli
