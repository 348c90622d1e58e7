// Requests for vectors and scores, through an engine with real weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

#include "engine/embed.h"
#include "engine/formats/model_source.h"
#include "kernels/quant.h"
#include "tests/engine/core/core_helpers.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;
using namespace test;
using Vector = std::vector<float>;

std::unique_ptr<Engine> vectorEngine(const fs::path& model, LoadOptions options = {},
                                     std::int32_t threads = 2) {
    auto engine = makeEngine({.threads = threads});
    options.path = model;
    options.name = "m";
    if (auto loaded = (*engine)->load(options, {}); !loaded) {
        ADD_FAILURE() << loaded.error().message;
        return nullptr;
    }
    return std::move(*engine);
}

Request vectorOf(TokenPrompt ids, VectorParams params = {}) {
    Request request;
    request.model = "m";
    request.prompt = std::move(ids);
    request.vector = params;
    return request;
}

TokenPrompt randomIds(std::size_t count, unsigned seed) {
    std::mt19937 random(seed);
    TokenPrompt ids(count);
    for (TokenId& id : ids) {
        id = static_cast<TokenId>(random() % 300);
    }
    return ids;
}

Vector embed(Engine& engine, Request request) {
    std::vector<Request> requests;
    requests.push_back(std::move(request));
    auto replies = embedAll(engine, std::move(requests));
    if (!replies) {
        ADD_FAILURE() << replies.error().message;
        return {};
    }
    return replies->front().vector;
}

Error refusalOf(Engine& engine, Request request) {
    const auto prepared = engine.prepare(std::move(request));
    if (prepared) {
        ADD_FAILURE() << "was not refused";
        return {};
    }
    return prepared.error();
}

bool areSameBits(const Vector& a, const Vector& b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(Vectors, AreTheSameAloneAndAmongOthers) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/modernbert");
    std::vector<TokenPrompt> texts;
    for (unsigned i = 0; i < 150; ++i) {
        texts.push_back(randomIds(1 + (i * 29) % 250, i));
    }
    std::vector<Vector> alone;
    const auto plain = vectorEngine(folder, {}, 1);
    ASSERT_TRUE(plain);
    for (const TokenPrompt& text : texts) {
        alone.push_back(embed(*plain, vectorOf(text)));
    }
    for (const LoadOptions& options : {LoadOptions{}, LoadOptions{.maxRunning = 7}}) {
        const auto engine = vectorEngine(folder, options, 3);
        ASSERT_TRUE(engine);
        std::vector<Request> requests;
        for (const TokenPrompt& text : texts) {
            requests.push_back(vectorOf(text));
        }
        const auto replies = embedAll(*engine, std::move(requests));
        ASSERT_TRUE(replies.has_value()) << replies.error().message;
        for (std::size_t i = 0; i < texts.size(); ++i) {
            EXPECT_TRUE(areSameBits((*replies)[i].vector, alone[i])) << "text " << i;
            EXPECT_EQ((*replies)[i].promptTokens, std::ssize(texts[i]));
        }
        EXPECT_EQ(heldBlocks(*engine), 0);
        EXPECT_EQ(engine->snapshot().models[0].counters.prefixCacheHits, 0);
    }
}

TEST(Vectors, HaveLengthOneUnlessAskedOtherwise) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/bert");
    const auto engine = vectorEngine(folder);
    ASSERT_TRUE(engine);
    const auto lengthOf = [](const Vector& vector) {
        double squares = 0;
        for (const float element : vector) {
            squares += static_cast<double>(element) * static_cast<double>(element);
        }
        return std::sqrt(squares);
    };
    const TokenPrompt text = randomIds(20, 1);
    const Vector raw = embed(*engine, vectorOf(text, {.isNormalized = false}));
    const Vector whole = embed(*engine, vectorOf(text));
    const Vector first = embed(*engine, vectorOf(text, {.dimensions = 10}));
    ASSERT_EQ(raw.size(), 64U);
    ASSERT_EQ(first.size(), 10U);
    EXPECT_GT(std::abs(lengthOf(raw) - 1), 0.01);
    EXPECT_NEAR(lengthOf(whole), 1, 1e-6);
    EXPECT_NEAR(lengthOf(first), 1, 1e-6);
    for (std::size_t i = 0; i < first.size(); ++i) {
        EXPECT_NEAR(first[i] / first[0], raw[i] / raw[0], 1e-3 * std::abs(raw[i] / raw[0]));
    }
}

TEST(Vectors, TooLongATextIsRefusedOrCutOnRequest) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/bert");
    const auto engine = vectorEngine(folder);
    ASSERT_TRUE(engine);
    const TokenPrompt text = randomIds(257, 2);
    const Error refused = refusalOf(*engine, vectorOf(text));
    EXPECT_EQ(refused.code, ErrorCode::kContextLength);
    EXPECT_EQ(refused.message,
              "the text has 257 tokens, and the model takes up to 256; truncate_prompt_tokens cuts "
              "it");
    const Vector cut = embed(*engine, vectorOf(text, {.truncateTo = 100}));
    const Vector same = embed(*engine, vectorOf(TokenPrompt(text.begin(), text.begin() + 100)));
    EXPECT_TRUE(areSameBits(cut, same));
    EXPECT_EQ(refusalOf(*engine, vectorOf(text, {.truncateTo = 300})).message,
              "truncate_prompt_tokens is 300; it must be from 1 to 256");
    EXPECT_EQ(refusalOf(*engine, vectorOf(text, {.dimensions = 65, .truncateTo = 9})).message,
              "dimensions is 65; the model's vectors have 64 elements");
    EXPECT_EQ(refusalOf(*engine, vectorOf({})).message,
              "the text is empty; at least one token is needed");
}

TEST(Vectors, AModelGivesOnlyWhatItIsFor) {
    QUERN_GOLDEN_OR_SKIP(bert, "models/bert");
    QUERN_GOLDEN_OR_SKIP(llama, "models/llama");
    const auto embedder = vectorEngine(bert);
    const auto generator = vectorEngine(llama);
    ASSERT_TRUE(embedder && generator);
    Request chat;
    chat.model = "m";
    chat.prompt = TokenPrompt{1, 2};
    EXPECT_EQ(refusalOf(*embedder, chat).message,
              "model m turns texts into vectors and cannot reply to a prompt");
    EXPECT_EQ(refusalOf(*embedder, chat).code, ErrorCode::kUnsupported);
    EXPECT_EQ(refusalOf(*generator, vectorOf({1, 2})).message,
              "model m generates text and gives no vectors of texts");
    EXPECT_EQ(refusalOf(*generator, vectorOf({1, 2})).code, ErrorCode::kUnsupported);
    EXPECT_EQ(refusalOf(*embedder, vectorOf({1, 2}, {.isScore = true})).message,
              "model m turns texts into vectors and has no head that scores");
}

TEST(Vectors, ShareAnEngineWithReplies) {
    QUERN_GOLDEN_OR_SKIP(bert, "models/bert");
    QUERN_GOLDEN_OR_SKIP(llama, "models/llama");
    const auto engine = vectorEngine(bert);
    ASSERT_TRUE(engine);
    ASSERT_TRUE(engine->load({.path = llama, .name = "llama"}, {}).has_value());
    Request reply;
    reply.model = "llama";
    reply.prompt = randomIds(30, 4);
    reply.sampling.temperature = 0;
    reply.output.maxTokens = 60;
    const auto alone = runToEnd(*engine, reply)->tokens();
    const Vector aloneVector = embed(*engine, vectorOf(randomIds(200, 5)));
    const auto sink = std::make_shared<EventCollector>();
    send(*engine, reply, sink);
    for (int i = 0; i < 10; ++i) {
        EXPECT_TRUE(areSameBits(embed(*engine, vectorOf(randomIds(200, 5))), aloneVector));
    }
    ASSERT_TRUE(sink->waitFinished());
    EXPECT_EQ(sink->tokens(), alone);
}

/// A causal model's last hidden state: its head over it gives the reference's logits.
TEST(Vectors, OfACausalModelAreItsLastHiddenState) {
    for (const char* name : {"qwen3", "llama"}) {
        QUERN_GOLDEN_OR_SKIP(folder, std::string("models/") + name);
        const auto engine = vectorEngine(
            folder, {.kvType = kernels::DType::kF32, .stepTokens = 64, .pooling = Pooling::kLast});
        ASSERT_TRUE(engine);
        const auto source = openModel(folder);
        ASSERT_TRUE(source.has_value()) << source.error().message;
        const char* headName = source->spec.isHeadTied ? "token_embd.weight" : "output.weight";
        const kernels::TensorView head = *source->tensors->find(headName);
        const auto hidden = static_cast<std::size_t>(head.shape.cols());
        std::vector<float> weights(static_cast<std::size_t>(head.shape.elements()));
        const std::span<const std::byte> raw(head.data, static_cast<std::size_t>(*kernels::rowBytes(
                                                            head.type, head.shape.elements())));
        ASSERT_TRUE(kernels::dequantize(head.type, raw, weights).has_value());
        const auto expected = readJson(folder / "expected.json");
        for (const auto& golden : expected["cases"]) {
            const Vector state =
                embed(*engine, vectorOf(golden["ids"].get<TokenPrompt>(), {.isNormalized = false}));
            ASSERT_EQ(state.size(), hidden);
            const auto wanted = golden["last_logits"].get<std::vector<double>>();
            double scale = 0;
            for (const double logit : wanted) {
                scale = std::max(scale, std::abs(logit));
            }
            for (std::size_t token = 0; token < wanted.size(); ++token) {
                double logit = 0;
                for (std::size_t d = 0; d < hidden; ++d) {
                    logit += static_cast<double>(state[d]) *
                             static_cast<double>(weights[token * hidden + d]);
                }
                ASSERT_NEAR(logit, wanted[token], 5e-5 * scale) << name << ", token " << token;
            }
        }
    }
}

TEST(Vectors, OfACausalModelTakeItWholeWhereAllTokensCount) {
    QUERN_GOLDEN_OR_SKIP(folder, "models/qwen3");
    const TokenPrompt text = randomIds(200, 6);
    for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst, Pooling::kLast}) {
        const auto large = vectorEngine(folder, {.pooling = pooling}, 1);
        const auto small =
            vectorEngine(folder, {.maxRunning = 4, .stepTokens = 16, .pooling = pooling});
        ASSERT_TRUE(large && small);
        const Vector alone = embed(*large, vectorOf(text));
        for (int round = 0; round < 2; ++round) {  // the second may find a prefix
            EXPECT_TRUE(areSameBits(embed(*small, vectorOf(text)), alone))
                << poolingName(pooling) << ", round " << round;
        }
    }
}

/// Golden BERT with a classifier over its pooler, written here.
struct Reranker {
    explicit Reranker(const fs::path& golden, std::int64_t labels = 1) {
        auto config = readJson(golden / "config.json");
        config["architectures"] = {"BertForSequenceClassification"};
        writeFile(folder.path() / "config.json", config.dump());
        std::mt19937 random(8);
        std::uniform_real_distribution<float> uniform(-1, 1);
        for (std::int64_t i = 0; i < labels * 64; ++i) {
            classifier.push_back(uniform(random));
        }
        SafetensorsBuilder builder;
        builder.copyOf(golden / "model.safetensors")
            .values("classifier.weight", {labels, 64}, classifier)
            .values("classifier.bias", {labels},
                    std::vector<float>(static_cast<std::size_t>(labels), 0.25F));
        writeFile(folder.path() / "model.safetensors", builder.bytes());
    }
    TempFolder folder;
    std::vector<float> classifier;
};

std::vector<float> floatsOf(const ModelSource& source, const char* name) {
    const kernels::TensorView view = *source.tensors->find(name);
    std::vector<float> values(static_cast<std::size_t>(view.shape.elements()));
    const std::span<const std::byte> raw(
        view.data, static_cast<std::size_t>(*kernels::rowBytes(view.type, view.shape.elements())));
    EXPECT_TRUE(kernels::dequantize(view.type, raw, values).has_value());
    return values;
}

/// classifier · tanh(pooler · first token), in double precision over the reference's hidden state.
TEST(Scores, AreTheClassifierOverThePooler) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const Reranker reranker(golden);
    const auto source = openModel(reranker.folder.path());
    ASSERT_TRUE(source.has_value()) << source.error().message;
    EXPECT_EQ(source->info.task, ModelTask::kScore);
    const std::vector<float> pooler = floatsOf(*source, "cls.weight");
    const std::vector<float> bias = floatsOf(*source, "cls.bias");
    const auto engine = vectorEngine(reranker.folder.path());
    ASSERT_TRUE(engine);
    const auto expected = readJson(golden / "expected.json");
    for (const auto& one : expected["cases"]) {
        const auto hidden = one["first_token"].get<std::vector<double>>();
        double wanted = 0.25;
        for (std::size_t row = 0; row < 64; ++row) {
            double sum = static_cast<double>(bias[row]);
            for (std::size_t d = 0; d < 64; ++d) {
                sum += static_cast<double>(pooler[row * 64 + d]) * hidden[d];
            }
            wanted += static_cast<double>(reranker.classifier[row]) * std::tanh(sum);
        }
        const Vector score =
            embed(*engine, vectorOf(one["ids"].get<TokenPrompt>(), {.isScore = true}));
        ASSERT_EQ(score.size(), 1U);
        EXPECT_NEAR(score[0], wanted, 1e-5);
    }
    EXPECT_EQ(refusalOf(*engine, vectorOf({1, 2})).message,
              "model m scores documents by a query and gives no vectors of texts");
    EXPECT_FLOAT_EQ(scoreAsProbability(0), 0.5F);
    EXPECT_FLOAT_EQ(scoreAsProbability(2), 0.880797F);
}

TEST(Scores, AreOfOneLabel) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const Reranker classifier(golden, 3);
    const auto engine = vectorEngine(classifier.folder.path());
    ASSERT_TRUE(engine);
    EXPECT_EQ(refusalOf(*engine, vectorOf({1, 2}, {.isScore = true})).message,
              "model m tells 3 labels apart; a score is of one");
}

TEST(Scores, APoolingOfTheirOwnIsNotToBeChosen) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const Reranker reranker(golden);
    auto engine = makeEngine({.threads = 1});
    const auto loaded = (*engine)->load(
        {.path = reranker.folder.path(), .name = "m", .pooling = Pooling::kMean}, {});
    ASSERT_FALSE(loaded.has_value());
    EXPECT_EQ(loaded.error().field, "pooling");
}

}  // namespace
}  // namespace quern::engine
