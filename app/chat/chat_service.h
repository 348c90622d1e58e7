#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "app/chat/conversation_store.h"
#include "engine/engine.h"

namespace quern::app {

/// How a reply is to be made.
struct ReplyOptions {
    std::string model;  // name of a loaded model; empty: the only one
    engine::SamplingParams sampling;
    std::optional<std::int32_t> maxTokens;
    /// Turns at the start of the conversation that the prompt leaves out (the user chose so).
    std::int32_t leaveOutMessages = 0;
    /// Goes on with the text of the selected reply instead of answering the message before it.
    bool continueReply = false;
};

/// What becomes of a reply. Called on the service's thread: enqueue and return.
class ReplyObserver {
public:
    virtual ~ReplyObserver() = default;
    /// The reply has a place in the conversation and its request is in the engine.
    virtual void onStarted(MessageId reply, std::int32_t promptTokens) = 0;
    virtual void onText(MessageId reply, const std::string& delta) = 0;
    /// Ends a reply that was started, exactly once; `message` is as it was saved. `saveError` says
    /// that it could not be saved: what is in `message` is then the only copy.
    virtual void onFinished(const Message& message, const std::optional<Error>& saveError) = 0;
    /// Ends a reply that could not start: nothing was added to the conversation.
    virtual void onRefused(const Error& error) = 0;
};

/// Runs replies: conversation → request → engine → text, saved while it is written. One thread of
/// its own; every method returns at once, from any thread. Engine and store must outlive it.
class ChatService {
public:
    ChatService(engine::Engine& engine, ConversationStore& store);
    /// Stops what runs (replies are kept as interrupted) and joins the thread.
    ~ChatService();
    ChatService(const ChatService&) = delete;
    ChatService& operator=(const ChatService&) = delete;

    /// Answers message `parent` of the conversation with a new reply below it: a first one, or a
    /// branch beside the others.
    void reply(ConversationId conversation, MessageId parent, ReplyOptions options,
               std::shared_ptr<ReplyObserver> observer);
    /// Ends a reply; what was written stays. Unknown ids are ignored.
    void stop(MessageId reply);
    void stopAll();
    /// Counts the tokens of a conversation's prompt with `draft` as its next message, as the model
    /// would get it; `done` runs on the service's thread.
    void measure(ConversationId conversation, std::string draft, ReplyOptions options,
                 std::function<void(Result<std::int32_t>)> done);

private:
    class Worker;
    std::unique_ptr<Worker> m_worker;
};

/// "stop: eos", "length", … as the line under a reply shows it.
[[nodiscard]] std::string describeStop(const engine::FinishInfo& finish);

}  // namespace quern::app
