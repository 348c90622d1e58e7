#include <algorithm>
#include <array>
#include <utility>

#include "engine/text/bpe.h"
#include "engine/text/longest_match.h"
#include "engine/text/normalizer_charsmap.h"
#include "engine/text/pretokenizer_table.h"
#include "engine/text/spm.h"
#include "engine/text/tokenizer_data.h"
#include "engine/text/tokenizer_pipeline.h"
#include "engine/text/tokenizer_unicode.h"
#include "engine/text/tokenizer_utf8.h"
#include "engine/text/unigram.h"
#include "engine/text/wordpiece.h"

namespace quern::engine::text {
namespace {

constexpr std::string_view kWorldModel = "rwkv";

/// What the formats of GGUF have in common while a tokenizer is put together.
struct Draft {
    const TokenizerData& data;
    TokenizerParts parts;
    bool addsBos = false;
    bool addsEos = false;
    bool addsSeparator = false;  // between the texts of a pair
};

Result<std::unique_ptr<const Vocabulary>> makeVocabulary(const TokenizerData& data) {
    const auto mustMatch = [&](std::string_view key, std::size_t count) -> Status {
        if (count != 0 && count != data.tokens.size()) {
            return fail(ErrorCode::kCorrupt, std::string(key) + " has " + std::to_string(count) +
                                                 " entries for " +
                                                 std::to_string(data.tokens.size()) + " tokens");
        }
        return {};
    };
    if (data.tokens.empty()) {
        return fail(ErrorCode::kCorrupt, "tokenizer.ggml.tokens is empty");
    }
    if (Status status = mustMatch("tokenizer.ggml.token_type", data.kinds.size()); !status) {
        return forward(status);
    }
    if (Status status = mustMatch("tokenizer.ggml.scores", data.scores.size()); !status) {
        return forward(status);
    }
    auto vocabulary = std::make_unique<Vocabulary>();
    std::size_t bytes = 0;
    for (const std::string_view token : data.tokens) {
        bytes += token.size();
    }
    vocabulary->reserve(data.tokens.size(), bytes);
    for (std::size_t i = 0; i < data.tokens.size(); ++i) {
        const std::string_view spelling = data.tokens[i];
        const std::string plain =
            data.model == kWorldModel ? unescapeWorldToken(spelling) : std::string();
        const std::string_view token = data.model == kWorldModel ? plain : spelling;
        const TokenKind kind = data.kinds.empty() ? TokenKind::kNormal : data.kinds[i];
        const auto id = static_cast<TokenId>(i);
        if (needsEscape(token)) {
            vocabulary->set(id, escapeInvalid(token), kind);
        } else {
            vocabulary->set(id, token, kind);
        }
    }
    vocabulary->buildIndex();
    return vocabulary;
}

bool containsAny(std::string_view text, std::initializer_list<std::string_view> parts) {
    return std::any_of(parts.begin(), parts.end(), [&](std::string_view part) {
        return text.find(part) != std::string_view::npos;
    });
}

/// GGUF does not say which tokens take the white space beside them; the models that have such are
/// known by name.
void applyStripping(const TokenizerData& data, AddedToken& token) {
    std::string name = data.name;
    std::transform(name.begin(), name.end(), name.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
    });
    if (containsAny(data.pre, {"jina-v2-de", "jina-v2-es", "jina-v2-code"}) ||
        containsAny(data.architecture, {"nomic-bert-moe", "jina-bert-v3"})) {
        token.stripsLeft = token.content == "<mask>";
    } else if (containsAny(name, {"phi-3", "phi3"})) {
        token.stripsRight =
            token.content == "</s>" || (token.isSpecial && token.content != "<unk>" &&
                                        token.content != "<s>" && token.content != "<|endoftext|>");
    } else if (containsAny(data.architecture, {"modern-bert"})) {
        token.stripsLeft = token.content == "[MASK]";
    }
}

AddedTokenMatcher makeMatcher(const TokenizerData& data, const Vocabulary& vocabulary) {
    std::vector<AddedToken> added;
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
        const bool isSpecial = vocabulary.isControl(id);
        if (isSpecial || vocabulary.kind(id) == TokenKind::kUserDefined) {
            AddedToken token{
                .id = id, .content = std::string(vocabulary.text(id)), .isSpecial = isSpecial};
            applyStripping(data, token);
            added.push_back(std::move(token));
        }
    }
    return AddedTokenMatcher(std::move(added));
}

Status addSplitter(const SplitterFacts& splitter, TokenizerParts& parts) {
    for (const std::string_view pattern : splitter.patterns) {
        auto regex = Regex::create(pattern, RegexDialect::kGguf);
        if (!regex) {
            return forward(regex);
        }
        parts.preTokenizers.push_back(
            makeRegexSplit(std::move(*regex), SplitBehavior::kIsolated, false));
    }
    return {};
}

Status addMerges(const TokenizerData& data, BpeOptions& options) {
    options.merges.reserve(data.merges.size());
    for (std::size_t i = 0; i < data.merges.size(); ++i) {
        const std::string_view merge = data.merges[i];
        const std::size_t space = merge.find(' ', 1);
        if (merge.empty() || space == std::string_view::npos || needsEscape(merge)) {
            return fail(ErrorCode::kCorrupt, "tokenizer.ggml.merges[" + std::to_string(i) +
                                                 "] is not two UTF-8 spellings and a blank");
        }
        options.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
    }
    return {};
}

/// SentencePiece texts begin with a space that decoding takes away.
void decodeSpaceMarks(Draft& draft, bool addsSpacePrefix) {
    draft.parts.decoder.steps.push_back(makeReplaceDecoder(std::string(kSpaceMark), " "));
    draft.parts.decoder.steps.push_back(makeByteFallbackDecoder());
    draft.parts.addsSpacePrefix = addsSpacePrefix;
    if (addsSpacePrefix) {
        draft.parts.decoder.trimmed = " ";
        draft.parts.decoder.trimsStart = 1;
    }
}

/// BPE, on bytes or on characters with space marks, as the splitter has it.
Status draftBpe(Draft& draft, const std::string& splitterName) {
    const SplitterFacts* splitter = findSplitter(splitterName);
    if (splitter == nullptr) {
        return fail(ErrorCode::kUnsupported,
                    "tokenizer.ggml.pre is '" + splitterName + "', a splitting that is not known");
    }
    BpeOptions options;
    options.unknown = draft.parts.special.unknown;
    options.ignoresMerges = splitter->ignoresMerges;
    options.hasByteTokens = splitter->usesSpaceMarks;
    if (Status status = addMerges(draft.data, options); !status) {
        return status;
    }
    auto model = makeBpe(*draft.parts.vocabulary, options);
    if (!model) {
        return forward(model);
    }
    draft.parts.model = std::move(*model);
    if (Status status = addSplitter(*splitter, draft.parts); !status) {
        return status;
    }
    if (splitter->usesSpaceMarks) {
        draft.parts.normalizer = makeReplaceString(" ", std::string(kSpaceMark));
        decodeSpaceMarks(draft, false);
    } else {
        draft.parts.preTokenizers.push_back(makeByteLevel());
        draft.parts.decoder.steps.push_back(makeByteLevelDecoder());
        draft.parts.decodesAddedAsSpelled = true;
    }
    draft.addsBos = splitter->addsBos;
    draft.addsSeparator = splitter->addsSeparator;
    draft.parts.description = "BPE (" + splitterName + ")";
    return {};
}

Status draftSentencePiece(Draft& draft) {
    if (draft.data.scores.empty()) {
        return fail(ErrorCode::kCorrupt, "tokenizer.ggml.scores is missing, which 'llama' needs");
    }
    auto model = makeSentencePieceBpe(*draft.parts.vocabulary, draft.data.scores,
                                      draft.parts.special.unknown);
    if (!model) {
        return forward(model);
    }
    draft.parts.model = std::move(*model);
    const bool addsSpacePrefix = draft.data.addsSpacePrefix.value_or(true);
    std::vector<NormalizerPtr> steps;
    if (addsSpacePrefix) {
        steps.push_back(makePrepend(" "));
    }
    steps.push_back(makeReplaceString(" ", std::string(kSpaceMark)));
    draft.parts.normalizer = makeNormalizerSequence(std::move(steps));
    decodeSpaceMarks(draft, addsSpacePrefix);
    draft.addsBos = true;
    draft.parts.description = "SentencePiece BPE";
    return {};
}

Status draftUnigram(Draft& draft) {
    if (draft.data.scores.empty()) {
        return fail(ErrorCode::kCorrupt, "tokenizer.ggml.scores is missing, which 't5' needs");
    }
    UnigramOptions options;
    options.scores.assign(draft.data.scores.begin(), draft.data.scores.end());
    options.unknown = draft.parts.special.unknown;
    for (std::size_t i = 0; i < draft.data.kinds.size(); ++i) {
        options.hasByteTokens = options.hasByteTokens || draft.data.kinds[i] == TokenKind::kByte;
        if (draft.data.kinds[i] == TokenKind::kUserDefined) {
            options.scores[i] = 0.0;
        }
        if (!options.unknown && draft.data.kinds[i] == TokenKind::kUnknown) {
            options.unknown = static_cast<TokenId>(i);
        }
    }
    draft.parts.model = makeUnigram(*draft.parts.vocabulary, std::move(options));
    SentencePieceNormalizerOptions normalizer;
    normalizer.addsSpacePrefix = draft.data.addsSpacePrefix.value_or(true);
    normalizer.collapsesSpaces = draft.data.removesExtraWhitespaces.value_or(false);
    if (!draft.data.characterMap.empty()) {
        auto map = CharacterMap::create(draft.data.characterMap);
        if (!map) {
            map.error().message = "tokenizer.ggml.precompiled_charsmap: " + map.error().message;
            return forward(map);
        }
        normalizer.map = std::move(*map);
    }
    const bool addsSpacePrefix = normalizer.addsSpacePrefix;
    draft.parts.normalizer = makeSentencePieceNormalizer(std::move(normalizer));
    decodeSpaceMarks(draft, addsSpacePrefix);
    draft.addsEos = true;
    draft.parts.description = "Unigram";
    return {};
}

Status draftWordPiece(Draft& draft) {
    SpecialTokens& special = draft.parts.special;
    const auto orSpelled = [&](std::optional<TokenId>& id, std::string_view spelling) {
        if (!id) {
            id = draft.parts.vocabulary->find(spelling);
        }
    };
    orSpelled(special.unknown, "[UNK]");
    orSpelled(special.classify, "[CLS]");
    orSpelled(special.separator, "[SEP]");
    orSpelled(special.mask, "[MASK]");
    orSpelled(special.padding, "[PAD]");
    if (!special.bos) {
        special.bos = special.classify;
    }
    if (!special.eos) {
        special.eos = special.separator;
    }
    draft.parts.model =
        makeWordPiece(*draft.parts.vocabulary, {.firstPrefix = std::string(kSpaceMark),
                                                .continuingPrefix = "",
                                                .unknown = special.unknown});
    draft.parts.normalizer = makeBertNormalizer({});
    draft.parts.preTokenizers.push_back(makeCharSplit(isWhitespace, SplitBehavior::kRemoved));
    draft.parts.preTokenizers.push_back(makeCharSplit(isPunctuation, SplitBehavior::kIsolated));
    decodeSpaceMarks(draft, true);
    draft.addsBos = true;
    draft.addsEos = true;
    draft.parts.description = "WordPiece";
    return {};
}

Status draftWorld(Draft& draft) {
    draft.parts.model = makeLongestMatch(*draft.parts.vocabulary, draft.parts.special.unknown);
    draft.parts.decoder.steps.push_back(makeUnescapeDecoder());
    draft.parts.description = "RWKV World";
    return {};
}

Status draftModel(Draft& draft) {
    const std::string& model = draft.data.model;
    if (model == "gpt2") {
        return draftBpe(draft, draft.data.pre.empty() ? "default" : draft.data.pre);
    }
    if (model == "gemma4") {
        return draftBpe(draft, "gemma4");
    }
    if (model == "llama") {
        return draftSentencePiece(draft);
    }
    if (model == "t5") {
        return draftUnigram(draft);
    }
    if (model == "bert") {
        return draftWordPiece(draft);
    }
    if (model == kWorldModel) {
        return draftWorld(draft);
    }
    return fail(ErrorCode::kUnsupported, "tokenizer.ggml.model is '" + model +
                                             "'; known are gpt2, llama, gemma4, t5, bert and rwkv");
}

/// Texts of a pair are ended each; some put a separator after the first one's end.
std::optional<PairParts> pairPartsOf(const Draft& draft) {
    if (draft.parts.suffix.empty()) {
        return std::nullopt;
    }
    PairParts pair{.before = draft.parts.prefix,
                   .between = draft.parts.suffix,
                   .behind = draft.parts.suffix,
                   .hasSecondType = draft.data.model == "bert"};
    if (draft.data.addsSeparator.value_or(draft.addsSeparator) && draft.parts.special.separator) {
        pair.between.push_back(*draft.parts.special.separator);
    }
    return pair;
}

}  // namespace

SpecialTokens rolesOf(const TokenizerData& data, const Vocabulary& vocabulary) {
    // Converters write ids that are not there (-1, or of a vocabulary before it was cut).
    const auto present = [&](std::optional<TokenId> id) {
        return id && vocabulary.contains(*id) ? id : std::nullopt;
    };
    SpecialTokens special;
    special.bos = present(data.bos);
    special.eos = present(data.eos);
    special.unknown = present(data.unknown);
    special.separator = present(data.separator);
    special.padding = present(data.padding);
    special.classify = present(data.classify);
    special.mask = present(data.mask);
    special.fimPrefix = present(data.fimPrefix);
    special.fimSuffix = present(data.fimSuffix);
    special.fimMiddle = present(data.fimMiddle);
    for (const std::optional<TokenId> end : {special.eos, data.endOfTurn, data.endOfMessage}) {
        if (present(end)) {
            special.endOfGeneration.push_back(*end);
        }
    }
    recognizeSpecialTokens(vocabulary, special);
    return special;
}

Result<std::shared_ptr<const Tokenizer>> makeGgufTokenizer(const TokenizerData& data) {
    auto vocabulary = makeVocabulary(data);
    if (!vocabulary) {
        return forward(vocabulary);
    }
    Draft draft{.data = data, .parts = {}};
    draft.parts.vocabulary = std::move(*vocabulary);
    draft.parts.special = rolesOf(data, *draft.parts.vocabulary);
    draft.parts.added = makeMatcher(data, *draft.parts.vocabulary);
    if (Status status = draftModel(draft); !status) {
        return forward(status);
    }
    if (data.addsBos.value_or(draft.addsBos) && draft.parts.special.bos) {
        draft.parts.prefix.push_back(*draft.parts.special.bos);
    }
    if (data.addsEos.value_or(draft.addsEos) && draft.parts.special.eos) {
        draft.parts.suffix.push_back(*draft.parts.special.eos);
    }
    draft.parts.pair = pairPartsOf(draft);
    return makeTokenizer(std::move(draft.parts));
}

}  // namespace quern::engine::text
