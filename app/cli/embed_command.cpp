#include "app/cli/embed_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>

#include "app/cli/exit_codes.h"
#include "app/cli/input_text.h"
#include "app/cli/model_session.h"
#include "app/cli/terminal_text.h"
#include "engine/embed.h"

namespace quern::cli {

namespace {

using Json = nlohmann::ordered_json;

// Requests that wait in the engine at the same time.
constexpr std::size_t kAtOnce = 256;

/// The texts that were given, else the lines of standard input.
Result<std::vector<std::string>> textsOrLines(const std::vector<std::string>& given) {
    if (!given.empty()) {
        return given;
    }
    const auto text = readStandardInput();
    if (!text) {
        return tl::unexpected<Error>(text.error());
    }
    std::vector<std::string> lines;
    std::istringstream in(*text);
    for (std::string line; std::getline(in, line);) {
        lines.push_back(std::move(line));
    }
    return lines;
}

/// The replies to one request a text, in their order.
template <class MakeRequest>
Result<std::vector<engine::VectorReply>> embedInWaves(engine::Engine& engine,
                                                      const std::vector<std::string>& texts,
                                                      MakeRequest makeRequest) {
    std::vector<engine::VectorReply> all;
    for (std::size_t first = 0; first < texts.size(); first += kAtOnce) {
        std::vector<engine::Request> requests;
        const std::size_t last = std::min(texts.size(), first + kAtOnce);
        for (std::size_t i = first; i < last; ++i) {
            requests.push_back(makeRequest(texts[i]));
        }
        auto replies = engine::embedAll(engine, std::move(requests));
        if (!replies) {
            return replies;
        }
        std::move(replies->begin(), replies->end(), std::back_inserter(all));
    }
    return all;
}

void printJson(const Json& json) {
    std::printf("%s\n", json.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

void printVectors(const std::vector<engine::VectorReply>& replies) {
    for (const engine::VectorReply& reply : replies) {
        std::printf("%s\n", fmt::format("{:.9g}", fmt::join(reply.vector, " ")).c_str());
    }
}

Result<ModelSession> openSession(const EmbedOptions& options, const app::ModelLibrary& library) {
    std::optional<engine::Pooling> pooling;
    if (!options.pooling.empty()) {
        auto named = engine::poolingByName(options.pooling);
        if (!named) {
            return forward(named);
        }
        pooling = *named;
    }
    return ModelSession::open(library, options.model, options.modelFlags, true, pooling);
}

}  // namespace

int runEmbed(const EmbedOptions& options, const app::ModelLibrary& library) {
    const auto texts = textsOrLines(options.texts);
    if (!texts) {
        return reportError(texts.error());
    }
    auto session = openSession(options, library);
    if (!session) {
        return reportError(session.error());
    }
    const auto replies = embedInWaves(*session->engine, *texts, [&](const std::string& text) {
        engine::Request request;
        request.clientId = "embed";
        request.prompt = engine::TextPrompt{.text = text};
        request.vector = engine::VectorParams{
            .isNormalized = options.isRaw ? std::optional(false) : std::nullopt,
            .dimensions = options.dimensions,
            .truncateTo = options.truncateTo};
        return request;
    });
    if (!replies) {
        return reportError(replies.error());
    }
    if (!options.asJson) {
        printVectors(*replies);
        return kExitOk;
    }
    Json json{{"model", session->model->name},
              {"pooling", engine::poolingName(session->model->info.pooling)},
              {"data", Json::array()}};
    for (const engine::VectorReply& reply : *replies) {
        json["data"].push_back({{"index", json["data"].size()},
                                {"tokens", reply.promptTokens},
                                {"embedding", reply.vector}});
    }
    printJson(json);
    return kExitOk;
}

int runRerank(const RerankOptions& options, const app::ModelLibrary& library) {
    const auto documents = textsOrLines(options.documents);
    if (!documents) {
        return reportError(documents.error());
    }
    auto session = ModelSession::open(library, options.model, options.modelFlags, true);
    if (!session) {
        return reportError(session.error());
    }
    const auto replies =
        embedInWaves(*session->engine, *documents, [&](const std::string& document) {
            engine::Request request;
            request.clientId = "rerank";
            request.prompt = engine::PairPrompt{.query = options.query, .document = document};
            request.vector = engine::VectorParams{.isScore = true};
            return request;
        });
    if (!replies) {
        return reportError(replies.error());
    }
    std::vector<std::size_t> order(documents->size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return (*replies)[a].vector[0] > (*replies)[b].vector[0];
    });
    Json json{{"model", session->model->name}, {"results", Json::array()}};
    for (const std::size_t i : order) {
        const float score = (*replies)[i].vector[0];
        json["results"].push_back({{"index", i},
                                   {"score", score},
                                   {"relevance", engine::scoreAsProbability(score)},
                                   {"document", (*documents)[i]}});
        if (!options.asJson) {
            std::printf("%s\n", fmt::format("{:.6f}\t{}", engine::scoreAsProbability(score),
                                            withoutTerminalControls((*documents)[i]))
                                    .c_str());
        }
    }
    if (options.asJson) {
        printJson(json);
    }
    return kExitOk;
}

}  // namespace quern::cli
