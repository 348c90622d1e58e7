// /v1/embeddings, /v1/rerank and /v1/score over an engine with real weights.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "app/server/openai/vector_request.h"
#include "app/server/server.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/raw_http.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// A server over one model.
class Served {
public:
    explicit Served(const fs::path& model) {
        auto engine = engine::makeEngine({.threads = 1});
        m_engine = std::move(*engine);
        auto loaded = m_engine->load({.path = model, .name = "m"}, {});
        EXPECT_TRUE(loaded.has_value()) << (loaded ? "" : loaded.error().message);
        auto server = Server::start(*m_engine, {.port = 0});
        EXPECT_TRUE(server.has_value()) << (server ? "" : server.error().message);
        m_server = std::move(*server);
    }
    Json post(const std::string& path, const Json& body, int status = 200) {
        test::RawConnection connection(m_server->port());
        connection.send(test::httpRequest("POST", path, body.dump(), ""));
        const std::string answer = connection.readAnswer();
        EXPECT_EQ(test::statusOf(answer), status) << answer;
        return Json::parse(test::bodyOf(answer));
    }
    [[nodiscard]] std::vector<ServedRequest> recent() const { return m_server->recent(); }

private:
    std::unique_ptr<engine::Engine> m_engine;
    std::unique_ptr<Server> m_server;
};

TEST(Embeddings, GiveAVectorAText) {
    QUERN_GOLDEN_OR_SKIP(bert, "models/bert");
    Served served(bert);
    const Json reply = served.post("/v1/embeddings", {{"input", {{1, 2, 3}, {4}}}, {"extra", 1}});
    EXPECT_EQ(reply["object"], "list");
    EXPECT_EQ(reply["model"], "m");
    ASSERT_EQ(reply["data"].size(), 2U);
    EXPECT_EQ(reply["data"][1]["object"], "embedding");
    EXPECT_EQ(reply["data"][1]["index"], 1);
    EXPECT_EQ(reply["data"][1]["embedding"].size(), 64U);
    EXPECT_EQ(reply["usage"], Json({{"prompt_tokens", 4}, {"total_tokens", 4}}));
    EXPECT_EQ(reply["warnings"], Json::array({"unknown field 'extra' was ignored"}));
    EXPECT_EQ(served.recent()[0].promptTokens, 4);
    const Json alone = served.post("/v1/embeddings", {{"input", {4}}});
    EXPECT_EQ(alone["data"][0]["embedding"], reply["data"][1]["embedding"]);
}

TEST(Embeddings, AreTheSameAsBase64) {
    const std::vector<float> vector = {1.0F, -0.5F, 3.25e-20F, 0.0F};
    EXPECT_EQ(base64Of(vector), "AACAPwAAAL8XehkfAAAAAA==");
    EXPECT_EQ(base64Of({}), "");
}

TEST(Embeddings, RefuseWhatTheyCannotRead) {
    QUERN_GOLDEN_OR_SKIP(bert, "models/bert");
    Served served(bert);
    const struct {
        Json body;
        const char* param;
        const char* message;
    } kCases[] = {
        {{{"input", Json::array()}}, "input", "'input' must be"},
        {Json::object(), "input", "'input' is missing"},
        {{{"input", {1, "a"}}}, "input", "'input' must be"},
        {{{"input", {{1}, {"a"}}}}, "input", "'input' must be"},
        {{{"input", {1}}, {"encoding_format", "hex"}}, "encoding_format", "float or base64"},
        {{{"input", {1}}, {"dimensions", 65}}, "dimensions", "have 64 elements"},
        {{{"input", "a text"}}, "", "has no tokenizer"},
        {{{"input", {320}}}, "prompt", "tokens 0 to 319"},
        {{{"input", std::vector<int>(300, 1)}}, "input", "the text has 300 tokens"},
        {{{"input", {1}}, {"model", "other"}}, "model", "no model named other"},
    };
    for (const auto& c : kCases) {
        const int status = std::strcmp(c.param, "model") == 0 ? 404 : 400;
        const Json error = served.post("/v1/embeddings", c.body, status)["error"];
        EXPECT_EQ(error["param"], *c.param == '\0' ? Json() : Json(c.param)) << c.body;
        EXPECT_NE(error["message"].get<std::string>().find(c.message), std::string::npos) << error;
    }
    const Json chat = served.post("/v1/chat/completions",
                                  {{"messages", {{{"role", "user"}, {"content", "Hi"}}}}}, 400);
    EXPECT_NE(chat["error"]["message"].get<std::string>().find("cannot reply"), std::string::npos);
}

/// Golden BERT with a classifier, and a tokenizer of a few words.
class RerankerFolder {
public:
    explicit RerankerFolder(const fs::path& golden) {
        Json config = test::readJson(golden / "config.json");
        config["architectures"] = {"BertForSequenceClassification"};
        test::writeFile(path() / "config.json", config.dump());
        std::vector<float> classifier(64);
        for (std::size_t i = 0; i < classifier.size(); ++i) {
            classifier[i] = (i % 2 == 0 ? 1.0F : -1.0F) * static_cast<float>(i % 7);
        }
        test::SafetensorsBuilder builder;
        builder.copyOf(golden / "model.safetensors")
            .values("classifier.weight", {1, 64}, classifier)
            .values("classifier.bias", {1}, {0.0F});
        test::writeFile(path() / "model.safetensors", builder.bytes());
        Json vocabulary{{"[UNK]", 0}, {"[CLS]", 1}, {"[SEP]", 2}};
        for (const char* word : {"who", "mills", "grain", "trains", "noon", "stones"}) {
            vocabulary[word] = vocabulary.size();
        }
        const Json tokenizer{
            {"added_tokens", Json::array()},
            {"normalizer", nullptr},
            {"pre_tokenizer", {{"type", "Whitespace"}}},
            {"post_processor",
             {{"type", "BertProcessing"}, {"sep", {"[SEP]", 2}}, {"cls", {"[CLS]", 1}}}},
            {"decoder", nullptr},
            {"model", {{"type", "WordLevel"}, {"unk_token", "[UNK]"}, {"vocab", vocabulary}}}};
        test::writeFile(path() / "tokenizer.json", tokenizer.dump());
    }
    [[nodiscard]] const fs::path& path() const { return m_folder.path(); }

private:
    test::TempFolder m_folder;
};

TEST(Rerank, OrdersDocumentsByTheirScore) {
    QUERN_GOLDEN_OR_SKIP(bert, "models/bert");
    const RerankerFolder folder(bert);
    Served served(folder.path());
    const Json documents = {"stones", "trains noon", {{"text", "grain grain"}}, "mills"};
    const Json query{{"query", "who mills"}, {"documents", documents}};
    const Json reply = served.post("/v1/rerank", query);
    ASSERT_EQ(reply["results"].size(), 4U);
    std::vector<double> scores(4);
    for (std::size_t i = 0; i < 4; ++i) {
        const Json& result = reply["results"][i];
        scores[result["index"].get<std::size_t>()] = result["relevance_score"].get<double>();
        EXPECT_TRUE(i == 0 ||
                    result["relevance_score"] <= reply["results"][i - 1]["relevance_score"]);
        EXPECT_GT(result["relevance_score"], 0);
        EXPECT_LT(result["relevance_score"], 1);
    }
    EXPECT_GT(*std::ranges::max_element(scores), *std::ranges::min_element(scores));
    EXPECT_EQ(reply["usage"]["prompt_tokens"], 4 * 5 + 1 + 2 + 2 + 1);

    // The same through /v1/score, one by one and as they are.
    const Json scored = served.post(
        "/v1/score",
        {{"text_1", "who mills"}, {"text_2", {"stones", "trains noon", "grain grain", "mills"}}});
    const Json raw = served.post(
        "/v1/score", {{"text_1", "who mills"}, {"text_2", "stones"}, {"use_activation", false}});
    for (std::size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(scored["data"][i]["score"].get<double>(), scores[i]);
    }
    const double logit = raw["data"][0]["score"].get<double>();
    EXPECT_NEAR(1 / (1 + std::exp(-logit)), scores[0], 1e-6);

    Json few = query;
    few["top_n"] = 2;
    few["return_documents"] = false;
    const Json two = served.post("/v1/rerank", few);
    ASSERT_EQ(two["results"].size(), 2U);
    EXPECT_EQ(two["results"][0]["index"], reply["results"][0]["index"]);
    EXPECT_FALSE(two["results"][0].contains("document"));
}

TEST(Rerank, CutsDocumentsOnlyWhenAsked) {
    QUERN_GOLDEN_OR_SKIP(bert, "models/bert");
    const RerankerFolder folder(bert);
    Served served(folder.path());
    std::string longText;
    for (int i = 0; i < 300; ++i) {
        longText += "grain ";
    }
    Json body{{"query", "who"}, {"documents", {longText}}};
    const Json refused = served.post("/v1/rerank", body, 400);
    EXPECT_EQ(refused["error"]["code"], "context_length_exceeded");
    body["truncate_prompt_tokens"] = 50;
    EXPECT_EQ(served.post("/v1/rerank", body)["usage"]["prompt_tokens"], 50);
    body["truncate_prompt_tokens"] = 4;  // [CLS] who [SEP] … [SEP]: no room for a word
    EXPECT_NE(served.post("/v1/rerank", body, 400)["error"]["message"].get<std::string>().find(
                  "nothing of the document is left"),
              std::string::npos);
    EXPECT_NE(served.post("/v1/embeddings", {{"input", "who"}}, 400)["error"]["message"]
                  .get<std::string>()
                  .find("scores documents by a query"),
              std::string::npos);
}

TEST(Rerank, RefusesWhatItCannotRead) {
    for (const auto& [body, param] : std::initializer_list<std::pair<const char*, const char*>>{
             {R"({"documents": ["a"]})", "query"},
             {R"({"query": "a"})", "documents"},
             {R"({"query": "a", "documents": []})", "documents"},
             {R"({"query": "a", "documents": [1]})", "documents"},
             {R"({"query": "a", "documents": ["b"], "top_n": 0})", "top_n"}}) {
        const auto request = readVectorRequest(VectorKind::kRerank, body);
        ASSERT_FALSE(request.has_value()) << body;
        EXPECT_EQ(request.error().param, param);
    }
    const auto request =
        readVectorRequest(VectorKind::kScore, R"({"text_1": ["a", "b"], "text_2": ["c"]})");
    ASSERT_FALSE(request.has_value());
    EXPECT_EQ(request.error().param, "text_2");
    EXPECT_FALSE(readVectorRequest(VectorKind::kEmbeddings, "[]").has_value());
}

}  // namespace
}  // namespace quern::app
