#pragma once

#include <mutex>
#include <vector>

#include "engine/engine.h"

namespace quern::ui {

/// What the demo engine does when it is asked for a reply.
enum class DemoReply { kAnswer, kKeepWriting, kKeepWaiting, kFail, kRefuse, kFillContext };

struct DemoEngineOptions {
    bool hasModel = true;
    bool loadsForever = false;  // a load stays at 43 % until it is cancelled
    bool isBusy = true;         // the snapshot shows traffic
    DemoReply reply = DemoReply::kAnswer;
    std::string text;  // of a reply, in the pieces it is cut into
};

/// An engine that computes nothing: it says the same from run to run. For stills and tests of the
/// window. Internally locked.
class DemoEngine : public engine::Engine {
public:
    explicit DemoEngine(DemoEngineOptions options);

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
    void setPaused(engine::RequestId, bool) override {}
    engine::EngineSnapshot snapshot() const override;
    Status foldKvMap(const std::string& model, std::int32_t group,
                     engine::KvMap& map) const override;
    Status resetPrefixCache(const std::string& model) override;
    void shutdown(std::chrono::milliseconds grace) override;

private:
    struct Running {
        engine::RequestId id = 0;
        std::shared_ptr<engine::EventSink> sink;
    };

    mutable std::mutex m_mutex;
    DemoEngineOptions m_options;
    std::vector<std::shared_ptr<const engine::LoadedModel>> m_models;
    std::vector<Running> m_running;
    engine::RequestId m_nextId = 101;
    engine::KvMap m_map;
};

}  // namespace quern::ui
