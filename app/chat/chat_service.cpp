#include "app/chat/chat_service.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <utility>

#include "app/chat/chat_reply_parser.h"
#include "app/chat/order_prompt.h"
#include "app/chat/reply_place.h"
#include "app/chat/running_reply.h"

namespace quern::app {

/// The thread that owns every running reply. Jobs and events arrive through one locked queue each;
/// all else is touched by the thread alone.
class ChatService::Worker {
public:
    Worker(engine::Engine& engine, ConversationStore& store)
        : m_engine(engine), m_store(store), m_inbox(std::make_shared<Inbox>()) {
        m_thread = std::jthread([this](const std::stop_token& stop) { run(stop); });
    }

    ~Worker() {
        post([this] {
            cancelAll();
            (void)saveUnsaved();  // nobody is left to tell
        });
        m_thread.request_stop();
        m_inbox->wake.notify_all();
    }

    /// Asks about an order's conversation and model, on the calling thread.
    template <class Question>
    auto look(const ReplyOrder& order, Question question) const
        -> decltype(question(std::declval<const Conversation&>(),
                             std::declval<const engine::LoadedModel&>())) {
        auto model = m_engine.find(order.model);
        if (!model) {
            return forward(model);
        }
        auto conversation = conversationOf(m_store, order);
        if (!conversation) {
            return forward(conversation);
        }
        return question(*conversation, **model);
    }

    void post(std::function<void()> job) {
        {
            const std::lock_guard lock(m_inbox->mutex);
            m_inbox->jobs.push_back(std::move(job));
        }
        m_inbox->wake.notify_all();
    }

    Ticket order(ReplyOrder order, std::shared_ptr<ReplyObserver> observer) {
        Ticket ticket = 0;
        {
            const std::lock_guard lock(m_inbox->mutex);
            ticket = ++m_inbox->lastTicket;
            m_inbox->waiting.insert(ticket);
        }
        post([this, ticket, order = std::move(order), observer = std::move(observer)] {
            // The disk may have room again. Where it has not, the order itself cannot be saved.
            (void)saveUnsaved();
            const Status begun =
                look(order, [&](const Conversation& conversation, const auto& model) -> Status {
                    return begin(ticket, order, conversation, model, observer);
                });
            if (!begun) {
                observer->onRefused(begun.error(), Refusal::kPrompt);
            }
        });
        return ticket;
    }

    void stop(Ticket ticket) {
        {
            const std::lock_guard lock(m_inbox->mutex);
            m_inbox->waiting.erase(ticket);
        }
        post([this, ticket] {
            for (const auto& [request, reply] : m_running) {
                if (reply.ticket() == ticket) {
                    m_engine.cancel(request);
                }
            }
        });
    }

    void stopAll() {
        {
            const std::lock_guard lock(m_inbox->mutex);
            m_inbox->waiting.clear();
        }
        post([this] { cancelAll(); });
    }

    Status saveAgain() {
        std::promise<Status> result;
        post([this, &result] { result.set_value(saveUnsaved()); });
        return result.get_future().get();
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
        Ticket lastTicket = 0;
        std::set<Ticket> waiting;  // orders that have not begun and were not stopped
    };

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
                m_inbox->wake.wait_for(lock, RunningReply::kSaveEvery,
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

    Status saveUnsaved() {
        Status first;
        for (auto at = m_unsaved.begin(); at != m_unsaved.end();) {
            Status saved = m_store.finishReply(at->second);
            at = saved ? m_unsaved.erase(at) : std::next(at);
            first = first ? std::move(saved) : first;
        }
        return first;
    }

    /// Takes an order out of the waiting ones. False: it was stopped.
    [[nodiscard]] bool takeWaiting(Ticket ticket) {
        const std::lock_guard lock(m_inbox->mutex);
        return m_inbox->waiting.erase(ticket) > 0;
    }

    Status begin(Ticket ticket, const ReplyOrder& order, const Conversation& conversation,
                 const engine::LoadedModel& model, const std::shared_ptr<ReplyObserver>& observer) {
        auto prepared = m_engine.prepare(requestFor(conversation, order, model));
        if (!prepared) {
            return forward(prepared);
        }
        if (!takeWaiting(ticket)) {
            return fail(ErrorCode::kCancelled, "the reply was stopped before it began");
        }
        const auto isThere = [&order](const auto& running) {
            return running.second.conversation() == order.conversation;
        };
        if (std::any_of(m_running.begin(), m_running.end(), isThere)) {
            return fail(ErrorCode::kConflict, "a reply is being written in this conversation");
        }
        // One of ours that has ended, and could not be saved, is not written any more.
        const auto isWrittenElsewhere = [this](const Message& message) {
            return message.state == MessageState::kStreaming && !m_unsaved.contains(message.id);
        };
        if (std::any_of(conversation.path.begin(), conversation.path.end(), isWrittenElsewhere)) {
            return fail(ErrorCode::kConflict,
                        "another program is still writing the reply that this goes below: wait "
                        "until it has ended, and try again");
        }
        ReplyStart start{.conversation = order.conversation,
                         .added = {},
                         .promptText = prepared->promptText,
                         .promptTokens = static_cast<std::int32_t>(prepared->promptIds.size())};
        if (const Status saved = placeReply(m_store, order, model, conversation, start); !saved) {
            observer->onRefused(saved.error(), Refusal::kStore);
            return {};
        }
        RunningReply reply(ticket, start.conversation, start.added.back(),
                           chatReplyParser(model, *prepared), observer);
        const auto request = m_engine.submit(std::move(*prepared), m_inbox);
        start.request = request.value_or(0);
        observer->onStarted(start);
        if (!request) {
            finish(reply, {.reason = engine::FinishReason::kError, .error = request.error()});
            return {};
        }
        m_running.emplace(*request, std::move(reply));
        return {};
    }

    void cancelAll() {
        for (const auto& [request, reply] : m_running) {
            m_engine.cancel(request);
        }
    }

    void apply(const engine::TokenEvent& event) {
        const auto found = m_running.find(event.request);
        if (found == m_running.end()) {
            return;
        }
        found->second.grow(event);
        if (event.finish) {
            finish(found->second, *event.finish);
            m_running.erase(found);
        }
    }

    void finish(RunningReply& reply, const engine::FinishInfo& info) {
        reply.end(info);
        std::optional<Error> error;
        if (Status saved = m_store.finishReply(reply.message()); !saved) {
            m_unsaved[reply.message().id] = reply.message();
            error = saved.error();
        }
        reply.observer().onFinished(reply.message(), error);
    }

    void saveWhatIsDue() {
        for (auto& [request, reply] : m_running) {
            reply.saveIfDue(m_store);
        }
    }

    engine::Engine& m_engine;
    ConversationStore& m_store;
    std::shared_ptr<Inbox> m_inbox;
    std::map<engine::RequestId, RunningReply> m_running;
    std::map<MessageId, Message> m_unsaved;  // ended, and their last save failed
    std::jthread m_thread;
};

ChatService::ChatService(engine::Engine& engine, ConversationStore& store)
    : m_worker(std::make_unique<Worker>(engine, store)) {}

ChatService::~ChatService() = default;

ChatService::Ticket ChatService::reply(ReplyOrder order, std::shared_ptr<ReplyObserver> observer) {
    return m_worker->order(std::move(order), std::move(observer));
}

void ChatService::stop(Ticket ticket) {
    m_worker->stop(ticket);
}

void ChatService::stopAll() {
    m_worker->stopAll();
}

Status ChatService::saveAgain() {
    return m_worker->saveAgain();
}

Result<PromptSize> ChatService::measure(const ReplyOrder& order) const {
    return m_worker->look(order, [&](const Conversation& conversation, const auto& model) {
        return measurePrompt(conversation, order, model);
    });
}

Result<std::optional<MessageId>> ChatService::firstThatFits(const ReplyOrder& order,
                                                            std::int64_t limit) const {
    return m_worker->look(order, [&](const Conversation& conversation, const auto& model) {
        return app::firstThatFits(conversation, order, model, limit);
    });
}

}  // namespace quern::app
