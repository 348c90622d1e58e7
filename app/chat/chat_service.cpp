#include "app/chat/chat_service.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "app/chat/chat_prompt_builder.h"

namespace quern::app {

namespace {

using Clock = std::chrono::steady_clock;

// Often enough that a crash costs a word or two, seldom enough that the disk is idle.
constexpr auto kSaveEvery = std::chrono::milliseconds(250);

/// A reply that runs.
struct Running {
    MessageId message = 0;
    ConversationId conversation = 0;
    std::string model;
    std::string text;
    std::int32_t promptTokens = 0;
    std::shared_ptr<ReplyObserver> observer;
    Clock::time_point lastSaved = Clock::now();
    bool hasUnsaved = false;
};

/// A request for a reply, and where the reply goes.
struct PreparedReply {
    engine::PreparedRequest request;
    MessageId parent = 0;   // the message it answers
    std::string continued;  // the text it goes on with
};

double tokensPerSecond(const engine::Usage& usage) {
    // The first token belongs to the prefill: decode speed is that of those after it.
    const auto decoded = usage.completionTokens - 1;
    return decoded > 0 && usage.decodeSeconds > 0 ? decoded / usage.decodeSeconds : 0.0;
}

}  // namespace

std::string describeStop(const engine::FinishInfo& finish) {
    switch (finish.reason) {
        case engine::FinishReason::kStop:
            return finish.stopToken ? "eos" : "stop: " + finish.stopReason;
        case engine::FinishReason::kLength:
            return "length";
        case engine::FinishReason::kContext:
            return "context full";
        case engine::FinishReason::kCancelled:
            return "stopped";
        case engine::FinishReason::kDeadline:
            return "deadline";
        case engine::FinishReason::kError:
            return "error";
    }
    return {};
}

/// The thread that owns every running reply. Jobs and events arrive through one locked queue each;
/// all else is touched by the thread alone.
class ChatService::Worker {
public:
    Worker(engine::Engine& engine, ConversationStore& store)
        : m_engine(engine), m_store(store), m_inbox(std::make_shared<Inbox>()) {
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

    ~Worker() {
        post([this] { cancelAll(); });
        m_thread.request_stop();
        m_inbox->wake.notify_all();
    }

    void post(std::function<void()> job) {
        {
            const std::lock_guard lock(m_inbox->mutex);
            m_inbox->jobs.push_back(std::move(job));
        }
        m_inbox->wake.notify_all();
    }

    void start(ConversationId id, MessageId parent, const ReplyOptions& options,
               std::shared_ptr<ReplyObserver> observer) {
        auto prepared = prepare(id, parent, std::nullopt, options);
        if (!prepared) {
            observer->onRefused(prepared.error());
            return;
        }
        const auto promptTokens = static_cast<std::int32_t>(prepared->request.promptIds.size());
        const std::string model = prepared->request.request.model;
        const std::string before = prepared->continued;
        auto message = m_store.beginReply(id, prepared->parent, model);
        if (!message) {
            observer->onRefused(message.error());
            return;
        }
        auto request = m_engine.submit(std::move(prepared->request), m_inbox);
        if (!request) {
            finishUnstarted(*message, before, request.error(), *observer);
            return;
        }
        m_running[*request] = Running{.message = *message,
                                      .conversation = id,
                                      .model = model,
                                      .text = before,
                                      .promptTokens = promptTokens,
                                      .observer = observer};
        observer->onStarted(*message, promptTokens);
        if (!before.empty()) {
            observer->onText(*message, before);
        }
    }

    void stop(MessageId reply) {
        for (const auto& [request, running] : m_running) {
            if (running.message == reply) {
                m_engine.cancel(request);
            }
        }
    }

    void cancelAll() {
        for (const auto& [request, running] : m_running) {
            m_engine.cancel(request);
        }
    }

    Result<PreparedReply> prepare(ConversationId id, MessageId parent,
                                  const std::optional<std::string>& draft,
                                  const ReplyOptions& options) {
        auto conversation = m_store.load(id);
        if (!conversation) {
            return forward(conversation);
        }
        cutAfter(*conversation, parent);
        PreparedReply reply;
        reply.parent = parent;
        if (options.continueReply && !conversation->path.empty()) {
            reply.continued = conversation->path.back().text;
            reply.parent = conversation->path.back().parent;
        }
        if (draft) {
            Message message;
            message.role = "user";
            message.text = *draft;
            conversation->path.push_back(std::move(message));
        }
        engine::Request request;
        request.model = options.model;
        request.prompt =
            buildChatPrompt(*conversation, options.leaveOutMessages, options.continueReply);
        request.sampling = options.sampling;
        request.output.maxTokens = options.maxTokens;
        request.clientId = "chat";
        auto prepared = m_engine.prepare(std::move(request));
        if (!prepared) {
            return forward(prepared);
        }
        reply.request = std::move(*prepared);
        return reply;
    }

private:
    /// Where other threads leave their news. Shared with the engine, which may hold it longer.
    struct Inbox : engine::EventSink {
        void onEvent(engine::TokenEvent event) override {
            {
                const std::lock_guard lock(mutex);
                events.push_back(std::move(event));
            }
            wake.notify_all();
        }
        std::mutex mutex;
        std::condition_variable_any wake;
        std::deque<std::function<void()>> jobs;
        // One event a token: a reply's length bounds it, and the engine paces it.
        std::deque<engine::TokenEvent> events;
    };

    // A message in the middle of the path is answered as if what follows were not there.
    static void cutAfter(Conversation& conversation, MessageId last) {
        for (std::size_t i = 0; i < conversation.path.size(); ++i) {
            if (conversation.path[i].id == last) {
                conversation.path.resize(i + 1);
                return;
            }
        }
    }

    void run(const std::stop_token& stop) {
        while (true) {
            std::deque<std::function<void()>> jobs;
            std::deque<engine::TokenEvent> events;
            {
                std::unique_lock lock(m_inbox->mutex);
                const auto hasNews = [this] {
                    return !m_inbox->jobs.empty() || !m_inbox->events.empty();
                };
                if (stop.stop_requested() && m_running.empty() && !hasNews()) {
                    return;
                }
                m_inbox->wake.wait_for(lock, kSaveEvery,
                                       [&] { return hasNews() || stop.stop_requested(); });
                jobs.swap(m_inbox->jobs);
                events.swap(m_inbox->events);
            }
            for (auto& job : jobs) {
                job();
            }
            for (auto& event : events) {
                apply(event);
            }
            saveWhatIsDue();
        }
    }

    void apply(const engine::TokenEvent& event) {
        const auto found = m_running.find(event.request);
        if (found == m_running.end()) {
            return;
        }
        Running& running = found->second;
        if (!event.text.empty()) {
            running.text += event.text;
            running.hasUnsaved = true;
            running.observer->onText(running.message, event.text);
        }
        if (event.finish) {
            finish(running, *event.finish);
            m_running.erase(found);
        }
    }

    void finish(Running& running, const engine::FinishInfo& info) {
        Message message;
        message.id = running.message;
        message.role = "assistant";
        message.text = running.text;
        message.model = running.model;
        message.state = info.reason == engine::FinishReason::kError ? MessageState::kFailed
                                                                    : MessageState::kDone;
        message.error = info.error ? info.error->message : std::string();
        message.stats = ReplyStats{.promptTokens = info.usage.promptTokens,
                                   .cachedTokens = info.usage.cachedTokens,
                                   .completionTokens = info.usage.completionTokens,
                                   .ttftMs = info.usage.ttftSeconds * 1000.0,
                                   .tokensPerSecond = tokensPerSecond(info.usage),
                                   .stopReason = describeStop(info)};
        save(message, *running.observer);
    }

    void finishUnstarted(MessageId id, const std::string& text, const Error& error,
                         ReplyObserver& observer) {
        Message message;
        message.id = id;
        message.role = "assistant";
        message.text = text;
        message.state = MessageState::kFailed;
        message.error = error.message;
        observer.onStarted(id, 0);
        save(message, observer);
    }

    void save(const Message& message, ReplyObserver& observer) {
        const auto saved = m_store.finishReply(message.id, message.text, message.state,
                                               message.stats, message.error);
        observer.onFinished(message, saved ? std::nullopt : std::optional(saved.error()));
    }

    void saveWhatIsDue() {
        const auto now = Clock::now();
        for (auto& [request, running] : m_running) {
            if (running.hasUnsaved && now - running.lastSaved >= kSaveEvery) {
                // A failure here (a full disk) is told when the reply ends and its last save fails.
                running.hasUnsaved = !m_store.updateReply(running.message, running.text);
                running.lastSaved = now;
            }
        }
    }

    engine::Engine& m_engine;
    ConversationStore& m_store;
    std::shared_ptr<Inbox> m_inbox;
    std::map<engine::RequestId, Running> m_running;
    std::jthread m_thread;
};

ChatService::ChatService(engine::Engine& engine, ConversationStore& store)
    : m_worker(std::make_unique<Worker>(engine, store)) {}

ChatService::~ChatService() = default;

void ChatService::reply(ConversationId conversation, MessageId parent, ReplyOptions options,
                        std::shared_ptr<ReplyObserver> observer) {
    m_worker->post([worker = m_worker.get(), conversation, parent, options = std::move(options),
                    observer = std::move(observer)] {
        worker->start(conversation, parent, options, observer);
    });
}

void ChatService::stop(MessageId reply) {
    m_worker->post([worker = m_worker.get(), reply] { worker->stop(reply); });
}

void ChatService::stopAll() {
    m_worker->post([worker = m_worker.get()] { worker->cancelAll(); });
}

void ChatService::measure(ConversationId conversation, std::string draft, ReplyOptions options,
                          std::function<void(Result<std::int32_t>)> done) {
    m_worker->post([worker = m_worker.get(), conversation, draft = std::move(draft),
                    options = std::move(options), done = std::move(done)] {
        auto prepared = worker->prepare(conversation, 0, draft, options);
        if (!prepared) {
            done(forward(prepared));
            return;
        }
        done(static_cast<std::int32_t>(prepared->request.promptIds.size()));
    });
}

}  // namespace quern::app
