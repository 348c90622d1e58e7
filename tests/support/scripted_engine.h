#pragma once

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

    /// Sends the next piece of a running reply, or its end.
    void say(engine::RequestId id, const std::string& text);
    void finish(engine::RequestId id, engine::FinishInfo info);
    /// Ids of what runs now, oldest first.
    [[nodiscard]] std::vector<engine::RequestId> running() const;
    /// Requests as they were submitted, all of them.
    [[nodiscard]] std::vector<engine::PreparedRequest> submitted() const;
    /// Makes submit() refuse.
    void refuse(Error error);

    Result<std::shared_ptr<const engine::LoadedModel>> load(
        const engine::LoadOptions& options,
        std::function<bool(const engine::LoadProgress&)> progress) override;
    Status unload(const std::string& model) override;
    std::vector<std::shared_ptr<const engine::LoadedModel>> models() const override;
    Result<std::shared_ptr<const engine::LoadedModel>> find(
        const std::string& model) const override;
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
    struct Running {
        std::shared_ptr<engine::EventSink> sink;
        std::int32_t promptTokens = 0;
        std::int32_t tokens = 0;
    };

    mutable std::mutex m_mutex;
    std::shared_ptr<const engine::LoadedModel> m_model;
    std::int32_t m_contextTokens;
    engine::RequestId m_next = 1;
    std::map<engine::RequestId, Running> m_running;
    std::vector<engine::PreparedRequest> m_submitted;
    std::optional<Error> m_refusal;
};

}  // namespace quern::test
