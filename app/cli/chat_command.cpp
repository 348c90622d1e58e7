#include "app/cli/chat_command.h"

#include <unistd.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>

#include "app/chat/chat_service.h"
#include "app/chat/opened_conversations.h"
#include "app/chat/reply_figures.h"
#include "app/cli/exit_codes.h"
#include "app/cli/line_editor.h"
#include "app/cli/model_session.h"
#include "app/cli/reply_printer.h"
#include "app/cli/standard_streams.h"
#include "app/cli/terminal_text.h"

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

std::string callLine(const app::MessageCall& call) {
    return "[calls " + withoutTerminalControls(call.name + " " + call.arguments) + "]";
}

/// Prints a reply as it comes and lets the caller wait for its end.
class Printer : public app::ReplyObserver {
public:
    void onStarted(const app::ReplyStart& start) override {
        m_conversation = start.conversation;
        m_reply = start.added.back().id;
    }
    void onNews(const app::ReplyNews& news) override {
        m_printer.reasoning(news.reasoning);
        m_printer.text(news.text);
    }
    void onFinished(const app::Message& message, const std::optional<Error>& saveError) override {
        m_printer.end();
        for (const app::MessageCall& call : message.calls) {
            std::printf("%s\n", callLine(call).c_str());
        }
        std::fflush(stdout);
        if (!message.error.empty()) {
            tellUser(message.error);
        }
        if (saveError) {
            tellUser("the reply is not saved: " + saveError->message);
        }
        printFigures(message.stats);
        m_isContextFull = message.stats.stopReason == app::kStopContextFull;
        end();
    }
    void onRefused(const Error& error, app::Refusal refusal) override {
        if (refusal == app::Refusal::kStore) {
            tellUser("the message is not sent, because it could not be saved");
        }
        m_exitCode = reportError(error);
        m_isTooMuchAsked = error.code == ErrorCode::kContextLength && error.field == "max_tokens";
        m_isContextFull = error.code == ErrorCode::kContextLength && !m_isTooMuchAsked;
        m_isGone = error.code == ErrorCode::kNotFound && error.field != "model";
        end();
    }

    void waitForEnd() {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [this] { return m_isOver; });
    }
    // After the end: what the program is to say of a refusal.
    [[nodiscard]] int exitCode() const { return m_exitCode; }
    // After the end: nothing more can be said in this conversation.
    [[nodiscard]] bool isContextFull() const { return m_isContextFull; }
    // After the end: there is room, but not for as long a reply as was asked for.
    [[nodiscard]] bool isTooMuchAsked() const { return m_isTooMuchAsked; }
    // After the end: another program has removed the conversation.
    [[nodiscard]] bool isGone() const { return m_isGone; }
    // After the end; 0 when nothing was started.
    [[nodiscard]] app::ConversationId conversation() const { return m_conversation; }
    [[nodiscard]] app::MessageId reply() const { return m_reply; }

private:
    void end() {
        const std::lock_guard lock(m_mutex);
        m_isOver = true;
        m_changed.notify_all();
    }
    static void printFigures(const app::ReplyStats& stats) {
        const std::string line = figuresLine(stats);
        if (::isatty(STDERR_FILENO) != 0) {
            std::fprintf(stderr, "\033[2m%s\033[0m\n\n", line.c_str());
        } else {
            std::fprintf(stderr, "%s\n", line.c_str());
        }
    }

    // Written on the service's thread before the end, read after it.
    ReplyPrinter m_printer;
    app::ConversationId m_conversation = 0;
    app::MessageId m_reply = 0;
    int m_exitCode = kExitOk;
    bool m_isContextFull = false;
    bool m_isTooMuchAsked = false;
    bool m_isGone = false;
    std::mutex m_mutex;
    std::condition_variable m_changed;
    bool m_isOver = false;
};

class ChatLoop {
public:
    ChatLoop(const ChatOptions& options, ModelSession& session, app::ConversationStore& store,
             InterruptWatcher& interrupts)
        : m_options(options),
          m_session(session),
          m_store(store),
          m_service(*session.engine, store),
          m_interrupts(interrupts),
          m_system(options.system) {}

    int run(LineEditor& editor) {
        if (m_options.resumesLast) {
            openFromList(1);
        }
        const bool isTerminal = ::isatty(STDIN_FILENO) != 0;
        if (isTerminal) {
            std::fprintf(stderr, "%s · /help for help · Ctrl+D leaves\n",
                         withoutTerminalControls(m_session.name).c_str());
        }
        // At the prompt Ctrl+C is a key; where there is no terminal, it ends the program.
        if (isTerminal) {
            m_betweenReplies = [] {};
        }
        m_interrupts.setHandler(m_betweenReplies);
        // What is said is saved as it comes: nothing is lost by an end at once.
        m_interrupts.setEnding([&editor] {
            editor.restoreTerminal();
            ::_exit(kExitInterrupted);
        });
        while (auto message = editor.readMessage("> ")) {
            if (message->empty()) {
                continue;
            }
            if (message->front() == '/' && message->find('\n') == std::string::npos) {
                if (!obey(*message)) {
                    break;
                }
            } else {
                answer(m_last, std::move(*message));
            }
        }
        if (isTerminal) {
            std::fputs("\n", stdout);
        }
        m_interrupts.setHandler({});
        m_interrupts.setEnding({});
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
            m_system = m_options.system;
            std::fputs("a new conversation\n", stderr);
        } else if (word == "/list") {
            printList();
        } else if (word == "/open") {
            openFromList(std::strtol(rest.c_str(), nullptr, 10));
        } else if (word == "/system") {
            if (m_conversation == 0) {
                m_system = rest;
            } else {
                report(m_store.setSystemPrompt(m_conversation, rest));
            }
        } else if (word == "/again") {
            answerAgain();
        } else if (word == "/show") {
            show();
        } else {
            std::fprintf(stderr, "no command %s; /help lists them\n",
                         withoutTerminalControls(word).c_str());
        }
        return true;
    }

    void report(const Status& status) {
        if (!status) {
            m_exitCode = reportError(status.error());
        }
    }

    // Has a reply written below `parent`, or below a message that is added there.
    void answer(app::MessageId parent, std::optional<std::string> message) {
        app::ReplyOrder order;
        order.conversation = m_conversation;
        order.parent = parent;
        order.message = std::move(message);
        if (m_conversation == 0) {
            order.systemPrompt = m_system;
        }
        order.model = m_session.name;
        engine::SamplingParams sampling = app::chatSampling(*m_session.model);
        engine::OutputParams output;
        m_options.sampling.apply(sampling, output);
        order.sampling = sampling;
        order.maxTokens = output.maxTokens;
        order.stop = output.stop;
        const auto printer = std::make_shared<Printer>();
        m_interrupts.setHandler([this] { m_service.stopAll(); });
        m_service.reply(std::move(order), printer);
        printer->waitForEnd();
        m_interrupts.setHandler(m_betweenReplies);
        if (printer->isContextFull()) {
            tellWaysOut();
        } else if (printer->isTooMuchAsked()) {
            tellUser(
                "begin again with a smaller --max-tokens, or none: replies end where the "
                "context does");
        }
        if (printer->reply() == 0) {
            m_exitCode = printer->exitCode();
            if (printer->isGone() && m_conversation != 0) {
                m_conversation = 0;
                m_last = 0;
                tellUser("it was removed by another program; say it again to begin a new one");
            }
            return;
        }
        m_conversation = printer->conversation();
        m_last = printer->reply();
    }

    // Of a context that is full.
    void tellWaysOut() const {
        const std::int64_t now = m_session.model->options.contextTokens;
        const std::int64_t most = m_session.model->info.contextTokens;
        const std::string here = "the context of " + std::to_string(now) + " tokens is full: /new ";
        tellUser(now < most
                     ? here +
                           "begins another conversation; to go on with this one, leave and use "
                           "quern chat --resume --ctx N (this model takes up to " +
                           std::to_string(most) + ")"
                     : here + "begins another conversation (this model takes no more)");
    }

    void answerAgain() {
        auto conversation = m_store.load(m_conversation, m_last);
        if (m_conversation == 0 || !conversation || conversation->path.size() < 2) {
            std::fputs("there is nothing to answer again\n", stderr);
            return;
        }
        answer(conversation->path.back().parent, std::nullopt);
    }

    bool readList() {
        auto found = m_store.list("", 20);
        if (!found) {
            m_exitCode = reportError(found.error());
            return false;
        }
        m_listed = std::move(*found);
        return true;
    }

    void printList() {
        if (!readList()) {
            return;
        }
        int number = 1;
        for (const auto& entry : m_listed) {
            std::fprintf(stderr, "%3d  %s\n", number++,
                         withoutTerminalControls(entry.title).c_str());
        }
    }

    // By the numbers that were shown, whatever was said in other conversations since.
    void openFromList(long number) {
        if (m_listed.empty() && !readList()) {
            return;
        }
        if (number < 1 || static_cast<std::size_t>(number) > m_listed.size()) {
            std::fputs("no such conversation; /list shows them\n", stderr);
            return;
        }
        auto conversation = m_store.load(m_listed[static_cast<std::size_t>(number - 1)].id);
        if (!conversation) {
            m_exitCode = reportError(conversation.error());
            return;
        }
        m_conversation = conversation->id;
        m_last = conversation->path.empty() ? 0 : conversation->path.back().id;
        show();
    }

    // The branch that is written here, whatever another program has open.
    void show() {
        auto conversation = m_store.load(m_conversation, m_last);
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
            for (const app::MessageCall& call : message.calls) {
                std::printf("%s\n", callLine(call).c_str());
            }
        }
        std::fflush(stdout);
    }

    const ChatOptions& m_options;
    ModelSession& m_session;
    app::ConversationStore& m_store;
    app::ChatService m_service;
    InterruptWatcher& m_interrupts;
    std::function<void()> m_betweenReplies;  // what Ctrl+C does there
    std::string m_system;                    // of the next conversation that is made
    app::ConversationId m_conversation = 0;
    app::MessageId m_last = 0;
    std::vector<app::ConversationSummary> m_listed;  // as /list showed them last
    int m_exitCode = kExitOk;
};

void tellTrouble(const app::FileTrouble& trouble) {
    const Error& error = trouble.error;
    const std::string why = error.message + (error.cause.empty() ? "" : " (" + error.cause + ")");
    switch (trouble.outcome) {
        case app::FileTrouble::Outcome::kSetAside:
            tellUser(why + "; it is kept as " + trouble.kept.string() + ", and a new one is begun");
            break;
        case app::FileTrouble::Outcome::kReadOnly:
            tellUser(why + ": what is said now is not saved");
            break;
        case app::FileTrouble::Outcome::kUnread:
            tellUser(why + ": its conversations are not shown, and what is said now is not saved");
            break;
    }
}

}  // namespace

int runChat(const ChatOptions& options, const app::DataFolders& folders,
            const app::ModelLibrary& library, InterruptWatcher& interrupts) {
    auto conversations = app::openConversations(folders.database());
    if (!conversations) {
        return reportError(conversations.error());
    }
    if (conversations->trouble) {
        tellTrouble(*conversations->trouble);
    }
    const std::string name = options.model.empty() ? app::kStarterName : options.model;
    auto session = ModelSession::open(library, name, options.modelFlags, false, {}, options.lora);
    if (!session) {
        return reportError(session.error());
    }
    LineEditor editor(folders.data / "terminal_history");
    return ChatLoop(options, *session, *conversations->store, interrupts).run(editor);
}

}  // namespace quern::cli
