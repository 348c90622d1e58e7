#include "engine/core/vector_prompt.h"

#include <algorithm>
#include <string>
#include <utility>

namespace quern::engine {

namespace {

std::string whatItGives(const LoadedModel& model) {
    switch (model.info.task) {
        case ModelTask::kGenerate:
            return "model " + model.name + " generates text";
        case ModelTask::kEmbed:
            return "model " + model.name + " turns texts into vectors";
        case ModelTask::kScore:
            return "model " + model.name + " scores documents by a query";
    }
    return {};
}

/// Tokens that the tokenizer puts behind every text.
std::size_t suffixSize(const Tokenizer* tokenizer, const std::vector<TokenId>& ids) {
    const auto around = tokenizer == nullptr
                            ? Result<std::vector<TokenId>>(std::vector<TokenId>())
                            : tokenizer->encode("", {.addSpecial = true, .parseSpecial = false});
    if (!around) {
        return 0;
    }
    const auto [end, ignored] =
        std::mismatch(around->rbegin(), around->rend(), ids.rbegin(), ids.rend());
    return static_cast<std::size_t>(end - around->rbegin());
}

}  // namespace

Status checkTask(const LoadedModel& model, const Request& request) {
    const ModelTask task = model.info.task;
    if (!request.vector) {
        return task == ModelTask::kGenerate
                   ? Status()
                   : failField("model", whatItGives(model) + " and cannot reply to a prompt",
                               ErrorCode::kUnsupported);
    }
    if (request.choices != 1) {
        return failField("n",
                         "n is " + std::to_string(request.choices) + "; a text has one vector");
    }
    if (request.vector->isScore) {
        if (task != ModelTask::kScore) {
            return failField("model", whatItGives(model) + " and has no head that scores",
                             ErrorCode::kUnsupported);
        }
        return model.info.vectorSize == 1 ? Status()
                                          : failField("model",
                                                      "model " + model.name + " tells " +
                                                          std::to_string(model.info.vectorSize) +
                                                          " labels apart; a score is of one",
                                                      ErrorCode::kUnsupported);
    }
    return task == ModelTask::kEmbed
               ? Status()
               : failField("model", whatItGives(model) + " and gives no vectors of texts",
                           ErrorCode::kUnsupported);
}

Status fitVectorPrompt(const LoadedModel& model, PreparedRequest& prepared) {
    const VectorParams& params = *prepared.request.vector;
    const std::int64_t most = model.info.vectorSize;
    if (params.dimensions < 0 || params.dimensions > most) {
        return failField("dimensions", "dimensions is " + std::to_string(params.dimensions) +
                                           "; the model's vectors have " + std::to_string(most) +
                                           " elements");
    }
    const std::int64_t context = model.options.contextTokens;
    const std::int64_t limit = params.truncateTo.value_or(context);
    if (limit < 1 || limit > context) {
        return failField("truncate_prompt_tokens",
                         "truncate_prompt_tokens is " + std::to_string(limit) +
                             "; it must be from 1 to " + std::to_string(context));
    }
    std::vector<TokenId>& ids = prepared.promptIds;
    const auto size = static_cast<std::int64_t>(ids.size());
    if (size == 0) {
        return failField("input", "the text is empty; at least one token is needed");
    }
    if (size <= limit) {
        return {};
    }
    if (!params.truncateTo) {
        return failField("input",
                         "the text has " + std::to_string(size) +
                             " tokens, and the model takes up to " + std::to_string(context) +
                             "; truncate_prompt_tokens cuts it",
                         ErrorCode::kContextLength);
    }
    const bool isText = !std::holds_alternative<TokenPrompt>(prepared.request.prompt);
    const auto suffix =
        static_cast<std::int64_t>(isText ? suffixSize(model.tokenizer.get(), ids) : std::size_t{0});
    const std::int64_t kept = std::max<std::int64_t>(0, limit - suffix);
    if (prepared.secondFrom > 0 && prepared.secondFrom >= kept) {
        return failField("truncate_prompt_tokens",
                         "the query alone has " + std::to_string(prepared.secondFrom) +
                             " tokens; cut to " + std::to_string(limit) +
                             " nothing of the document is left",
                         ErrorCode::kContextLength);
    }
    ids.erase(ids.begin() + kept, ids.end() - std::min(suffix, limit));
    return {};
}

}  // namespace quern::engine
