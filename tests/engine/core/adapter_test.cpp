// Adapters of a model that runs: by name, beside each other, coming and going.
#include <gtest/gtest.h>

#include <future>
#include <random>
#include <thread>

#include "tests/engine/core/core_helpers.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;
using namespace test;

/// The golden llama, float32 throughout, and where its adapters lie.
class AdapterTest : public testing::Test {
protected:
    void SetUp() override {
        QUERN_GOLDEN_OR_SKIP(golden, "lora");
        QUERN_GOLDEN_OR_SKIP(models, "models");
        m_adapters = golden;
        m_models = models;
        start({});
    }

    void start(const EngineOptions& options) {
        auto engine = makeEngine(options);
        ASSERT_TRUE(engine) << engine.error().message;
        m_engine = std::move(*engine);
        const auto model = m_engine->load({.path = m_models / "llama",
                                           .name = "base",
                                           .kvBytes = 1 << 20,
                                           .kvType = kernels::DType::kF32,
                                           .activations = kernels::ActivationType::kF32},
                                          {});
        ASSERT_TRUE(model) << model.error().message;
    }

    Result<std::shared_ptr<const LoadedAdapter>> load(const std::string& folder,
                                                      const std::string& name = {}) {
        return m_engine->loadAdapter({.path = m_adapters / folder, .name = name, .model = {}});
    }

    static Request asking(const std::string& model, std::vector<TokenId> prompt,
                          std::int32_t tokens = 12) {
        Request request;
        request.model = model;
        request.prompt = std::move(prompt);
        request.sampling.temperature = 0.0F;
        request.output.maxTokens = tokens;
        request.output.ignoreEos = true;
        return request;
    }

    std::vector<TokenId> reply(const std::string& model, std::vector<TokenId> prompt,
                               std::int32_t tokens = 12) {
        return runToEnd(*m_engine, asking(model, std::move(prompt), tokens))->tokens();
    }

    /// Tokens of the prompt that the cache served.
    std::int32_t cachedOf(const std::string& model, const std::vector<TokenId>& prompt) {
        return runToEnd(*m_engine, asking(model, prompt, 2))->finish().usage.cachedTokens;
    }

    [[nodiscard]] ModelSnapshot snapshot() const { return m_engine->snapshot().models[0]; }

    fs::path m_adapters;
    fs::path m_models;
    std::unique_ptr<Engine> m_engine;
};

/// Holds the engine's thread at the first token, until it is let go.
class HoldingSink final : public EventSink {
public:
    void onEvent(TokenEvent event) override {
        if (!m_hasHeld && !event.tokens.empty()) {
            m_hasHeld = true;
            m_arrived.set_value();
            m_released.get_future().wait();
        }
        collected->onEvent(std::move(event));
    }
    void waitArrived() { m_arrived.get_future().wait(); }
    void letGo() { m_released.set_value(); }

    std::shared_ptr<EventCollector> collected = std::make_shared<EventCollector>();

private:
    bool m_hasHeld = false;
    std::promise<void> m_arrived;
    std::promise<void> m_released;
};

const std::vector<TokenId> kPrompt{5, 9, 200, 31, 7, 7, 64, 18, 2, 90};

std::vector<TokenId> longPrompt() {
    std::vector<TokenId> prompt;
    for (TokenId i = 0; i < 40; ++i) {
        prompt.push_back(3 * i + 1);
    }
    return prompt;
}

TEST_F(AdapterTest, IsAModelOfItsOwnName) {
    const auto adapter = load("llama-r4", "poet");
    ASSERT_TRUE(adapter) << adapter.error().message;
    EXPECT_EQ((*adapter)->model, "base");
    EXPECT_EQ((*adapter)->info.rank, 4);
    EXPECT_EQ((*adapter)->info.base, "llama");
    EXPECT_GT((*adapter)->heldBytes, 0);
    EXPECT_EQ((*m_engine->find("poet"))->name, "base");
    const auto prepared = m_engine->prepare(asking("poet", kPrompt));
    ASSERT_TRUE(prepared);
    EXPECT_EQ(prepared->request.model, "base");
    EXPECT_EQ(prepared->request.adapter, "poet");

    Request both = asking("base", kPrompt);
    both.adapter = "poet";
    const auto byBoth = runToEnd(*m_engine, both)->tokens();
    EXPECT_EQ(byBoth, reply("poet", kPrompt));
    EXPECT_NE(byBoth, reply("base", kPrompt));

    ASSERT_TRUE(load("llama-r16-attention")) << "named by its folder";
    EXPECT_EQ(m_engine->adapters().size(), 2U);
    EXPECT_EQ(m_engine->adapters()[0]->name, "llama-r16-attention");
    EXPECT_EQ(snapshot().adapters.size(), 2U);
    EXPECT_EQ(snapshot().adapterBytes,
              m_engine->adapters()[0]->heldBytes + m_engine->adapters()[1]->heldBytes);
}

TEST_F(AdapterTest, GoldenTokensAlone) {
    ASSERT_TRUE(load("llama-r4", "a"));
    const auto expected = readJson(m_adapters / "llama-r4" / "expected.json");
    for (const auto& golden : expected["cases"]) {
        const auto ids = golden["ids"].get<std::vector<TokenId>>();
        const auto tokens = reply("a", ids);
        const auto greedyIds = golden["greedy"].get<std::vector<TokenId>>();
        for (std::size_t i = 0; i < greedyIds.size() && golden["gap"][i] > 0.05; ++i) {
            EXPECT_EQ(tokens[i], greedyIds[i]) << "token " << i;
        }
    }
}

TEST_F(AdapterTest, ManyInOneBatchBesideTheBareModel) {
    ASSERT_TRUE(load("llama-r4", "a"));
    ASSERT_TRUE(load("llama-r16-attention", "b"));
    const std::vector<std::string> models{"a", "base", "b", "a", "b", "base", "a"};
    std::vector<std::vector<TokenId>> prompts;
    std::vector<std::vector<TokenId>> alone;
    for (std::size_t i = 0; i < models.size(); ++i) {
        std::vector<TokenId> prompt(3 + 5 * i, static_cast<TokenId>(10 + i));
        prompt.push_back(static_cast<TokenId>(i));
        alone.push_back(reply(models[i], prompt, 30));
        prompts.push_back(std::move(prompt));
    }
    ASSERT_TRUE(m_engine->resetPrefixCache("base"));
    std::vector<std::shared_ptr<EventCollector>> sinks;
    for (std::size_t i = 0; i < models.size(); ++i) {
        Request request = asking(models[i], prompts[i], 30);
        request.choices = i == 3 ? 2 : 1;
        sinks.push_back(std::make_shared<EventCollector>(request.choices));
        send(*m_engine, std::move(request), sinks.back());
    }
    for (std::size_t i = 0; i < models.size(); ++i) {
        ASSERT_TRUE(sinks[i]->waitFinished());
        EXPECT_EQ(sinks[i]->tokens(), alone[i]) << "request " << i << " of " << models[i];
    }
    EXPECT_EQ(sinks[3]->tokens(1), alone[3]) << "a second choice has the adapter too";
}

TEST_F(AdapterTest, CachedPrefixesAreItsOwn) {
    ASSERT_TRUE(load("llama-r4", "a"));
    ASSERT_TRUE(load("llama-r16-attention", "b"));
    const auto prompt = longPrompt();
    const auto bare = reply("base", prompt);
    EXPECT_EQ(cachedOf("a", prompt), 0);
    EXPECT_EQ(cachedOf("a", prompt), 32);
    EXPECT_EQ(cachedOf("b", prompt), 0);
    EXPECT_EQ(cachedOf("base", prompt), 32);
    const auto before = reply("a", prompt);
    // What another file of the same name left behind is not taken for its own.
    ASSERT_TRUE(m_engine->unloadAdapter("a"));
    ASSERT_TRUE(load("llama-r16-attention", "a"));
    EXPECT_EQ(cachedOf("a", prompt), 0);
    EXPECT_EQ(reply("a", prompt), reply("b", prompt));
    EXPECT_NE(reply("a", prompt), before);
    EXPECT_EQ(reply("base", prompt), bare);
}

TEST_F(AdapterTest, UnloadingLetsThoseThatHaveItEnd) {
    ASSERT_TRUE(load("llama-r4", "a"));
    const auto bare = reply("base", kPrompt, 60);
    const auto alone = reply("a", kPrompt, 60);
    auto sink = std::make_shared<HoldingSink>();
    auto late = m_engine->prepare(asking("a", kPrompt));
    ASSERT_TRUE(late);
    const RequestId id = send(*m_engine, asking("a", kPrompt, 60), sink);
    sink->waitArrived();
    m_engine->setPaused(id, true);
    ASSERT_TRUE(m_engine->unloadAdapter("a"));
    sink->letGo();
    const auto refused = m_engine->prepare(asking("a", kPrompt));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kNotFound);
    // One that was prepared before and comes after.
    auto lateSink = std::make_shared<EventCollector>();
    ASSERT_TRUE(m_engine->submit(std::move(*late), lateSink));
    ASSERT_TRUE(lateSink->waitFinished());
    ASSERT_EQ(lateSink->finish().reason, FinishReason::kError);
    EXPECT_EQ(lateSink->finish().error->message, "adapter a was unloaded");
    EXPECT_TRUE(m_engine->adapters().empty());
    ASSERT_EQ(snapshot().adapters.size(), 1U);
    EXPECT_TRUE(snapshot().adapters[0].isLeaving);
    EXPECT_EQ(snapshot().adapters[0].running + snapshot().adapters[0].waiting, 1);
    // The name is free at once.
    ASSERT_TRUE(load("llama-r16-attention", "a"));
    EXPECT_NE(reply("a", kPrompt, 60), alone);

    m_engine->setPaused(id, false);
    ASSERT_TRUE(sink->collected->waitFinished());
    EXPECT_EQ(sink->collected->tokens(), alone) << "it went on with what it began with";
    ASSERT_TRUE(m_engine->unloadAdapter("a"));
    EXPECT_EQ(reply("base", kPrompt, 60), bare);
    EXPECT_TRUE(snapshot().adapters.empty());
    EXPECT_EQ(snapshot().adapterBytes, 0);
    EXPECT_EQ(heldBlocks(*m_engine), 0);
}

TEST_F(AdapterTest, WhatIsWrongIsTold) {
    const auto messageOf = [](const auto& result) {
        return result ? std::string("none") : result.error().message;
    };
    ASSERT_TRUE(load("llama-r4", "a"));
    EXPECT_EQ(messageOf(load("llama-r4", "a")), "an adapter named a is loaded");
    EXPECT_EQ(messageOf(load("llama-r4", "base")), "a model named base is loaded");
    EXPECT_NE(messageOf(load("qwen3-r8-rslora", "q")).find("takes [8, 64] and [32, 8]"),
              std::string::npos);
    EXPECT_NE(messageOf(load("nothing", "n")).find("no adapter at"), std::string::npos);
    EXPECT_EQ(messageOf(m_engine->loadAdapter(
                  {.path = m_adapters / "llama-r4", .name = "b", .model = "other"})),
              "there is no model named other; loaded: base, a");
    EXPECT_EQ(messageOf(load("llama-r4", std::string(257, 'n'))),
              "the adapter's name is 257 bytes long; at most 256 are allowed");
    EXPECT_EQ(messageOf(load("llama-r4", "two\nlines")),
              "the adapter's name has a control character");
    EXPECT_EQ(messageOf(m_engine->unloadAdapter("b")), "there is no adapter named b");
    EXPECT_EQ(messageOf(m_engine->unload("a")), "a is an adapter of model base, not a model");
    EXPECT_EQ(messageOf(m_engine->load({.path = m_models / "llama", .name = "a"}, {})),
              "an adapter named a is loaded");
    Request request = asking("base", kPrompt);
    request.adapter = "b";
    EXPECT_EQ(messageOf(m_engine->prepare(request)), "there is no adapter named b");
    request.adapter = "a";
    request.model = "other";
    EXPECT_EQ(messageOf(m_engine->prepare(request)),
              "adapter a is one of model base, not of other");
    // What failed left its name free.
    EXPECT_TRUE(load("llama-r16-attention", "q"));
    ASSERT_TRUE(m_engine->unload("base"));
    EXPECT_TRUE(m_engine->adapters().empty()) << "they go with their model";
    EXPECT_NE(messageOf(m_engine->prepare(asking("a", kPrompt))).find("no model named a"),
              std::string::npos);
}

/// Numbers that are finite and too large: what comes of them must not look like a reply.
TEST_F(AdapterTest, ResultsThatAreNoNumbersEndTheirRequest) {
    const TempFolder temp;
    fs::copy(m_adapters / "llama-r4", temp.path() / "loud");
    auto config = readJson(temp.path() / "loud" / "adapter_config.json");
    config["lora_alpha"] = 1e38;
    writeFile(temp.path() / "loud" / "adapter_config.json", config.dump());
    m_adapters = temp.path();
    ASSERT_TRUE(load("loud"));
    for (const std::int32_t choices : {1, 3}) {
        Request request = asking("loud", kPrompt);
        request.choices = choices;
        request.sampling.temperature = 1.0F;
        const auto collected = runToEnd(*m_engine, request);
        EXPECT_EQ(collected->finish().reason, FinishReason::kError);
        ASSERT_TRUE(collected->finish().error);
        EXPECT_NE(collected->finish().error->message.find("no numbers"), std::string::npos);
    }
    EXPECT_EQ(reply("base", kPrompt).size(), 12U) << "nobody else is touched";
    EXPECT_EQ(snapshot().requests.size(), 0U);
}

/// Memory for the model and a few adapters, and many more that come and go while others ask and
/// give up: at the end nothing is held, and nothing stayed promised.
TEST_F(AdapterTest, ComeAndGoUnderLoad) {
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto adapter = load("llama-r4", "a");
    ASSERT_TRUE(adapter);
    const FitEstimate& estimate = (*m_engine->find("base"))->estimate;
    const std::int64_t room =
        estimate.totalBytes - estimate.items.back().bytes + 8 * (*adapter)->info.bytes;
    const auto bare = reply("base", kPrompt);
    start({.memoryLimitBytes = room});
    std::vector<std::jthread> clients;
    std::vector<std::vector<std::shared_ptr<EventCollector>>> sinks(3);
    for (std::size_t t = 0; t < sinks.size(); ++t) {
        clients.emplace_back([&, t](const std::stop_token& stop) {
            std::mt19937 random(static_cast<unsigned>(seed + t));
            while (!stop.stop_requested()) {
                const char* names[] = {"base", "a", "b"};
                Request request = asking(names[random() % 3], kPrompt,
                                         static_cast<std::int32_t>(1 + random() % 40));
                auto prepared = m_engine->prepare(request);
                auto sink = std::make_shared<EventCollector>();
                if (!prepared) {
                    continue;
                }
                const auto id = m_engine->submit(std::move(*prepared), sink);
                if (!id) {
                    continue;
                }
                sinks[t].push_back(sink);
                if (random() % 3 == 0) {
                    m_engine->cancel(*id);
                } else {
                    (void)sink->waitFinished();
                }
            }
        });
    }
    for (int round = 0; round < 80; ++round) {
        for (const auto& [folder, name] :
             {std::pair("llama-r4", "a"), std::pair("llama-r16-attention", "b")}) {
            // At most three that left still have a request, and there is room for more.
            const auto result = load(folder, name);
            EXPECT_TRUE(result) << result.error().message;
            std::this_thread::yield();
            EXPECT_TRUE(m_engine->unloadAdapter(name));
        }
    }
    for (std::jthread& client : clients) {
        client.request_stop();
    }
    clients.clear();
    for (const auto& some : sinks) {
        for (const auto& sink : some) {
            ASSERT_TRUE(sink->waitFinished());
            EXPECT_EQ(sink->finishes(), 1);
        }
    }
    EXPECT_EQ(reply("base", kPrompt), bare);
    EXPECT_TRUE(snapshot().adapters.empty());
    EXPECT_EQ(heldBlocks(*m_engine), 0);
}

}  // namespace
}  // namespace quern::engine
