#include "app/cli/chat_command.h"

#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "app/chat/chat_service.h"
#include "app/cli/exit_codes.h"
#include "app/cli/line_editor.h"
#include "app/cli/model_session.h"

namespace quern::cli {

namespace {

constexpr const char* kHelp =
    "  /new            a new conversation\n"
    "  /list           conversations, newest first\n"
    "  /open N         go on with conversation N of the list\n"
    "  /system TEXT    the system prompt of this conversation\n"
    "  /again          another answer to the last message\n"
    "  /show           this conversation so far\n"
    "  /exit           leave (or Ctrl+D)\n"
    "  A line that ends in \\ goes on; \"\"\" opens and closes a longer text.\n"
    "  Ctrl+C stops a reply, Up and Ctrl+R search what was typed.\n";

/// Prints a reply as it comes and lets the caller wait for its end.
class Printer : public app::ReplyObserver {
public:
    explicit Printer(bool isTerminal) : m_isTerminal(isTerminal) {}

    void onStarted(app::MessageId reply, std::int32_t) override {
        const std::lock_guard lock(m_mutex);
        m_reply = reply;
        m_changed.notify_all();
    }
    void onText(app::MessageId, const std::string& delta) override {
        const std::string shown = m_isTerminal ? withoutTerminalControls(delta) : delta;
        std::fwrite(shown.data(), 1, shown.size(), stdout);
        std::fflush(stdout);
    }
    void onFinished(const app::Message& message, const std::optional<Error>& saveError) override {
        std::fputs("\n", stdout);
        if (!message.error.empty()) {
            std::fprintf(stderr, "quern: %s\n", message.error.c_str());
        }
        if (saveError) {
            std::fprintf(stderr, "quern: the reply is not saved: %s\n", saveError->message.c_str());
        }
        printFigures(message.stats);
        end();
    }
    void onRefused(const Error& error) override {
        reportError(error);
        end();
    }

    [[nodiscard]] app::MessageId reply() {
        const std::lock_guard lock(m_mutex);
        return m_reply;
    }
    void waitForEnd() {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_isOver; });
    }

private:
    void end() {
        const std::lock_guard lock(m_mutex);
        m_isOver = true;
        m_changed.notify_all();
    }
    void printFigures(const app::ReplyStats& stats) const {
        const std::string line =
            figuresLine(stats.tokensPerSecond, stats.completionTokens, stats.ttftMs,
                        stats.promptTokens, stats.cachedTokens, stats.stopReason);
        std::fflush(stdout);
        if (::isatty(STDERR_FILENO) != 0) {
            std::fprintf(stderr, "\033[2m%s\033[0m\n\n", line.c_str());
        } else {
            std::fprintf(stderr, "%s\n", line.c_str());
        }
    }

    bool m_isTerminal;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    app::MessageId m_reply = 0;
    bool m_isOver = false;
};

// The start of the first message, as far as a title goes.
std::string titleOf(const std::string& text) {
    constexpr std::size_t kLongest = 60;
    std::string title = text.substr(0, text.find('\n'));
    if (title.size() > kLongest) {
        title.resize(kLongest);
        // Not inside a character: its later bytes are 10xxxxxx.
        while (!title.empty() && (static_cast<unsigned char>(title.back()) & 0xC0) == 0x80) {
            title.pop_back();
        }
        if (!title.empty() && static_cast<unsigned char>(title.back()) >= 0xC0) {
            title.pop_back();
        }
        title += "…";
    }
    return title;
}

class ChatLoop {
public:
    ChatLoop(const ChatOptions& options, ModelSession& session, app::ConversationStore& store,
             InterruptWatcher& interrupts)
        : m_options(options),
          m_session(session),
          m_store(store),
          m_service(*session.engine, store),
          m_interrupts(interrupts) {}

    int run(LineEditor& editor) {
        if (m_options.resumesLast) {
            openFromList(1);
        }
        const bool isTerminal = ::isatty(STDIN_FILENO) != 0;
        if (isTerminal) {
            std::fprintf(stderr, "%s · /help for help · Ctrl+D leaves\n",
                         m_session.model->name.c_str());
        }
        // At the prompt Ctrl+C is a key; where there is no terminal, it ends the program.
        if (isTerminal) {
            m_interrupts.setHandler([] {});
        }
        while (auto message = editor.readMessage("> ")) {
            if (message->empty()) {
                continue;
            }
            if (message->front() == '/' && message->find('\n') == std::string::npos) {
                if (!obey(*message)) {
                    break;
                }
            } else {
                send(*message);
            }
        }
        if (isTerminal) {
            std::fputs("\n", stdout);
        }
        m_interrupts.setHandler({});
        return m_exitCode;
    }

private:
    // False: leave.
    bool obey(const std::string& line) {
        const auto blank = line.find(' ');
        const std::string word = line.substr(0, blank);
        const std::string rest = blank == std::string::npos ? "" : line.substr(blank + 1);
        if (word == "/exit" || word == "/quit") {
            return false;
        }
        if (word == "/help") {
            std::fputs(kHelp, stderr);
        } else if (word == "/new") {
            m_conversation = 0;
            m_last = 0;
            std::fputs("a new conversation\n", stderr);
        } else if (word == "/list") {
            printList();
        } else if (word == "/open") {
            openFromList(std::strtol(rest.c_str(), nullptr, 10));
        } else if (word == "/system") {
            if (startConversation("") == 0) {
                return true;
            }
            report(m_store.setSystemPrompt(m_conversation, rest));
        } else if (word == "/again") {
            answerAgain();
        } else if (word == "/show") {
            show();
        } else {
            std::fprintf(stderr, "no command %s; /help lists them\n", word.c_str());
        }
        return true;
    }

    void report(const Status& status) {
        if (!status) {
            m_exitCode = reportError(status.error());
        }
    }

    app::ConversationId startConversation(const std::string& firstMessage) {
        if (m_conversation == 0) {
            auto made = m_store.create(titleOf(firstMessage), m_session.model->name);
            if (!made) {
                m_exitCode = reportError(made.error());
                return 0;
            }
            m_conversation = *made;
            if (!m_options.system.empty()) {
                report(m_store.setSystemPrompt(m_conversation, m_options.system));
            }
        } else if (m_last == 0 && !firstMessage.empty()) {
            report(m_store.rename(m_conversation, titleOf(firstMessage)));
        }
        return m_conversation;
    }

    void send(const std::string& text) {
        if (startConversation(text) == 0) {
            return;
        }
        auto message = m_store.append(m_conversation, m_last, "user", text);
        if (!message) {
            m_exitCode = reportError(message.error());
            return;
        }
        answer(*message);
    }

    void answer(app::MessageId question) {
        app::ReplyOptions options;
        options.model = m_session.model->name;
        options.sampling = m_session.model->defaults;
        engine::OutputParams output;
        m_options.sampling.apply(options.sampling, output);
        options.maxTokens = output.maxTokens;
        auto printer = std::make_shared<Printer>(::isatty(STDOUT_FILENO) != 0);
        m_interrupts.setHandler([this] { m_service.stopAll(); });
        m_service.reply(m_conversation, question, std::move(options), printer);
        printer->waitForEnd();
        m_interrupts.setHandler([] {});
        m_last = printer->reply() != 0 ? printer->reply() : m_last;
        if (printer->reply() == 0) {
            m_exitCode = kExitFailed;
        }
    }

    void answerAgain() {
        auto conversation = m_store.load(m_conversation);
        if (m_conversation == 0 || !conversation || conversation->path.size() < 2) {
            std::fputs("there is nothing to answer again\n", stderr);
            return;
        }
        answer(conversation->path.back().parent);
    }

    void printList() {
        auto found = m_store.list("", 20);
        if (!found) {
            m_exitCode = reportError(found.error());
            return;
        }
        int number = 1;
        for (const auto& entry : *found) {
            std::fprintf(stderr, "%3d  %s\n", number++,
                         withoutTerminalControls(entry.title).c_str());
        }
    }

    void openFromList(long number) {
        auto found = m_store.list("", 20);
        if (!found || number < 1 || static_cast<std::size_t>(number) > found->size()) {
            std::fputs("no such conversation; /list shows them\n", stderr);
            return;
        }
        auto conversation = m_store.load((*found)[static_cast<std::size_t>(number - 1)].id);
        if (!conversation) {
            m_exitCode = reportError(conversation.error());
            return;
        }
        m_conversation = conversation->id;
        m_last = conversation->path.empty() ? 0 : conversation->path.back().id;
        show();
    }

    void show() {
        auto conversation = m_store.load(m_conversation);
        if (!conversation) {
            std::fputs("nothing was said yet\n", stderr);
            return;
        }
        if (!conversation->systemPrompt.empty()) {
            std::printf("[system] %s\n",
                        withoutTerminalControls(conversation->systemPrompt).c_str());
        }
        for (const app::Message& message : conversation->path) {
            std::printf("%s%s%s\n", message.role == "user" ? "> " : "",
                        withoutTerminalControls(message.text).c_str(),
                        message.state == app::MessageState::kInterrupted ? " [interrupted]" : "");
        }
        std::fflush(stdout);
    }

    const ChatOptions& m_options;
    ModelSession& m_session;
    app::ConversationStore& m_store;
    app::ChatService m_service;
    InterruptWatcher& m_interrupts;
    app::ConversationId m_conversation = 0;
    app::MessageId m_last = 0;
    int m_exitCode = kExitOk;
};

}  // namespace

int runChat(const ChatOptions& options, const app::DataFolders& folders,
            const app::ModelLibrary& library, InterruptWatcher& interrupts) {
    auto store = app::ConversationStore::open(folders.database());
    if (!store) {
        return reportError(store.error());
    }
    const std::string name = options.model.empty() ? app::kStarterName : options.model;
    auto session = ModelSession::open(library, name, options.modelFlags, false);
    if (!session) {
        return reportError(session.error());
    }
    LineEditor editor(folders.data / "terminal_history");
    return ChatLoop(options, *session, **store, interrupts).run(editor);
}

}  // namespace quern::cli
