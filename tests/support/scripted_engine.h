#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace quern::test {

/// An Engine that computes nothing: a test says what a reply is, piece by piece. Tokens are bytes.
/// Internally locked.
class ScriptedEngine : public engine::Engine {
public:
    explicit ScriptedEngine(std::int32_t contextTokens = 4096);

    /// From now on the model has this chat template, which says how its replies are built. Prompts
    /// are rendered as they are without one.
    void speakLike(const std::string& templateSource);

    /// Sends the next piece of a running reply, or its end.
    void say(engine::RequestId id, const std::string& text,
             std::vector<engine::TokenLogprob> logprobs = {});
    void finish(engine::RequestId id, engine::FinishInfo info);
    /// Ids of what runs now, oldest first.
    [[nodiscard]] std::vector<engine::RequestId> running() const;
    /// Requests as they were submitted, all of them.
    [[nodiscard]] std::vector<engine::PreparedRequest> submitted() const;
    /// Makes submit() refuse.
    void refuse(Error error);
    /// Makes prepare() wait until it is released.
    void holdPrepare();
    void releasePrepare();

    Result<std::shared_ptr<const engine::LoadedModel>> load(
        const engine::LoadOptions& options,
        std::function<bool(const engine::LoadProgress&)> progress) override;
    Status unload(const std::string& model) override;
    std::vector<std::shared_ptr<const engine::LoadedModel>> models() const override;
    Result<std::shared_ptr<const engine::LoadedModel>> find(const std::string& name) const override;
    Result<engine::PreparedRequest> prepare(engine::Request request) const override;
    void prepareAsync(engine::Request request,
                      std::function<void(Result<engine::PreparedRequest>)> done) const override;
    Result<engine::RequestId> submit(engine::PreparedRequest request,
                                     std::shared_ptr<engine::EventSink> sink) override;
    void cancel(engine::RequestId id) override;
    void setPaused(engine::RequestId id, bool isPaused) override;
    engine::EngineSnapshot snapshot() const override;
    Status foldKvMap(const std::string& model, std::int32_t group,
                     engine::KvMap& map) const override;
    Status resetPrefixCache(const std::string& model) override;
    void shutdown(std::chrono::milliseconds grace) override;

private:
    [[nodiscard]] std::shared_ptr<const engine::LoadedModel> model() const;

    struct Running {
        std::shared_ptr<engine::EventSink> sink;
        std::int32_t promptTokens = 0;
        std::int32_t tokens = 0;
        std::vector<engine::TokenLogprob> promptLogprobs;  // until they are told
    };

    mutable std::mutex m_mutex;
    mutable std::condition_variable m_released;
    bool m_holdsPrepare = false;
    std::shared_ptr<const engine::LoadedModel> m_model;
    std::int32_t m_contextTokens;
    engine::RequestId m_next = 1;
    std::map<engine::RequestId, Running> m_running;
    std::vector<engine::PreparedRequest> m_submitted;
    std::optional<Error> m_refusal;
};

}  // namespace quern::test
