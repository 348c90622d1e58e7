#include "engine/text/tokenizer_json.h"

#include <utility>

#include "engine/formats/file_mapping.h"
#include "engine/formats/json_file.h"
#include "engine/text/tokenizer_data.h"
#include "engine/text/tokenizer_load.h"

namespace quern::engine::text {
namespace {

using nlohmann::json;

Result<json> parseDocument(std::string_view text, const std::string& name) {
    // Of the largest vocabularies there are, a quarter of a million tokens, a tenth of it.
    constexpr std::size_t kMostBytes = std::size_t{256} << 20U;
    if (text.size() > kMostBytes) {
        return fail(ErrorCode::kCorrupt, name + " is " + std::to_string(text.size()) +
                                             " bytes long; at most " + std::to_string(kMostBytes) +
                                             " are read");
    }
    if (auto status = checkJsonDepth(text, name); !status) {
        return forward(status);
    }
    try {
        return json::parse(text);
    } catch (const json::exception& error) {
        return fail(ErrorCode::kCorrupt, name + " is not valid JSON", error.what());
    }
}

Result<json> readJson(const std::filesystem::path& path) {
    auto mapping = FileMapping::open(path);
    if (!mapping) {
        return forward(mapping);
    }
    const auto bytes = (*mapping)->bytes();
    return parseDocument({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                         path.filename().string());
}

/// A file beside tokenizer.json; null where it is absent or unreadable. These files only name
/// tokens: who needs them for more reports what is wrong with them.
json readBeside(const std::filesystem::path& folder, const char* name) {
    std::error_code error;
    if (!std::filesystem::is_regular_file(folder / name, error)) {
        return nullptr;
    }
    Result<json> document = readJson(folder / name);
    return document && document->is_object() ? std::move(*document) : json(nullptr);
}

/// The token that `key` names: a spelling, or an object with one.
std::optional<TokenId> namedToken(const json& config, const char* key,
                                  const Vocabulary& vocabulary) {
    if (!config.is_object() || !config.contains(key)) {
        return std::nullopt;
    }
    const json& value = config[key];
    const json* spelling = &value;
    if (value.is_object() && value.contains("content")) {
        spelling = &value["content"];
    }
    return spelling->is_string() ? vocabulary.find(spelling->get_ref<const std::string&>())
                                 : std::nullopt;
}

/// The ids that `key` gives: a number, or a list of them.
std::vector<TokenId> namedIds(const json& config, const char* key, const Vocabulary& vocabulary) {
    std::vector<TokenId> ids;
    if (!config.is_object() || !config.contains(key)) {
        return ids;
    }
    const json& value = config[key];
    const auto add = [&](const json& id) {
        if (id.is_number_integer() && id >= 0 && id < vocabulary.size() &&
            vocabulary.contains(id.get<TokenId>())) {
            ids.push_back(id.get<TokenId>());
        }
    };
    if (value.is_array()) {
        for (const json& id : value) {
            add(id);
        }
    } else {
        add(value);
    }
    return ids;
}

void readSpecialTokens(const std::filesystem::path& folder, TokenizerParts& parts) {
    const Vocabulary& vocabulary = *parts.vocabulary;
    SpecialTokens& special = parts.special;
    for (const char* name : {"tokenizer_config.json", "special_tokens_map.json"}) {
        const json config = readBeside(folder, name);
        const std::pair<const char*, std::optional<TokenId>*> roles[] = {
            {"bos_token", &special.bos},     {"eos_token", &special.eos},
            {"unk_token", &special.unknown}, {"sep_token", &special.separator},
            {"pad_token", &special.padding}, {"cls_token", &special.classify},
            {"mask_token", &special.mask},
        };
        for (const auto& [key, id] : roles) {
            if (!*id) {
                *id = namedToken(config, key, vocabulary);
            }
        }
    }
    // What generation_config.json lists ends a reply; without it the model's own config knows one.
    for (const char* name : {"generation_config.json", "config.json"}) {
        const json config = readBeside(folder, name);
        const std::vector<TokenId> ends = namedIds(config, "eos_token_id", vocabulary);
        if (special.endOfGeneration.empty()) {
            special.endOfGeneration = ends;
        }
        const auto orFirst = [&](std::optional<TokenId>& id, const std::vector<TokenId>& ids) {
            if (!id && !ids.empty()) {
                id = ids.front();
            }
        };
        orFirst(special.eos, ends);
        orFirst(special.bos, namedIds(config, "bos_token_id", vocabulary));
        orFirst(special.padding, namedIds(config, "pad_token_id", vocabulary));
    }
    recognizeSpecialTokens(vocabulary, special);
}

/// What a document says of the tokenizer; no roles of tokens yet.
Result<TokenizerParts> readDocument(const json& document) {
    Status status;
    const JsonNode root(&document, "", status);
    TokenizerParts parts;
    if (!document.is_object()) {
        root.refuse(ErrorCode::kCorrupt, "must be a JSON object");
        return forward(status);
    }
    parts.normalizer = readNormalizer(root.child("normalizer"));
    readPreTokenizer(root.child("pre_tokenizer"), parts.preTokenizers);
    if (status) {
        readModel(root, parts);
    }
    if (status) {
        readPostProcessor(root.child("post_processor"), parts);
        readDecoder(root.child("decoder"), parts);
    }
    if (!status) {
        return forward(status);
    }
    return parts;
}

}  // namespace

Result<std::shared_ptr<const Tokenizer>> readJsonTokenizer(const std::filesystem::path& file,
                                                           const std::filesystem::path& folder) {
    const Result<json> document = readJson(file);
    if (!document) {
        return tl::unexpected(document.error());
    }
    auto parts = readDocument(*document);
    if (!parts) {
        return forward(parts);
    }
    readSpecialTokens(folder, *parts);
    return makeTokenizer(std::move(*parts));
}

Result<std::shared_ptr<const Tokenizer>> readJsonTokenizerText(std::string_view document,
                                                               const TokenizerData& roles) {
    auto parsed = parseDocument(document, "tokenizer.json");
    if (!parsed) {
        return forward(parsed);
    }
    auto parts = readDocument(*parsed);
    if (!parts) {
        return forward(parts);
    }
    parts->special = rolesOf(roles, *parts->vocabulary);
    return makeTokenizer(std::move(*parts));
}

}  // namespace quern::engine::text
