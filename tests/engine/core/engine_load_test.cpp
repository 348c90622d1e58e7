// Loading, unloading and shutting down.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "engine/core/model_directory.h"
#include "tests/engine/core/core_helpers.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

using namespace test;

LoadOptions named(const std::string& name) {
    LoadOptions options;
    options.path = name + ".gguf";
    return options;
}

TEST(EngineLoad, TellsWhatItDid) {
    FakeEngineModel model;
    model.contextTokens = 131072;
    auto engine = makeEngineForTest(model);
    std::vector<double> fractions;
    std::vector<LoadStage> stages;
    const auto loaded = engine->load(named("tiny"), [&](const LoadProgress& progress) {
        fractions.push_back(progress.fraction);
        stages.push_back(progress.stage);
        return true;
    });
    ASSERT_TRUE(loaded);
    EXPECT_TRUE(std::is_sorted(fractions.begin(), fractions.end()));
    EXPECT_EQ(stages.front(), LoadStage::kReading);
    EXPECT_EQ(stages.back(), LoadStage::kReady);
    EXPECT_EQ(fractions.back(), 1.0);
    EXPECT_EQ((*loaded)->name, "tiny") << "the file's stem";
    EXPECT_EQ((*loaded)->options.contextTokens, 8192);
    ASSERT_EQ((*loaded)->notes.size(), 2U);
    EXPECT_EQ((*loaded)->notes[0], "context 8192 of the model's 131072 tokens");
    EXPECT_EQ((*loaded)->notes[1], "KV cache 1.0 MiB: 32768 tokens over all requests");
    EXPECT_EQ((*loaded)->estimate.fit, Fit::kFits);
    EXPECT_EQ(engine->models().size(), 1U);
    EXPECT_EQ(*engine->find(""), *loaded) << "the only one";
}

TEST(EngineLoad, AModelIsCalledAfterItsFileOrFolder) {
    auto engine = makeEngineForTest();
    for (const auto& [path, name] :
         {std::pair("a/Model.Q4_1.gguf", "Model.Q4_1"), std::pair("a/Model-1.5", "Model-1.5"),
          std::pair("a/folder/", "folder"), std::pair("a/other/.//", "other")}) {
        LoadOptions options;
        options.path = path;
        const auto loaded = engine->load(options, {});
        ASSERT_TRUE(loaded) << path << ": " << loaded.error().message;
        EXPECT_EQ((*loaded)->name, name);
    }
    LoadOptions root;
    root.path = "/";
    EXPECT_EQ(engine->load(root, {}).error().code, ErrorCode::kInvalidArgument);
}

TEST(EngineLoad, RefusesByName) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    EXPECT_EQ(engine->load(named("m"), {}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(engine->load(named("missing"), {}).error().code, ErrorCode::kNotFound);
    LoadOptions options = named("n");
    options.contextTokens = 5000;
    const auto tooLong = engine->load(options, {});
    EXPECT_EQ(tooLong.error().field, "ctx");
    EXPECT_EQ(tooLong.error().message, "ctx is 5000; it must be from 1 to 4096");
    options = named("n");
    options.stepTokens = 8;
    EXPECT_EQ(engine->load(options, {}).error().field, "step_tokens");
    options = named("n");
    options.maxRunning = 0;
    EXPECT_EQ(engine->load(options, {}).error().field, "max_running");
    loadFake(*engine, "n");  // no failure has kept the name
    const auto unknown = engine->find("z");
    EXPECT_EQ(unknown.error().code, ErrorCode::kNotFound);
    EXPECT_EQ(unknown.error().message, "there is no model named z; loaded: m, n");
    EXPECT_EQ(engine->find("").error().code, ErrorCode::kNotFound) << "which of two?";
    EXPECT_EQ(engine->unload("z").error().code, ErrorCode::kNotFound);
}

TEST(EngineLoad, WhatDoesNotFitIsRefusedWithTheEstimate) {
    FakeEngineModel model;
    model.model.weightBytes = std::int64_t{10} << 30;
    auto engine = makeEngineForTest(model);
    const auto refused = engine->load(named("big"), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kOutOfMemory);
    EXPECT_NE(refused.error().message.find("weights 10.0 GiB"), std::string::npos)
        << refused.error().message;
    EXPECT_NE(refused.error().message.find("4.0 GiB are free"), std::string::npos);

    FakeEngineModel small;
    auto other = makeEngineForTest(small);
    LoadOptions options = named("m");
    options.kvBytes = 1000;
    const auto tooLittle = other->load(options, {});
    EXPECT_EQ(tooLittle.error().code, ErrorCode::kOutOfMemory);
    EXPECT_NE(tooLittle.error().message.find("a context of 4096 needs"), std::string::npos)
        << tooLittle.error().message;
}

TEST(EngineLoad, PromisedMemoryIsNotPromisedTwice) {
    FakeEngineModel model;
    model.model.weightBytes = std::int64_t{2} << 30;
    auto engine = makeEngineForTest(model);
    loadFake(*engine, "first");
    // The fake's memory looks as free as before; its 2 GiB are taken all the same while they load.
    std::promise<void> loading;
    std::promise<void> go;
    model.beforeWeights = [&]() -> Status {
        loading.set_value();
        go.get_future().wait();
        return {};
    };
    auto slow = makeEngineForTest(model, {.memoryLimitBytes = std::int64_t{3} << 30});
    auto first = std::async(std::launch::async, [&] { return slow->load(named("a"), {}); });
    loading.get_future().wait();
    const auto second = slow->load(named("b"), {});
    EXPECT_EQ(second.error().code, ErrorCode::kOutOfMemory);
    EXPECT_EQ(second.error().message.find("unloading"), std::string::npos);
    const auto same = slow->load(named("a"), {});
    EXPECT_EQ(same.error().code, ErrorCode::kConflict) << "being loaded";
    go.set_value();
    EXPECT_TRUE(first.get());
    const auto third = slow->load(named("b"), {});
    ASSERT_FALSE(third);
    EXPECT_NE(third.error().message.find("; unloading a would free "), std::string::npos)
        << third.error().message;
}

TEST(EngineLoad, NamesAreKnownBeforeTheirModelsAreThere) {
    FakeEngineModel model;
    std::promise<void> loading;
    std::promise<void> go;
    bool isFirst = true;
    model.beforeWeights = [&]() -> Status {
        if (std::exchange(isFirst, false)) {
            loading.set_value();
            go.get_future().wait();
        }
        return {};
    };
    auto engine = makeEngineForTest(model);
    EXPECT_EQ(engine->find("").error().code, ErrorCode::kNotFound) << "nothing is to come";
    ASSERT_TRUE(engine->announce("a"));
    ASSERT_TRUE(engine->announce("b"));
    EXPECT_EQ(engine->announce("a").error().code, ErrorCode::kConflict);
    auto first = std::async(std::launch::async, [&] { return engine->load(named("a"), {}); });
    loading.get_future().wait();
    EXPECT_EQ(engine->load(named("a"), {}).error().code, ErrorCode::kConflict);
    EXPECT_EQ(engine->announce("a").error().code, ErrorCode::kConflict);
    const auto all = engine->loading();
    ASSERT_EQ(all.size(), 2U);
    EXPECT_EQ(all[0].name, "a");
    ASSERT_TRUE(all[0].progress);
    EXPECT_EQ(all[0].progress->stage, LoadStage::kWeights);
    EXPECT_EQ(all[0].progress->fraction, 0.02);
    EXPECT_EQ(all[1].name, "b");
    EXPECT_FALSE(all[1].progress);
    const auto refusal = [&](const std::string& name) {
        Request request = greedy("x", 1);
        request.model = name;
        return engine->prepare(request).error();
    };
    EXPECT_EQ(refusal("a").code, ErrorCode::kUnavailable);
    EXPECT_EQ(refusal("a").message, "model a is loading (weights, 2 %); try again soon");
    EXPECT_EQ(refusal("b").code, ErrorCode::kUnavailable);
    EXPECT_EQ(refusal("b").message, "model b waits to be loaded; try again soon");
    EXPECT_EQ(refusal("").code, ErrorCode::kUnavailable);
    EXPECT_EQ(refusal("z").code, ErrorCode::kNotFound);
    EXPECT_EQ(refusal("z").message, "there is no model named z; no model is loaded; loading: a, b");
    go.set_value();
    ASSERT_TRUE(first.get());
    EXPECT_TRUE(engine->find("a"));
    EXPECT_EQ(engine->loading().size(), 1U);
    LoadOptions tooLong = named("b");
    tooLong.contextTokens = 5000;
    EXPECT_FALSE(engine->load(tooLong, {}));
    EXPECT_EQ(refusal("b").code, ErrorCode::kUnavailable) << "its load may be tried again";
    EXPECT_FALSE(engine->loading().at(0).progress);
    engine->withdraw("b");
    EXPECT_TRUE(engine->loading().empty());
    EXPECT_EQ(refusal("b").code, ErrorCode::kNotFound);
    EXPECT_EQ(engine->announce("a").error().code, ErrorCode::kConflict) << "it is loaded";
    engine->withdraw("a");
    EXPECT_TRUE(engine->find("a"));
    LoadOptions unasked = tooLong;
    unasked.name = "c";
    EXPECT_FALSE(engine->load(unasked, {}));
    EXPECT_EQ(refusal("c").code, ErrorCode::kNotFound) << "it was never announced";
}

TEST(ModelDirectory, AnAdapterThatLoadsIsToCome) {
    ModelDirectory directory;
    ASSERT_TRUE(directory.reserve("p", ModelDirectory::Use::kAnnounced));
    ASSERT_TRUE(directory.reserve("p", ModelDirectory::Use::kLoadsAdapter));
    ASSERT_EQ(directory.loading().size(), 1U);
    EXPECT_TRUE(directory.loading()[0].progress);
    directory.withdraw("p");
    EXPECT_EQ(directory.loading().size(), 1U) << "it is being loaded";
    directory.giveUpLoad("p");
    ASSERT_EQ(directory.loading().size(), 1U) << "another model may take it";
    EXPECT_FALSE(directory.loading()[0].progress);
    ASSERT_TRUE(directory.reserve("p", ModelDirectory::Use::kLoadsAdapter));
    directory.release("p");
    EXPECT_TRUE(directory.loading().empty());
}

TEST(EngineLoad, ShutdownCancelsALoad) {
    FakeEngineModel model;
    std::promise<void> loading;
    std::promise<void> go;
    model.beforeWeights = [&]() -> Status {
        loading.set_value();
        go.get_future().wait();
        return {};
    };
    auto engine = makeEngineForTest(model);
    auto load = std::async(std::launch::async, [&] { return engine->load(named("a"), {}); });
    loading.get_future().wait();
    engine->shutdown(std::chrono::milliseconds(0));
    go.set_value();
    EXPECT_EQ(load.get().error().code, ErrorCode::kUnavailable);
    EXPECT_TRUE(engine->models().empty());
}

TEST(EngineLoad, AModelThatIsWrittenWhileItLoadsIsRefused) {
    const TempFolder temp;
    const auto folder = temp.path();
    std::filesystem::path written;
    FakeEngineModel model;
    model.beforeWeights = [&]() -> Status {
        std::ofstream(written, std::ios::app) << "WEIGHTS";
        return {};
    };
    const struct {
        std::filesystem::path model;
        std::filesystem::path written;
        bool isOfModel;
    } cases[] = {
        {folder / "m.gguf", folder / "m.gguf", true},
        {folder / "m.gguf", folder / "other.gguf", false},
        {folder / "s-00001-of-00002.gguf", folder / "s-00002-of-00002.gguf", true},
        {folder / "s-00001-of-00002.gguf", folder / "t-00002-of-00002.gguf", false},
        {folder, folder / "config.json", true},
        {folder, folder / "tokenizer.json", true},
        {folder, folder / "model.safetensors", true},
        {folder, folder / "README.md", false},
        {folder, folder / ".config.json.swp", false},
        {folder, folder / "converted.gguf", false},
    };
    for (const auto& c : cases) {
        for (const auto& file : {c.model, c.written}) {
            if (file != folder) {
                std::ofstream(file) << "weights";
                std::filesystem::last_write_time(
                    file, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
            }
        }
        written = c.written;
        auto engine = makeEngineForTest(model);
        LoadOptions options;
        options.path = c.model;
        const auto loaded = engine->load(options, {});
        ASSERT_EQ(loaded.has_value(), !c.isOfModel) << c.model << " " << c.written;
        if (!loaded) {
            EXPECT_EQ(loaded.error().code, ErrorCode::kIo);
            EXPECT_NE(loaded.error().message.find("was written while it was loaded"),
                      std::string::npos);
        }
    }
}

TEST(EngineLoad, CanBeCancelledAtEveryStage) {
    for (int calls = 0; calls < 5; ++calls) {
        auto engine = makeEngineForTest();
        int left = calls;
        const auto cancelled =
            engine->load(named("m"), [&](const LoadProgress&) { return left-- > 0; });
        if (cancelled) {
            EXPECT_EQ(calls, 5) << "only when every call went on";
            continue;
        }
        EXPECT_EQ(cancelled.error().code, ErrorCode::kCancelled) << calls;
        EXPECT_TRUE(engine->models().empty());
        loadFake(*engine, "m");
    }
}

TEST(EngineLoad, UnloadEndsItsRequestsAndNoOthers) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "a");
    loadFake(*engine, "b");
    const auto gone = std::make_shared<EventCollector>();
    const auto stays = std::make_shared<EventCollector>();
    Request request = greedy("x", std::nullopt);
    request.output.ignoreEos = true;
    request.model = "a";
    send(*engine, request, gone);
    request.model = "b";
    send(*engine, request, stays);
    ASSERT_TRUE(gone->waitTokens(1));
    ASSERT_TRUE(engine->unload("a"));
    EXPECT_EQ(gone->finishes(), 1) << "before unload returns";
    EXPECT_TRUE(gone->finish().reason == FinishReason::kCancelled ||
                gone->finish().reason == FinishReason::kContext);
    ASSERT_TRUE(stays->waitFinished());
    EXPECT_EQ(stays->finish().reason, FinishReason::kContext);
    EXPECT_EQ(engine->models().size(), 1U);
    EXPECT_EQ(engine->snapshot().models.size(), 1U);
    loadFake(*engine, "a");
    request.model = "a";
    EXPECT_EQ(runToEnd(*engine, request)->tokens(), stays->tokens());
}

TEST(EngineLoad, ShutdownLetsRequestsFinishWithinTheGrace) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    const auto sink = std::make_shared<EventCollector>();
    send(*engine, greedy("x", 50), sink);
    engine->shutdown(std::chrono::seconds(20));
    EXPECT_EQ(sink->finishes(), 1);
    EXPECT_EQ(sink->tokens().size(), 50U);
    EXPECT_EQ(engine->prepare(greedy("x", 1)).error().code, ErrorCode::kUnavailable);
    EXPECT_EQ(engine->load(named("n"), {}).error().code, ErrorCode::kUnavailable);
    EXPECT_TRUE(engine->models().empty());
    engine->shutdown(std::chrono::seconds(20));  // again: nothing happens
    engine->cancel(1);
    engine->setPaused(1, true);
    EXPECT_TRUE(engine->snapshot().isDraining);
}

TEST(EngineLoad, ShutdownCancelsWhatIsTooSlow) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    const auto sink = std::make_shared<EventCollector>();
    const auto paused = std::make_shared<EventCollector>();
    Request request = greedy("x", std::nullopt);
    request.output.ignoreEos = true;
    auto prepared = engine->prepare(request);
    engine->setPaused(send(*engine, request, paused), true);
    ASSERT_TRUE(engine->submit(*prepared, sink));
    std::jthread patient([&] { engine->shutdown(std::chrono::hours(1)); });
    while (!engine->snapshot().isDraining) {
        std::this_thread::yield();
    }
    EXPECT_EQ(engine->submit(*prepared, sink).error().code, ErrorCode::kUnavailable);
    engine->shutdown(std::chrono::milliseconds(0));  // the impatient one hurries the patient one
    patient.join();
    EXPECT_EQ(sink->finishes(), 1);
    EXPECT_EQ(paused->finishes(), 1);
}

TEST(EngineLoad, DestroyingAnEngineEndsItsRequests) {
    const auto sink = std::make_shared<EventCollector>();
    {
        auto engine = makeEngineForTest();
        loadFake(*engine, "m");
        Request request = greedy("x", std::nullopt);
        request.output.ignoreEos = true;
        send(*engine, request, sink);
    }
    EXPECT_EQ(sink->finishes(), 1);
}

TEST(EngineLoad, PreparesOnItsWorkers) {
    auto engine = makeEngineForTest();
    loadFake(*engine, "m");
    std::promise<std::thread::id> where;
    engine->prepareAsync(greedy("x", 3), [&](Result<PreparedRequest> prepared) {
        EXPECT_TRUE(prepared);
        where.set_value(std::this_thread::get_id());
    });
    EXPECT_NE(where.get_future().get(), std::this_thread::get_id());
    engine->shutdown(std::chrono::seconds(1));
    std::promise<ErrorCode> after;
    engine->prepareAsync(greedy("x", 3), [&](Result<PreparedRequest> prepared) {
        after.set_value(prepared ? ErrorCode::kInternal : prepared.error().code);
    });
    EXPECT_EQ(after.get_future().get(), ErrorCode::kUnavailable);
}

}  // namespace
}  // namespace quern::engine
