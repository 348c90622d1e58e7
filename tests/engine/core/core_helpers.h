#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <mutex>

#include "tests/support/fake_engine.h"

namespace quern::test {

/// Makes a model's steps wait until a test lets them go.
class StepGate {
public:
    /// To be called as FakeModel::beforeStep.
    Status pass() {
        std::unique_lock lock(m_mutex);
        ++m_arrived;
        m_changed.notify_all();
        m_changed.wait(lock, [this] { return m_isOpen || m_permits > 0; });
        m_permits -= m_isOpen ? 0 : 1;
        return {};
    }
    void let(int steps) {
        const std::lock_guard lock(m_mutex);
        m_permits += steps;
        m_changed.notify_all();
    }
    void open() {
        const std::lock_guard lock(m_mutex);
        m_isOpen = true;
        m_changed.notify_all();
    }
    /// Waits until the given number of steps have begun in all.
    void waitArrived(int steps) {
        std::unique_lock lock(m_mutex);
        m_changed.wait(lock, [&] { return m_arrived >= steps; });
    }

private:
    std::mutex m_mutex;
    std::condition_variable m_changed;
    int m_permits = 0;
    int m_arrived = 0;
    bool m_isOpen = false;
};

/// A greedy request for a text.
inline engine::Request greedy(const std::string& text, std::optional<std::int32_t> maxTokens) {
    engine::Request request;
    request.prompt = engine::TextPrompt{.text = text, .addSpecial = false};
    request.sampling.temperature = 0.0F;
    request.output.maxTokens = maxTokens;
    return request;
}

/// Prepares and submits; an error fails the running test.
inline engine::RequestId send(engine::Engine& engine, engine::Request request,
                              const std::shared_ptr<engine::EventSink>& sink) {
    auto prepared = engine.prepare(std::move(request));
    if (!prepared) {
        ADD_FAILURE() << prepared.error().message;
        return 0;
    }
    auto id = engine.submit(std::move(*prepared), sink);
    if (!id) {
        ADD_FAILURE() << id.error().message;
        return 0;
    }
    return *id;
}

/// Runs one request to its end.
inline std::shared_ptr<EventCollector> runToEnd(engine::Engine& engine, engine::Request request) {
    auto sink = std::make_shared<EventCollector>(request.choices);
    send(engine, std::move(request), sink);
    EXPECT_TRUE(sink->waitFinished());
    return sink;
}

/// A model that says `reply` after a prompt of `promptTokens` tokens, again and again.
inline FakeEngineModel sayingModel(std::vector<engine::TokenId> reply, std::size_t promptTokens,
                                   std::vector<std::string> pieces = {}) {
    FakeEngineModel model;
    model.tokenizer = std::make_shared<FakeTokenizer>(std::move(pieces));
    model.model.script = [reply = std::move(reply),
                          promptTokens](std::span<const engine::TokenId> history) {
        return history.size() < promptTokens
                   ? engine::TokenId{0}
                   : reply[(history.size() - promptTokens) % reply.size()];
    };
    return model;
}

/// Blocks held over all models and groups.
inline std::int64_t heldBlocks(const engine::Engine& engine) {
    std::int64_t held = 0;
    for (const engine::ModelSnapshot& model : engine.snapshot().models) {
        for (const engine::KvGroupSnapshot& group : model.groups) {
            held += group.held;
        }
    }
    return held;
}

}  // namespace quern::test
