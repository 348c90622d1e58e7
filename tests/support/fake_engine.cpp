#include "tests/support/fake_engine.h"

#include <gtest/gtest.h>

#include <utility>

namespace quern::test {

namespace {

using namespace engine;

ModelInfo infoOf(const FakeEngineModel& fake, const std::filesystem::path& path) {
    ModelInfo info;
    info.path = path;
    info.name = path.stem().string();
    info.format = "fake";
    info.architecture = "fake";
    info.isSupported = true;
    info.weightBytes = fake.model.weightBytes;
    info.contextTokens = fake.contextTokens;
    info.vocabSize = fake.model.vocab;
    info.hiddenSize = 8;
    info.layers = static_cast<std::int64_t>(fake.model.windows.size());
    for (const std::int64_t window : fake.model.windows) {
        if (window == FakeModel::kState) {
            info.cacheLayers.push_back({.stateFloats = 64});
        } else {
            info.cacheLayers.push_back({.elementsPerToken = 16, .window = window});
        }
    }
    return info;
}

class FakeOpenedModel final : public OpenedModel {
public:
    explicit FakeOpenedModel(const FakeEngineModel& fake) : m_fake(fake) {
        tokenizer = fake.tokenizer;
        templates = fake.templates;
    }

    Result<std::unique_ptr<Runner>> makeRunner(const RunnerOptions& options) override {
        if (m_fake.beforeWeights) {
            if (Status status = m_fake.beforeWeights(); !status) {
                return forward(status);
            }
        }
        if (options.compile.progress && !options.compile.progress(0.5)) {
            return fail(ErrorCode::kCancelled, "cancelled");
        }
        return std::make_unique<FakeRunner>(m_fake.model);
    }

private:
    FakeEngineModel m_fake;
};

class FakeModelFactory final : public ModelFactory {
public:
    explicit FakeModelFactory(FakeEngineModel model) : m_model(std::move(model)) {}

    Result<std::unique_ptr<OpenedModel>> open(
        const std::filesystem::path& path,
        const std::function<Status(const ModelInfo&)>& admit) override {
        if (path.filename() == "missing.gguf") {
            return fail(ErrorCode::kNotFound, "there is no file " + path.string());
        }
        if (Status status = admit(infoOf(m_model, path)); !status) {
            return forward(status);
        }
        return std::make_unique<FakeOpenedModel>(m_model);
    }
    MemoryFacts memory() const override { return m_model.memory; }
    std::string deviceName() const override { return "fake"; }

private:
    FakeEngineModel m_model;
};

}  // namespace

std::unique_ptr<Engine> makeEngineForTest(const FakeEngineModel& model,
                                          const EngineOptions& options) {
    return makeEngineWith(std::make_unique<FakeModelFactory>(model), options);
}

std::shared_ptr<const LoadedModel> loadFake(Engine& engine, const std::string& name,
                                            LoadOptions options) {
    options.path = name + ".gguf";
    options.name = name;
    auto loaded = engine.load(options, {});
    if (!loaded) {
        ADD_FAILURE() << loaded.error().message;
        return nullptr;
    }
    return *loaded;
}

void EventCollector::onEvent(TokenEvent event) {
    const std::lock_guard lock(m_mutex);
    m_tokens += event.tokens.size();
    m_finishes += event.finish ? 1 : 0;
    m_events.push_back(std::move(event));
    m_changed.notify_all();
}

bool EventCollector::waitFinished(std::chrono::milliseconds limit) {
    std::unique_lock lock(m_mutex);
    return m_changed.wait_for(lock, limit, [this] { return m_finishes >= m_choices; });
}

bool EventCollector::waitTokens(std::size_t count, std::chrono::milliseconds limit) {
    std::unique_lock lock(m_mutex);
    return m_changed.wait_for(lock, limit, [&] { return m_tokens >= count; });
}

std::string EventCollector::text(std::int32_t choice) const {
    const std::lock_guard lock(m_mutex);
    std::string text;
    for (const TokenEvent& event : m_events) {
        text += event.choice == choice ? event.text : "";
    }
    return text;
}

std::vector<TokenId> EventCollector::tokens(std::int32_t choice) const {
    const std::lock_guard lock(m_mutex);
    std::vector<TokenId> tokens;
    for (const TokenEvent& event : m_events) {
        if (event.choice == choice) {
            tokens.insert(tokens.end(), event.tokens.begin(), event.tokens.end());
        }
    }
    return tokens;
}

FinishInfo EventCollector::finish(std::int32_t choice) const {
    const std::lock_guard lock(m_mutex);
    for (const TokenEvent& event : m_events) {
        if (event.choice == choice && event.finish) {
            return *event.finish;
        }
    }
    ADD_FAILURE() << "choice " << choice << " has not ended";
    return {};
}

int EventCollector::finishes() const {
    const std::lock_guard lock(m_mutex);
    return m_finishes;
}

std::vector<TokenEvent> EventCollector::events() const {
    const std::lock_guard lock(m_mutex);
    return m_events;
}

}  // namespace quern::test
