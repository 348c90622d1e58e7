#include "app/cli/line_editor.h"

#include <histedit.h>
#include <langinfo.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <cstring>
#include <iostream>

namespace quern::cli {

namespace {

constexpr int kHistoryLength = 1000;
constexpr int kPasteWaitMs = 20;  // lines of one paste follow each other at once

// libedit takes its characters from the C locale; ours are UTF-8, also where the environment says
// nothing.
void useUtf8() {
    std::setlocale(LC_CTYPE, "");
    if (std::strcmp(::nl_langinfo(CODESET), "UTF-8") != 0) {
        std::setlocale(LC_CTYPE, "C.UTF-8");
    }
}

}  // namespace

struct LineEditor::State {
    std::filesystem::path historyFile;
    EditLine* editor = nullptr;  // null where standard input is no terminal
    History* history = nullptr;
    std::string prompt;
    bool wasDropped = false;  // Ctrl+C
    bool hasEnded = false;    // Ctrl+D in the middle of a message: it is the last one
    termios original{};       // as the terminal was found

    static State& of(EditLine* editor) {
        void* data = nullptr;
        el_get(editor, EL_CLIENTDATA, &data);
        return *static_cast<State*>(data);
    }
    static char* promptText(EditLine* editor) { return of(editor).prompt.data(); }
    static unsigned char dropLine(EditLine* editor, int) {
        of(editor).wasDropped = true;
        el_deletestr(editor, static_cast<int>(el_line(editor)->lastchar - el_line(editor)->buffer));
        return CC_NEWLINE;
    }
};

LineEditor::LineEditor(std::filesystem::path historyFile) : m_state(std::make_unique<State>()) {
    m_state->historyFile = std::move(historyFile);
    if (::isatty(STDIN_FILENO) == 0 || ::isatty(STDOUT_FILENO) == 0) {
        return;
    }
    useUtf8();
    // What is typed while a reply is written waits for the next line. Between lines too the
    // terminal stays without line mode: leaving it and coming back makes the kernel end what was
    // typed ahead with an end of file.
    if (::tcgetattr(STDIN_FILENO, &m_state->original) != 0) {
        return;
    }
    termios waiting = m_state->original;
    waiting.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    ::tcsetattr(STDIN_FILENO, TCSADRAIN, &waiting);
    m_state->editor = el_init("quern", stdin, stdout, stderr);
    m_state->history = history_init();
    if (m_state->editor == nullptr || m_state->history == nullptr) {
        return;
    }
    HistEvent event;
    history(m_state->history, &event, H_SETSIZE, kHistoryLength);
    history(m_state->history, &event, H_SETUNIQUE, 1);
    history(m_state->history, &event, H_LOAD, m_state->historyFile.c_str());
    el_set(m_state->editor, EL_CLIENTDATA, m_state.get());
    el_set(m_state->editor, EL_PROMPT, &State::promptText);
    el_set(m_state->editor, EL_EDITOR, "emacs");
    el_set(m_state->editor, EL_HIST, ::history, m_state->history);
    // While a line is typed, Ctrl+C is a key and no signal.
    el_set(m_state->editor, EL_SETTY, "-d", "-isig", nullptr);
    el_set(m_state->editor, EL_ADDFN, "quern-drop-line", "drop what was typed", &State::dropLine);
    el_set(m_state->editor, EL_BIND, "^C", "quern-drop-line", nullptr);
    el_set(m_state->editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_set(m_state->editor, EL_BIND, "\033[1;5C", "em-next-word", nullptr);
    el_set(m_state->editor, EL_BIND, "\033[1;5D", "ed-prev-word", nullptr);
}

LineEditor::~LineEditor() {
    if (m_state->history != nullptr) {
        HistEvent event;
        history(m_state->history, &event, H_SAVE, m_state->historyFile.c_str());
        history_end(m_state->history);
    }
    if (m_state->editor != nullptr) {
        el_end(m_state->editor);
        restoreTerminal();
    }
}

void LineEditor::restoreTerminal() const {
    if (m_state->editor != nullptr) {
        ::tcsetattr(STDIN_FILENO, TCSANOW, &m_state->original);
    }
}

std::optional<std::string> LineEditor::readLine(const std::string& prompt) {
    if (m_state->editor == nullptr) {
        std::string line;
        if (!std::getline(std::cin, line)) {
            return std::nullopt;
        }
        return line;
    }
    m_state->prompt = prompt;
    m_state->wasDropped = false;
    int count = 0;
    const char* line = el_gets(m_state->editor, &count);
    if (m_state->wasDropped) {
        std::fputs("^C\n", stdout);
        return std::string();
    }
    if (line == nullptr || count <= 0) {
        return std::nullopt;
    }
    std::string text(line, static_cast<std::size_t>(count));
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
        text.pop_back();
    }
    return text;
}

std::optional<std::string> LineEditor::readMessage(const std::string& prompt) {
    const std::string continued = "… ";
    if (m_state->hasEnded) {
        return std::nullopt;
    }
    auto message = readLine(prompt);
    if (!message) {
        return std::nullopt;
    }
    if (m_state->wasDropped) {
        return std::string();
    }
    const auto hasMoreAtOnce = [this] {
        pollfd waiting{STDIN_FILENO, POLLIN, 0};
        return m_state->editor != nullptr && ::poll(&waiting, 1, kPasteWaitMs) > 0;
    };
    const bool isBlock = message->starts_with("\"\"\"");
    if (isBlock) {
        *message = message->substr(3);
    }
    const auto isOpen = [&] {
        if (isBlock) {
            return !message->ends_with("\"\"\"");
        }
        return message->ends_with("\\") || hasMoreAtOnce();
    };
    while (isOpen()) {
        if (!isBlock && message->ends_with("\\")) {
            message->pop_back();
        }
        auto line = readLine(continued);
        if (!line) {
            m_state->hasEnded = true;
            break;
        }
        if (m_state->wasDropped) {
            return std::string();
        }
        *message += "\n" + *line;
    }
    if (isBlock && message->ends_with("\"\"\"")) {
        message->resize(message->size() - 3);
    }
    if (m_state->history != nullptr && !message->empty() &&
        message->find('\n') == std::string::npos) {
        HistEvent event;
        history(m_state->history, &event, H_ENTER, message->c_str());
    }
    return message;
}

}  // namespace quern::cli
