#include <algorithm>
#include <unordered_set>
#include <utility>

#include "engine/text/bpe.h"
#include "engine/text/tokenizer_json.h"
#include "engine/text/unigram.h"
#include "engine/text/wordpiece.h"

namespace quern::engine::text {
namespace {

using nlohmann::json;

/// Ids may leave holes, but not so many that the table of ids outgrows what the file can justify.
std::int64_t idLimit(std::size_t tokens) {
    return static_cast<std::int64_t>(tokens) * 4 + 100'000;
}

bool isGoodId(const JsonNode& node, const json& id, std::size_t tokens) {
    // Whatever is negative is none of the unsigned numbers.
    const bool isUnsigned = id.is_number_unsigned() || (id.is_number_integer() && id >= 0);
    if (isUnsigned && id.get<std::uint64_t>() < static_cast<std::uint64_t>(idLimit(tokens))) {
        return true;
    }
    node.refuse(ErrorCode::kCorrupt,
                "has the id " + id.dump() + " among " + std::to_string(tokens) + " tokens");
    return false;
}

/// {"spelling": id, …}
void readVocabularyObject(const JsonNode& node, Vocabulary& vocabulary) {
    const json& tokens = node.value();
    for (const auto& [spelling, id] : tokens.items()) {
        if (!id.is_number_integer()) {
            node.refuse(ErrorCode::kCorrupt, "has an id that is no integer");
            return;
        }
        if (!isGoodId(node, id, tokens.size())) {
            return;
        }
        const auto token = id.get<TokenId>();
        if (vocabulary.contains(token)) {
            node.refuse(ErrorCode::kCorrupt, "gives the id " + id.dump() + " twice");
            return;
        }
        vocabulary.set(token, spelling, TokenKind::kNormal);
    }
}

/// [["spelling", score], …]
void readVocabularyList(const JsonNode& node, Vocabulary& vocabulary, std::vector<double>& scores) {
    const json& tokens = node.value();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const json& entry = tokens[i];
        if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() ||
            !entry[1].is_number()) {
            node.item(i).refuse(ErrorCode::kCorrupt, "must be a spelling and a score");
            return;
        }
        vocabulary.set(static_cast<TokenId>(i), entry[0].get_ref<const std::string&>(),
                       TokenKind::kNormal);
        scores.push_back(entry[1].get<double>());
    }
}

/// The merge at `index`: "a b" or ["a", "b"].
std::pair<std::string_view, std::string_view> readMerge(const JsonNode& node, std::size_t index) {
    const json& entry = node.value()[index];
    if (entry.is_array() && entry.size() == 2 && entry[0].is_string() && entry[1].is_string()) {
        return {entry[0].get_ref<const std::string&>(), entry[1].get_ref<const std::string&>()};
    }
    if (entry.is_string()) {
        const std::string_view text = entry.get_ref<const std::string&>();
        const std::size_t blank = text.find(' ');
        if (blank != std::string_view::npos && blank > 0 && blank + 1 < text.size() &&
            text.find(' ', blank + 1) == std::string_view::npos) {
            return {text.substr(0, blank), text.substr(blank + 1)};
        }
    }
    node.item(index).refuse(ErrorCode::kCorrupt, "must be two spellings");
    return {};
}

void readMerges(const JsonNode& node, const Vocabulary& vocabulary, BpeOptions& options) {
    if (node.isNull() || !node.value().is_array()) {
        node.refuse(ErrorCode::kCorrupt, "must be an array");
        return;
    }
    std::string joined;
    for (std::size_t i = 0; i < node.value().size() && node.isFine(); ++i) {
        const auto [left, right] = readMerge(node, i);
        joined.assign(left);
        joined.append(right.starts_with(options.continuingPrefix)
                          ? right.substr(options.continuingPrefix.size())
                          : right);
        for (const std::string_view part : {left, right, std::string_view(joined)}) {
            if (!vocabulary.find(part)) {
                node.item(i).refuse(ErrorCode::kCorrupt, "names a token that model.vocab lacks");
                return;
            }
        }
        options.merges.emplace_back(left, right);
    }
}

std::optional<TokenId> findUnknown(const JsonNode& model, const Vocabulary& vocabulary) {
    if (!model.has("unk_token")) {
        return std::nullopt;
    }
    const std::optional<TokenId> id = vocabulary.find(model.text("unk_token"));
    if (!id) {
        model.child("unk_token").refuse(ErrorCode::kCorrupt, "is not in model.vocab");
    }
    return id;
}

void makeBpeModel(const JsonNode& node, TokenizerParts& parts) {
    BpeOptions options;
    options.continuingPrefix = node.text("continuing_subword_prefix", "");
    options.endSuffix = node.text("end_of_word_suffix", "");
    options.unknown = findUnknown(node, *parts.vocabulary);
    options.fusesUnknown = node.flag("fuse_unk", false);
    options.hasByteTokens = node.flag("byte_fallback", false);
    options.ignoresMerges = node.flag("ignore_merges", false);
    options.lastRankHolds = true;
    readMerges(node.child("merges"), *parts.vocabulary, options);
    if (!node.isFine()) {
        return;
    }
    auto model = makeBpe(*parts.vocabulary, options);
    if (!model) {
        node.refuse(model.error().code, model.error().message);
        return;
    }
    parts.special.unknown = options.unknown;
    parts.model = std::move(*model);
}

void makeUnigramModel(const JsonNode& node, std::vector<double> scores, TokenizerParts& parts) {
    UnigramOptions options;
    options.hasByteTokens = node.flag("byte_fallback", false);
    if (node.has("unk_id")) {
        const std::int64_t id = node.integer("unk_id");
        if (id < 0 || static_cast<std::size_t>(id) >= scores.size()) {
            node.child("unk_id").refuse(ErrorCode::kCorrupt, "is " + std::to_string(id) +
                                                                 " in a vocabulary of " +
                                                                 std::to_string(scores.size()));
            return;
        }
        options.unknown = static_cast<TokenId>(id);
    }
    scores.resize(static_cast<std::size_t>(parts.vocabulary->size()), 0.0);
    options.scores = std::move(scores);
    parts.special.unknown = options.unknown;
    parts.model = makeUnigram(*parts.vocabulary, std::move(options));
}

void makeWordModel(const JsonNode& node, bool isWordPiece, TokenizerParts& parts) {
    const std::optional<TokenId> unknown = findUnknown(node, *parts.vocabulary);
    parts.special.unknown = unknown;
    if (!isWordPiece) {
        parts.model = makeWordLevel(*parts.vocabulary, unknown);
        return;
    }
    const std::int64_t longest = node.integer("max_input_chars_per_word", 100);
    // A word costs the square of its length.
    constexpr std::int64_t kLongest = 1000;
    if (longest < 0 || longest > kLongest) {
        node.child("max_input_chars_per_word")
            .refuse(ErrorCode::kCorrupt, "is " + std::to_string(longest) + "; 0 to " +
                                             std::to_string(kLongest) + " are allowed");
        return;
    }
    parts.model = makeWordPiece(*parts.vocabulary,
                                {.firstPrefix = "",
                                 .continuingPrefix = node.text("continuing_subword_prefix", "##"),
                                 .longestWord = static_cast<std::size_t>(longest),
                                 .unknown = unknown});
}

/// Files of early versions do not name their model's type.
std::string typeOf(const JsonNode& model) {
    if (model.has("type")) {
        return model.text("type");
    }
    return model.has("merges")                     ? "BPE"
           : model.has("unk_id")                   ? "Unigram"
           : model.has("max_input_chars_per_word") ? "WordPiece"
                                                   : "WordLevel";
}

/// Reads added_tokens; those that the model does not know extend the vocabulary.
std::vector<AddedToken> readAddedTokens(const JsonNode& root, Vocabulary& vocabulary) {
    std::vector<AddedToken> added;
    const std::vector<JsonNode> entries = root.items("added_tokens");
    const std::size_t count = static_cast<std::size_t>(vocabulary.size()) + entries.size();
    const bool hasByteTokens = root.child("model").flag("byte_fallback", false);
    for (const JsonNode& entry : entries) {
        AddedToken token;
        token.content = entry.text("content");
        token.isSpecial = entry.flag("special", false);
        token.isSingleWord = entry.flag("single_word", false);
        token.stripsLeft = entry.flag("lstrip", false);
        token.stripsRight = entry.flag("rstrip", false);
        token.isNormalized = entry.flag("normalized", !token.isSpecial);
        const std::int64_t id = entry.integer("id");
        if (!entry.isFine() || !isGoodId(entry, entry.child("id").value(), count)) {
            return added;
        }
        if (token.content.empty()) {
            continue;
        }
        token.id = vocabulary.find(token.content).value_or(static_cast<TokenId>(id));
        const bool isByte = hasByteTokens && parseByteToken(token.content);
        const TokenKind kind = isByte            ? TokenKind::kByte
                               : token.isSpecial ? TokenKind::kControl
                                                 : TokenKind::kUserDefined;
        if (vocabulary.contains(token.id)) {
            if (vocabulary.text(token.id) != token.content) {
                entry.refuse(ErrorCode::kCorrupt,
                             "has the id " + std::to_string(id) + " of another token");
                return added;
            }
            vocabulary.setKind(token.id, kind);
        } else {
            vocabulary.set(token.id, token.content, kind);
            vocabulary.hideFromText(token.id);
        }
        added.push_back(std::move(token));
    }
    vocabulary.buildIndex();
    return added;
}

}  // namespace

void readModel(const JsonNode& root, TokenizerParts& parts) {
    const JsonNode node = root.child("model");
    if (node.isNull() || !node.value().is_object()) {
        node.refuse(ErrorCode::kCorrupt, "must be an object");
        return;
    }
    const std::string type = typeOf(node);
    const bool isUnigram = type == "Unigram";
    if (!isUnigram && type != "BPE" && type != "WordPiece" && type != "WordLevel") {
        node.child("type").refuse(ErrorCode::kUnsupported,
                                  "is '" + type +
                                      "'; known are BPE, WordPiece, WordLevel and "
                                      "Unigram");
        return;
    }
    const JsonNode tokens = node.child("vocab");
    if (tokens.isNull() || !(isUnigram ? tokens.value().is_array() : tokens.value().is_object())) {
        tokens.refuse(ErrorCode::kCorrupt,
                      isUnigram ? "must be an array" : "must be an object of ids");
        return;
    }
    auto vocabulary = std::make_unique<Vocabulary>();
    std::vector<double> scores;
    if (isUnigram) {
        readVocabularyList(tokens, *vocabulary, scores);
    } else {
        readVocabularyObject(tokens, *vocabulary);
    }
    vocabulary->buildIndex();
    std::vector<AddedToken> plain = readAddedTokens(root, *vocabulary);
    parts.vocabulary = std::move(vocabulary);
    if (!root.isFine()) {
        return;
    }
    std::vector<AddedToken> normalized;
    // Those that are matched normalized come after the others, also where nothing is normalized.
    std::erase_if(plain, [&](AddedToken& token) {
        if (!token.isNormalized || !root.isFine()) {
            return token.isNormalized;
        }
        if (parts.normalizer != nullptr) {
            auto content = parts.normalizer->apply(token.content);
            if (!content) {
                root.child("normalizer").refuse(content.error().code, content.error().message);
                return true;
            }
            token.content = std::move(*content);
            parts.normalizedSpellings.emplace(token.id, token.content);
        }
        normalized.push_back(token);
        return true;
    });
    if (!root.isFine()) {
        return;
    }
    parts.added = AddedTokenMatcher(std::move(plain));
    parts.addedNormalized = AddedTokenMatcher(std::move(normalized));
    if (isUnigram) {
        makeUnigramModel(node, std::move(scores), parts);
    } else if (type == "BPE") {
        makeBpeModel(node, parts);
    } else {
        makeWordModel(node, type == "WordPiece", parts);
    }
    parts.description = type;
}

}  // namespace quern::engine::text
