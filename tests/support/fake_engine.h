#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/core/make_engine.h"
#include "engine/engine.h"
#include "tests/support/fake_runner.h"
#include "tests/support/fake_tokenizer.h"

namespace quern::test {

/// A model that an engine for tests can load, whatever path is asked for.
struct FakeEngineModel {
    FakeModel model = {.vocab = 300};
    std::shared_ptr<const engine::Tokenizer> tokenizer = std::make_shared<FakeTokenizer>();
    engine::ChatTemplates templates;
    std::int64_t contextTokens = 4096;
    engine::MemoryFacts memory = {.totalBytes = std::int64_t{8} << 30,
                                  .freeBytes = std::int64_t{4} << 30};
    /// Called between headers and weights.
    std::function<Status()> beforeWeights;
};

/// The engine itself, thread, scheduler, cache and all, over models without weights. A path that
/// ends in "missing.gguf" is not found.
[[nodiscard]] std::unique_ptr<engine::Engine> makeEngineForTest(
    const FakeEngineModel& model = {}, const engine::EngineOptions& options = {});

/// Loads a fake under a name; an error fails the running test.
std::shared_ptr<const engine::LoadedModel> loadFake(engine::Engine& engine, const std::string& name,
                                                    engine::LoadOptions options = {});

/// Collects what a request gives. Internally locked.
class EventCollector final : public engine::EventSink {
public:
    explicit EventCollector(std::int32_t choices = 1) : m_choices(choices) {}
    void onEvent(engine::TokenEvent event) override;

    /// Waits until every choice has ended; false after `limit`.
    [[nodiscard]] bool waitFinished(std::chrono::milliseconds limit = std::chrono::seconds(30));
    /// Waits until so many tokens have come over all choices.
    [[nodiscard]] bool waitTokens(std::size_t count,
                                  std::chrono::milliseconds limit = std::chrono::seconds(30));

    [[nodiscard]] std::string text(std::int32_t choice = 0) const;
    [[nodiscard]] std::vector<engine::TokenId> tokens(std::int32_t choice = 0) const;
    /// The finish of a choice; a default one with a failure of the test when there is none.
    [[nodiscard]] engine::FinishInfo finish(std::int32_t choice = 0) const;
    [[nodiscard]] int finishes() const;
    [[nodiscard]] std::vector<engine::TokenEvent> events() const;

private:
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<engine::TokenEvent> m_events;
    std::size_t m_tokens = 0;
    int m_finishes = 0;
    std::int32_t m_choices;
};

}  // namespace quern::test
