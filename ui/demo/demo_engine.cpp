#include "ui/demo/demo_engine.h"

#include <algorithm>
#include <array>
#include <thread>

#include "ui/core/sizes.h"
#include "ui/demo/demo_world.h"

namespace quern::ui {

DemoEngine::DemoEngine(DemoEngineOptions options)
    : m_options(std::move(options)), m_map(demoMap()) {
    if (m_options.hasModel) {
        engine::LoadOptions load;
        load.path = "/home/ada/.local/share/quern/models/qwen3-8b-q4_k_m.gguf";
        load.name = "qwen3-8b";
        if (m_options.reply == DemoReply::kFillContext) {
            load.contextTokens = kFullDemoContext;
        }
        m_models.push_back(demoModel(load));
    }
}

Result<std::shared_ptr<const engine::LoadedModel>> DemoEngine::load(
    const engine::LoadOptions& options, std::function<bool(const engine::LoadProgress&)> progress) {
    engine::LoadProgress at{.stage = engine::LoadStage::kWeights, .fraction = 0.43};
    do {
        if (!progress(at)) {
            return fail(ErrorCode::kCancelled, "the load was cancelled");
        }
        if (m_options.loadsForever) {
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        }
    } while (m_options.loadsForever);
    const std::lock_guard lock(m_mutex);
    m_models.push_back(demoModel(options));
    return m_models.back();
}

Status DemoEngine::unload(const std::string& model) {
    const std::lock_guard lock(m_mutex);
    std::erase_if(m_models, [&](const auto& loaded) { return loaded->name == model; });
    return {};
}

std::vector<std::shared_ptr<const engine::LoadedModel>> DemoEngine::models() const {
    const std::lock_guard lock(m_mutex);
    return m_models;
}

Result<std::shared_ptr<const engine::LoadedModel>> DemoEngine::find(
    const std::string& model) const {
    const std::lock_guard lock(m_mutex);
    for (const auto& loaded : m_models) {
        if (model.empty() || loaded->name == model) {
            return loaded;
        }
    }
    return fail(ErrorCode::kNotFound, "no model of that name is loaded");
}

Result<engine::PreparedRequest> DemoEngine::prepare(engine::Request request) const {
    if (m_options.reply == DemoReply::kRefuse) {
        return fail(ErrorCode::kContextLength,
                    "the prompt has 8 410 tokens, the context holds 8 192");
    }
    engine::PreparedRequest prepared;
    prepared.promptText = "<|im_start|>user\n…<|im_end|>\n<|im_start|>assistant\n";
    prepared.promptIds.resize(64);
    prepared.request = std::move(request);
    prepared.replyFormat = {.calls = engine::CallDialect::kHermes,
                            .reasoningOpen = "<think>",
                            .reasoningClose = "</think>"};
    return prepared;
}

void DemoEngine::prepareAsync(engine::Request request,
                              std::function<void(Result<engine::PreparedRequest>)> done) const {
    done(prepare(std::move(request)));
}

Result<engine::RequestId> DemoEngine::submit(engine::PreparedRequest,
                                             std::shared_ptr<engine::EventSink> sink) {
    const std::lock_guard lock(m_mutex);
    const engine::RequestId id = m_nextId++;
    if (m_options.reply == DemoReply::kKeepWaiting) {
        m_running.push_back({id, sink});
        return id;
    }
    engine::TokenEvent event;
    event.request = id;
    event.cachedTokens = 48;
    event.text = m_options.text;
    event.tokens.resize(m_options.text.size() / 4, 1);
    if (m_options.reply == DemoReply::kKeepWriting) {
        m_running.push_back({id, sink});
    } else {
        engine::FinishInfo finish;
        finish.usage = {.promptTokens = 64,
                        .cachedTokens = 48,
                        .completionTokens = static_cast<std::int32_t>(event.tokens.size()),
                        .preemptions = 0,
                        .queueSeconds = 0.002,
                        .prefillSeconds = 0.21,
                        .decodeSeconds = static_cast<double>(event.tokens.size()) / 42.3,
                        .ttftSeconds = 0.212};
        finish.stopToken = 2;
        if (m_options.reply == DemoReply::kFail) {
            finish.reason = engine::FinishReason::kError;
            finish.stopToken.reset();
            finish.error = Error{.code = ErrorCode::kOutOfMemory,
                                 .message = "the step needs 412 MiB of scratch, 96 MiB are free"};
        }
        if (m_options.reply == DemoReply::kFillContext) {
            finish.reason = engine::FinishReason::kContext;
            finish.stopToken.reset();
        }
        event.finish = finish;
    }
    sink->onEvent(std::move(event));
    return id;
}

void DemoEngine::cancel(engine::RequestId id) {
    const std::lock_guard lock(m_mutex);
    for (const Running& running : m_running) {
        if (running.id == id) {
            engine::TokenEvent event;
            event.request = id;
            event.finish = engine::FinishInfo{.reason = engine::FinishReason::kCancelled,
                                              .stopReason = {},
                                              .stopToken = {},
                                              .error = {},
                                              .usage = {}};
            running.sink->onEvent(std::move(event));
        }
    }
    std::erase_if(m_running, [id](const Running& running) { return running.id == id; });
}

engine::EngineSnapshot DemoEngine::snapshot() const {
    const std::lock_guard lock(m_mutex);
    engine::EngineSnapshot snapshot;
    snapshot.memory = {.totalBytes = 24 * kGiB,
                       .freeBytes = 24 * kGiB - 11469 * kMiB,
                       .processBytes = 9 * kGiB,
                       .weightBytes = m_models.empty() ? 0 : 4792 * kMiB,
                       .kvBytes = m_models.empty() ? 0 : 4 * kGiB};
    for (const auto& model : m_models) {
        engine::ModelSnapshot shown;
        shown.name = model->name;
        shown.path = model->options.path.string();
        shown.device = "CPU";
        shown.activations = "q8";
        shown.kvType = "f16";
        shown.contextTokens = model->options.contextTokens;
        if (m_options.isBusy) {
            std::array<std::int64_t, 4> states{};
            for (const engine::BlockCell& cell : m_map.cells) {
                ++states[static_cast<std::size_t>(cell.state)];
            }
            shown.groups = {{.kind = "full",
                             .blocks = kDemoBlocks,
                             .held = states[2] + states[3],
                             .shared = states[3],
                             .cached = states[1],
                             .blockBytes = 512 * 1024}};
            shown.requests = demoRequests();
            shown.running = 14;
            shown.waiting = 3;
            shown.rates = {.decodeTokensPerSecond = 1284,
                           .prefillTokensPerSecond = 9310,
                           .ttftP95Ms = 212,
                           .itlP95Ms = 18.4,
                           .prefixHitRate = 0.62};
        }
        for (const Running& running : m_running) {
            engine::RequestSnapshot request;
            request.id = running.id;
            request.clientId = "chat";
            request.state = m_options.reply == DemoReply::kKeepWaiting
                                ? engine::RequestState::kWaiting
                                : engine::RequestState::kDecode;
            request.tokensPerSecond = 42.3;
            shown.requests.push_back(std::move(request));
        }
        snapshot.models.push_back(std::move(shown));
    }
    return snapshot;
}

Status DemoEngine::foldKvMap(const std::string&, std::int32_t, engine::KvMap& map) const {
    if (map.version != m_map.version) {
        map = m_map;
    }
    return {};
}

Status DemoEngine::resetPrefixCache(const std::string&) {
    return {};
}

void DemoEngine::shutdown(std::chrono::milliseconds) {}

}  // namespace quern::ui
