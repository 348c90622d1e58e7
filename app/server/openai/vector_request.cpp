#include "app/server/openai/vector_request.h"

#include <openssl/evp.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <utility>

#include "app/server/openai/json_body.h"

namespace quern::app {

namespace {

using engine::VectorReply;

constexpr std::size_t kMostInputs = 2048;  // OpenAI's limit
constexpr std::int64_t kMostTokens = std::numeric_limits<std::int32_t>::max();

void readTruncation(Fields& fields, engine::VectorParams& params) {
    params.truncateTo = fields.integer("truncate_prompt_tokens", 1, kMostTokens);
}

// Ids of one text, or nothing where the list holds something else.
std::optional<engine::TokenPrompt> idsOf(const Json& list) {
    engine::TokenPrompt ids;
    for (const Json& id : list) {
        if (!id.is_number_integer() || id < 0 || id > kMostTokens) {
            return std::nullopt;
        }
        ids.push_back(id.get<engine::TokenId>());
    }
    return ids;
}

// A text, a list of texts, a list of ids, or a list of such lists.
std::vector<engine::Prompt> readInput(Fields& fields) {
    constexpr const char* kWanted =
        "'input' must be a string, a list of strings, a list of token ids or a list of such lists";
    const Json* input = fields.any("input");
    std::vector<engine::Prompt> prompts;
    if (input == nullptr) {
        fields.fail("input", "'input' is missing: give a text, or a list of texts");
        return prompts;
    }
    if (input->is_string()) {
        prompts.emplace_back(engine::TextPrompt{.text = input->get<std::string>()});
        return prompts;
    }
    if (!input->is_array() || input->empty()) {
        fields.fail("input", kWanted);
        return prompts;
    }
    if (input->front().is_number()) {
        if (auto ids = idsOf(*input)) {
            prompts.emplace_back(std::move(*ids));
        } else {
            fields.fail("input", kWanted);
        }
        return prompts;
    }
    if (input->size() > kMostInputs) {
        fields.fail("input", "'input' has " + std::to_string(input->size()) + " texts; at most " +
                                 std::to_string(kMostInputs) + " are allowed");
        return prompts;
    }
    for (const Json& entry : *input) {
        auto ids = entry.is_array() ? idsOf(entry) : std::nullopt;
        if (entry.is_string()) {
            prompts.emplace_back(engine::TextPrompt{.text = entry.get<std::string>()});
        } else if (ids) {
            prompts.emplace_back(std::move(*ids));
        } else {
            fields.fail("input", kWanted);
            break;
        }
    }
    return prompts;
}

Json usageJson(const std::vector<VectorReply>& replies) {
    const std::int64_t tokens = std::accumulate(
        replies.begin(), replies.end(), std::int64_t{0},
        [](std::int64_t sum, const VectorReply& reply) { return sum + reply.promptTokens; });
    return {{"prompt_tokens", tokens}, {"total_tokens", tokens}};
}

void readEmbeddings(Fields& fields, VectorRequest& request) {
    engine::VectorParams params;
    params.dimensions = fields.integer("dimensions", 1, kMostTokens).value_or(0);
    params.isNormalized = fields.flag("normalize");
    readTruncation(fields, params);
    const std::string format = fields.text("encoding_format").value_or("float");
    if (format != "float" && format != "base64") {
        fields.fail("encoding_format", "'encoding_format' is '" + format.substr(0, 32) +
                                           "', and must be float or base64");
    }
    for (engine::Prompt& prompt : readInput(fields)) {
        engine::Request one;
        one.prompt = std::move(prompt);
        one.vector = params;
        request.requests.push_back(std::move(one));
    }
    request.answer = [isBase64 = format == "base64"](const std::vector<VectorReply>& replies) {
        Json json{{"object", "list"}, {"data", Json::array()}};
        for (const VectorReply& reply : replies) {
            json["data"].push_back(
                {{"object", "embedding"},
                 {"index", json["data"].size()},
                 {"embedding", isBase64 ? Json(base64Of(reply.vector)) : Json(reply.vector)}});
        }
        json["usage"] = usageJson(replies);
        return json;
    };
}

// Texts, or objects with a "text".
std::vector<std::string> readDocuments(Fields& fields) {
    const Json* list = fields.any("documents");
    std::vector<std::string> documents;
    if (list == nullptr || !list->is_array() || list->empty() || list->size() > kMostInputs) {
        fields.fail("documents",
                    "'documents' must be a list of 1 to " + std::to_string(kMostInputs) + " texts");
        return documents;
    }
    for (const Json& entry : *list) {
        const Json* text = &entry;
        if (entry.is_object() && entry.contains("text")) {
            text = &entry["text"];
        }
        if (!text->is_string()) {
            fields.fail("documents", "'documents' must be strings, or objects with a 'text'");
            break;
        }
        documents.push_back(text->get<std::string>());
    }
    return documents;
}

void addPair(VectorRequest& request, const engine::VectorParams& params, std::string query,
             std::string document) {
    engine::Request one;
    one.prompt = engine::PairPrompt{.query = std::move(query), .document = std::move(document)};
    one.vector = params;
    request.requests.push_back(std::move(one));
}

// The logistic function of what the model gives, or that itself.
float shownScore(const VectorReply& reply, bool isProbability) {
    const float score = reply.vector.front();
    return isProbability ? engine::scoreAsProbability(score) : score;
}

void readRerank(Fields& fields, VectorRequest& request) {
    engine::VectorParams params{.isScore = true};
    readTruncation(fields, params);
    const auto query = fields.text("query");
    if (!query) {
        fields.fail("query", "'query' is missing: give a text");
    }
    const bool isProbability = fields.flag("use_activation").value_or(true);
    const bool returnsDocuments = fields.flag("return_documents").value_or(true);
    std::vector<std::string> documents = readDocuments(fields);
    const auto most =
        static_cast<std::size_t>(fields.integer("top_n", 1, kMostTokens)
                                     .value_or(static_cast<std::int64_t>(documents.size())));
    for (const std::string& document : documents) {
        addPair(request, params, query.value_or(""), document);
    }
    request.answer = [documents = std::move(documents), most, isProbability,
                      returnsDocuments](const std::vector<VectorReply>& replies) {
        std::vector<std::size_t> order(replies.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
            return replies[a].vector.front() > replies[b].vector.front();
        });
        order.resize(std::min(order.size(), most));
        Json json{{"object", "list"}, {"results", Json::array()}};
        for (const std::size_t i : order) {
            Json result{{"index", i}, {"relevance_score", shownScore(replies[i], isProbability)}};
            if (returnsDocuments) {
                result["document"] = {{"text", documents[i]}};
            }
            json["results"].push_back(std::move(result));
        }
        json["usage"] = usageJson(replies);
        return json;
    };
}

void readScore(Fields& fields, VectorRequest& request) {
    engine::VectorParams params{.isScore = true};
    readTruncation(fields, params);
    const bool isProbability = fields.flag("use_activation").value_or(true);
    const std::vector<std::string> first = fields.texts("text_1", kMostInputs);
    const std::vector<std::string> second = fields.texts("text_2", kMostInputs);
    if (first.empty() || second.empty()) {
        fields.fail(first.empty() ? "text_1" : "text_2",
                    std::string("'") + (first.empty() ? "text_1" : "text_2") +
                        "' is missing: give a text, or a list of texts");
    } else if (first.size() != 1 && first.size() != second.size()) {
        fields.fail("text_2", "'text_1' has " + std::to_string(first.size()) +
                                  " texts and 'text_2' " + std::to_string(second.size()) +
                                  "; give one for all, or as many");
    } else {
        for (std::size_t i = 0; i < second.size(); ++i) {
            addPair(request, params, first[first.size() == 1 ? 0 : i], second[i]);
        }
    }
    request.answer = [isProbability](const std::vector<VectorReply>& replies) {
        Json json{{"object", "list"}, {"data", Json::array()}};
        for (const VectorReply& reply : replies) {
            json["data"].push_back({{"object", "score"},
                                    {"index", json["data"].size()},
                                    {"score", shownScore(reply, isProbability)}});
        }
        json["usage"] = usageJson(replies);
        return json;
    };
}

}  // namespace

tl::expected<VectorRequest, ApiError> readVectorRequest(VectorKind kind, const std::string& body) {
    const auto json = parseBody(body);
    if (!json) {
        return tl::unexpected(json.error());
    }
    Fields fields(*json);
    VectorRequest request;
    request.model = fields.text("model").value_or("");
    (void)fields.text("user");
    std::int32_t priority = 0;
    if (const auto given = fields.integer("priority", -kMostTokens, kMostTokens)) {
        priority = static_cast<std::int32_t>(*given);
    }
    switch (kind) {
        case VectorKind::kEmbeddings:
            readEmbeddings(fields, request);
            break;
        case VectorKind::kRerank:
            readRerank(fields, request);
            break;
        case VectorKind::kScore:
            readScore(fields, request);
            break;
    }
    if (fields.error()) {
        return tl::unexpected(*fields.error());
    }
    for (engine::Request& one : request.requests) {
        one.model = request.model;
        one.priority = priority;
        one.clientId = "api";
    }
    request.warnings = fields.unknown();
    return request;
}

std::string base64Of(const std::vector<float>& vector) {
    static_assert(std::endian::native == std::endian::little);
    const std::size_t bytes = vector.size() * sizeof(float);
    std::string text((bytes + 2) / 3 * 4 + 1, '\0');  // and the zero that OpenSSL puts behind
    const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()),
                                     reinterpret_cast<const unsigned char*>(vector.data()),
                                     static_cast<int>(bytes));
    text.resize(static_cast<std::size_t>(size));
    return text;
}

}  // namespace quern::app
