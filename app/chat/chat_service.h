#pragma once

#include <memory>
#include <optional>
#include <string>

#include "app/chat/conversation_store.h"
#include "engine/engine.h"

namespace quern::app {

/// A reply to be written: where it goes, and how it is made.
struct ReplyOrder {
    ConversationId conversation = 0;     // 0: one is made, named after `message`
    MessageId parent = 0;                // the message it goes below; 0: it is the first
    std::optional<std::string> message;  // of the user, added below `parent` before the reply
    /// Goes on with the text of `parent`, a reply, in a branch beside it.
    bool continuesParent = false;
    std::optional<std::string> systemPrompt;         // absent: the conversation's own
    std::string samplingJson;                        // kept with a conversation that is made
    std::string model;                               // name of a loaded model; empty: the only one
    std::optional<engine::SamplingParams> sampling;  // absent: chatSampling()
    std::optional<std::int32_t> maxTokens;
    std::vector<std::string> stop;
    MessageId firstMessage = 0;  // messages before it stay out of the prompt; 0: none does
};

/// A reply that has its place in the conversation.
struct ReplyStart {
    ConversationId conversation = 0;
    std::vector<Message> added;  // the user's message, if one was added, and the empty reply
    std::string promptText;      // what was tokenized
    std::int32_t promptTokens = 0;
    engine::RequestId request = 0;  // 0: the engine refused it, and the end follows
};

/// More of a reply.
struct ReplyNews {
    std::string text;
    std::string reasoning;
    std::vector<engine::ReplyDelta> calls;  // names, and more of arguments
    std::int32_t tokens = 0;
};

/// Adds news to the reply that they are of.
void add(const ReplyNews& news, Message& reply);

/// What an order failed at.
enum class Refusal : std::uint8_t {
    kPrompt,  // it cannot be answered, or was stopped before it began (kCancelled)
    kStore,   // it could not be saved, so it was not sent
};

/// What becomes of an order. Called on the service's thread: enqueue and return.
class ReplyObserver {
public:
    virtual ~ReplyObserver() = default;
    virtual void onStarted(const ReplyStart& start) = 0;
    virtual void onNews(const ReplyNews& news) = 0;
    /// Ends a reply that was started, exactly once; `message` is as it was saved. `saveError` says
    /// that it could not be saved: saveAgain() tries once more.
    virtual void onFinished(const Message& message, const std::optional<Error>& saveError) = 0;
    /// Ends an order that could not start: nothing was sent.
    virtual void onRefused(const Error& error, Refusal refusal) = 0;
};

/// How a chat samples unless told otherwise: as the model's own configuration says, and with a
/// calmer hand than the bare distribution where it brings none.
[[nodiscard]] engine::SamplingParams chatSampling(const engine::LoadedModel& model);

struct PromptSize {
    std::int64_t held = 0;   // tokens of the conversation up to the order's parent
    std::int64_t draft = 0;  // that the order's message adds
};

/// Writes replies: conversation → request → engine → text, saved while it grows, so that a kill
/// keeps what was shown; at most one in a conversation, another order for it is refused
/// (kConflict), as is one that goes below a reply that another program still writes. One thread of
/// its own; methods may be called from any thread, and return at once where nothing else is said.
/// Engine and store must outlive it.
class ChatService {
public:
    /// Names an order.
    using Ticket = std::uint64_t;

    ChatService(engine::Engine& engine, ConversationStore& store);
    /// Stops what runs (replies are kept as interrupted), saves again what could not be saved and
    /// joins the thread.
    ~ChatService();
    ChatService(const ChatService&) = delete;
    ChatService& operator=(const ChatService&) = delete;

    /// Before it begins, replies are written again whose last save failed.
    Ticket reply(ReplyOrder order, std::shared_ptr<ReplyObserver> observer);
    /// Ends a reply; what was written stays. Tickets of replies that have ended are ignored.
    void stop(Ticket ticket);
    void stopAll();
    /// Writes replies again whose last save failed. Waits for the disk; the first error.
    [[nodiscard]] Status saveAgain();

    /// Counts the prompt of an order, as the model would get it. Takes milliseconds.
    [[nodiscard]] Result<PromptSize> measure(const ReplyOrder& order) const;
    /// The oldest message of the user that the prompt may begin with to have at most `limit`
    /// tokens: 0 when nothing needs to stay out, none when not even the order's message fits
    /// alone. Takes milliseconds.
    [[nodiscard]] Result<std::optional<MessageId>> firstThatFits(const ReplyOrder& order,
                                                                 std::int64_t limit) const;

private:
    class Worker;
    std::unique_ptr<Worker> m_worker;
};

}  // namespace quern::app
