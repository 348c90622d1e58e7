#include "app/cli/golden_cases.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/cli/input_text.h"

namespace quern::cli {

namespace {

using Json = nlohmann::ordered_json;

tl::unexpected<Error> corrupt(const std::string& where, const std::string& what) {
    return fail(ErrorCode::kCorrupt, where + ": " + what);
}

/// The numbers under `key`; none when it is absent.
template <class T>
Status readNumbers(const Json& object, const char* key, const std::string& where,
                   std::vector<T>& out) {
    const auto found = object.find(key);
    if (found == object.end()) {
        return {};
    }
    if (!found->is_array()) {
        return corrupt(where, "'" + std::string(key) + "' is not a list");
    }
    out.reserve(found->size());
    for (const Json& number : *found) {
        const bool fits = std::is_integral_v<T> ? number.is_number_integer() : number.is_number();
        if (!fits) {
            return corrupt(where, "'" + std::string(key) + "' holds something else than numbers");
        }
        out.push_back(number.get<T>());
    }
    return {};
}

/// The first of each list under `key`.
Status readFirsts(const Json& object, const char* key, const std::string& where,
                  std::vector<engine::TokenId>& out) {
    const auto found = object.find(key);
    if (found == object.end()) {
        return {};
    }
    if (!found->is_array()) {
        return corrupt(where, "'" + std::string(key) + "' is not a list");
    }
    for (const Json& row : *found) {
        if (!row.is_array() || row.empty() || !row[0].is_number_integer()) {
            return corrupt(where, "'" + std::string(key) + "' is not a list of lists of ids");
        }
        out.push_back(row[0].get<engine::TokenId>());
    }
    return {};
}

Result<GoldenCase> readCase(const Json& object, const std::string& name) {
    const std::string where = "case " + name;
    if (!object.is_object()) {
        return corrupt(where, "not an object");
    }
    GoldenCase golden{.name = name};
    for (const Status& status : {readNumbers(object, "ids", where, golden.ids),
                                 readNumbers(object, "last_logits", where, golden.lastLogits),
                                 readNumbers(object, "greedy", where, golden.greedy),
                                 readNumbers(object, "gap", where, golden.gap),
                                 readNumbers(object, "next_logprob", where, golden.nextLogprob),
                                 readFirsts(object, "top_ids", where, golden.topIds),
                                 readNumbers(object, "mean_pooled", where, golden.meanPooled),
                                 readNumbers(object, "first_token", where, golden.firstToken),
                                 readNumbers(object, "embedding", where, golden.embedding)}) {
        if (!status) {
            return tl::unexpected<Error>(status.error());
        }
    }
    if (golden.ids.empty()) {
        return corrupt(where, "no 'ids'");
    }
    const auto expectSize = [&](const char* key, std::size_t size, std::size_t wanted) -> Status {
        if (size == 0 || size == wanted) {
            return {};
        }
        return corrupt(where, "'" + std::string(key) + "' has " + std::to_string(size) +
                                  " entries where " + std::to_string(wanted) + " belong");
    };
    for (const Status& status :
         {expectSize("gap", golden.gap.size(), golden.greedy.size()),
          expectSize("greedy", golden.greedy.size(), golden.gap.size()),
          expectSize("next_logprob", golden.nextLogprob.size(), golden.ids.size() - 1),
          expectSize("top_ids", golden.topIds.size(), golden.ids.size())}) {
        if (!status) {
            return tl::unexpected<Error>(status.error());
        }
    }
    return golden;
}

bool hasVectors(const GoldenCase& golden) {
    return !golden.meanPooled.empty() || !golden.firstToken.empty() || !golden.embedding.empty();
}

Result<GoldenFile> readCases(const Json& root) {
    GoldenFile file;
    const auto cases = root.is_object() ? root.find("cases") : root.end();
    if (cases == root.end() || !cases->is_structured() || cases->empty()) {
        return fail(ErrorCode::kCorrupt, "no 'cases' in it");
    }
    std::size_t index = 0;
    for (const auto& item : cases->items()) {
        const std::string name = cases->is_object() ? item.key() : std::to_string(index);
        auto golden = readCase(item.value(), name);
        if (!golden) {
            return forward(golden);
        }
        file.cases.push_back(std::move(*golden));
        ++index;
    }
    const GoldenCase& first = file.cases.front();
    if (!first.lastLogits.empty()) {
        for (const GoldenCase& golden : file.cases) {
            if (golden.lastLogits.size() != first.lastLogits.size()) {
                return corrupt("case " + golden.name, "'last_logits' has " +
                                                          std::to_string(golden.lastLogits.size()) +
                                                          " entries, the first case has " +
                                                          std::to_string(first.lastLogits.size()));
            }
        }
        return file;
    }
    if (hasVectors(first)) {
        file.kind = GoldenKind::kVectors;
        const auto without = std::ranges::find_if_not(file.cases, hasVectors);
        return without == file.cases.end()
                   ? Result<GoldenFile>(std::move(file))
                   : corrupt("case " + without->name, "no vector, which the first case has");
    }
    file.kind = GoldenKind::kLogprobs;
    for (const GoldenCase& golden : file.cases) {
        if (golden.nextLogprob.empty() && golden.greedy.empty()) {
            return fail(ErrorCode::kUnsupported,
                        "case " + golden.name +
                            ": expects none of 'last_logits', 'next_logprob', 'greedy', "
                            "'mean_pooled', 'first_token' and 'embedding'");
        }
    }
    const auto rival = root.find("rival");
    if (rival == root.end() || !rival->is_object() || !rival->contains("mean_abs") ||
        !rival->contains("top1") || !(*rival)["mean_abs"].is_number() ||
        !(*rival)["top1"].is_number()) {
        return fail(ErrorCode::kCorrupt, "no 'rival' with 'mean_abs' and 'top1' in it");
    }
    file.rivalMeanAbs = (*rival)["mean_abs"].get<double>();
    file.rivalTop1 = (*rival)["top1"].get<double>();
    return file;
}

}  // namespace

Result<GoldenFile> readGoldenFile(const std::filesystem::path& file) {
    const auto text = readInputFile(file);
    if (!text) {
        return tl::unexpected<Error>(text.error());
    }
    try {
        auto cases = readCases(Json::parse(*text));
        if (!cases) {
            cases.error().message = file.string() + ": " + cases.error().message;
        }
        return cases;
    } catch (const nlohmann::json::exception& e) {
        return fail(ErrorCode::kCorrupt, file.string() + ": not JSON", e.what());
    }
}

}  // namespace quern::cli
