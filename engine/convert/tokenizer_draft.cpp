#include "engine/convert/tokenizer_draft.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "engine/convert/splitter_name.h"
#include "engine/text/base64.h"
#include "engine/text/tokenizer_vocabulary.h"

namespace quern::engine::convert {

namespace {

using nlohmann::json;
using text::TokenKind;
using Draft = std::unique_ptr<TokenizerDraft>;

// The reference was read from the same document: what it needs is there and of the right type, what
// is optional may be anything.
std::string textOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

bool flagOf(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_boolean() && found->get<bool>();
}

/// Calls `visit` for every object below that has a "type".
void visitParts(const json& value, const std::function<void(const json&)>& visit) {
    if (value.is_object() && value.contains("type")) {
        visit(value);
    }
    if (value.is_structured()) {
        for (const json& inner : value) {
            visitParts(inner, visit);
        }
    }
}

bool hasPart(const json& root, const char* key, const char* type) {
    bool found = false;
    if (root.contains(key)) {
        visitParts(root[key],
                   [&](const json& part) { found = found || textOf(part, "type") == type; });
    }
    return found;
}

std::string characterMapOf(const json& root) {
    std::string map;
    if (root.contains("normalizer")) {
        visitParts(root["normalizer"], [&](const json& part) {
            if (textOf(part, "type") == "Precompiled") {
                map = text::decodeBase64(textOf(part, "precompiled_charsmap")).value_or("");
            }
        });
    }
    return map;
}

/// Spellings and kinds by id, as the document has them.
struct Tokens {
    std::vector<std::string> texts;
    std::vector<TokenKind> kinds;
    std::vector<float> scores;

    void set(std::size_t id, std::string text, TokenKind kind) {
        if (id >= texts.size()) {
            texts.resize(id + 1);
            kinds.resize(id + 1, TokenKind::kAbsent);
        }
        texts[id] = std::move(text);
        kinds[id] = kind;
    }
};

void readAdded(const json& root, const Tokenizer& reference, Tokens& tokens) {
    if (!root.contains("added_tokens") || !root["added_tokens"].is_array()) {
        return;
    }
    for (const json& added : root["added_tokens"]) {
        const std::string content = textOf(added, "content");
        const auto id = reference.find(content);
        if (!id || content.empty()) {
            continue;
        }
        tokens.set(static_cast<std::size_t>(*id), content,
                   flagOf(added, "special") ? TokenKind::kControl : TokenKind::kUserDefined);
    }
}

Tokens readTokens(const json& root, const Tokenizer& reference, std::int64_t rows) {
    const json& model = root["model"];
    const json& vocabulary = model["vocab"];
    Tokens tokens;
    if (vocabulary.is_array()) {
        for (std::size_t id = 0; id < vocabulary.size(); ++id) {
            tokens.set(id, vocabulary[id][0].get<std::string>(), TokenKind::kNormal);
            tokens.scores.push_back(vocabulary[id][1].get<float>());
        }
    } else {
        for (const auto& [text, id] : vocabulary.items()) {
            tokens.set(id.get<std::size_t>(), text, TokenKind::kNormal);
        }
    }
    readAdded(root, reference, tokens);
    const bool hasByteTokens = flagOf(model, "byte_fallback");
    for (std::size_t id = 0; id < tokens.texts.size(); ++id) {
        if (hasByteTokens && text::parseByteToken(tokens.texts[id])) {
            tokens.kinds[id] = TokenKind::kByte;
        }
    }
    const auto count =
        std::max(tokens.texts.size(), static_cast<std::size_t>(std::max<std::int64_t>(rows, 0)));
    tokens.texts.resize(count);
    tokens.kinds.resize(count, TokenKind::kAbsent);
    for (std::size_t id = 0; id < count; ++id) {
        if (tokens.kinds[id] == TokenKind::kAbsent) {
            tokens.texts[id] = "[PAD" + std::to_string(id) + "]";
            tokens.kinds[id] = TokenKind::kUnused;
        }
    }
    return tokens;
}

std::vector<std::string> readMerges(const json& model) {
    std::vector<std::string> merges;
    if (!model.contains("merges")) {
        return merges;
    }
    for (const json& merge : model["merges"]) {
        merges.push_back(merge.is_string()
                             ? merge.get<std::string>()
                             : merge[0].get<std::string>() + " " + merge[1].get<std::string>());
    }
    return merges;
}

/// What the model adds by itself, from an encoding with it and one without.
void readAddedEnds(const Tokenizer& reference, text::TokenizerData& data) {
    const SpecialTokens& special = reference.special();
    data.bos = special.bos;
    data.eos = special.eos;
    data.unknown = special.unknown;
    data.separator = special.separator;
    data.padding = special.padding;
    data.classify = special.classify;
    data.mask = special.mask;
    data.fimPrefix = special.fimPrefix;
    data.fimSuffix = special.fimSuffix;
    data.fimMiddle = special.fimMiddle;
    std::vector<std::optional<TokenId>*> slots{&data.endOfTurn, &data.endOfMessage};
    for (const TokenId end : special.endOfGeneration) {
        if (end != special.eos && !slots.empty()) {
            *slots.front() = end;
            slots.erase(slots.begin());
        }
    }
    const auto bare = reference.encode("a", {.addSpecial = false});
    const auto whole = reference.encode("a", {.addSpecial = true});
    if (!bare || !whole || bare->empty() || whole->size() < bare->size()) {
        return;
    }
    const auto at = std::search(whole->begin(), whole->end(), bare->begin(), bare->end());
    data.addsBos = at != whole->begin();
    data.addsEos = at + static_cast<std::ptrdiff_t>(bare->size()) != whole->end();
    if (*data.addsBos) {
        data.bos = whole->front();
    }
    if (*data.addsEos) {
        data.eos = whole->back();
    }
}

class Drafter {
public:
    Drafter(const json& root, const Tokenizer& reference, std::int64_t rows)
        : m_root(root),
          m_reference(reference),
          m_tokens(readTokens(root, reference, rows)),
          m_merges(readMerges(root["model"])) {}

    std::vector<Draft> drafts() const {
        std::vector<Draft> result;
        const json& model = m_root["model"];
        if (model["vocab"].is_array()) {
            for (const bool addsPrefix : {true, false}) {
                for (const bool removesExtra : {true, false}) {
                    result.push_back(unigram(addsPrefix, removesExtra));
                }
            }
        } else if (model.contains("merges")) {
            addBpe(result);
        } else if (textOf(model, "type") == "WordPiece" ||
                   model.contains("max_input_chars_per_word")) {
            result.push_back(wordPiece());
        }
        return result;
    }

private:
    Draft start(std::string model) const {
        auto draft = std::make_unique<TokenizerDraft>();
        draft->data.model = std::move(model);
        draft->tokens = m_tokens.texts;
        draft->data.kinds = m_tokens.kinds;
        readAddedEnds(m_reference, draft->data);
        return draft;
    }

    // Views come last: the texts must lie still.
    static Draft finished(Draft draft) {
        draft->data.tokens.assign(draft->tokens.begin(), draft->tokens.end());
        draft->data.merges.assign(draft->merges.begin(), draft->merges.end());
        draft->data.characterMap = draft->characterMap;
        return draft;
    }

    void addBpe(std::vector<Draft>& result) const {
        if (hasPart(m_root, "pre_tokenizer", "ByteLevel")) {
            Draft draft = start("gpt2");
            draft->data.pre = findSplitterName(m_root).name;
            draft->merges = m_merges;
            result.push_back(finished(std::move(draft)));
            return;
        }
        for (const bool addsPrefix : {true, false}) {
            result.push_back(sentencePiece(addsPrefix));
        }
        Draft draft = start("gemma4");
        draft->merges = m_merges;
        result.push_back(finished(std::move(draft)));
    }

    // SentencePiece joins the pair whose token has the best score; the document has ranks of pairs.
    Draft sentencePiece(bool addsPrefix) const {
        Draft draft = start("llama");
        std::unordered_map<std::string_view, std::size_t> ids;
        for (std::size_t id = 0; id < draft->tokens.size(); ++id) {
            ids.emplace(draft->tokens[id], id);
        }
        constexpr float kNever = -1e9F;
        std::vector<float> scores(draft->tokens.size(), kNever);
        for (std::size_t rank = 0; rank < m_merges.size(); ++rank) {
            std::string joined = m_merges[rank];
            joined.erase(joined.find(' ', 1), 1);
            if (const auto found = ids.find(joined); found != ids.end()) {
                float& score = scores[found->second];
                score = std::max(score, -static_cast<float>(rank));
            }
        }
        draft->data.scores = std::move(scores);
        markUnknown(*draft);
        draft->data.addsSpacePrefix = addsPrefix;
        return finished(std::move(draft));
    }

    Draft unigram(bool addsPrefix, bool removesExtra) const {
        Draft draft = start("t5");
        draft->data.scores = m_tokens.scores;
        draft->data.scores.resize(draft->tokens.size(), 0.0F);
        draft->characterMap = characterMapOf(m_root);
        markUnknown(*draft);
        draft->data.addsSpacePrefix = addsPrefix;
        draft->data.removesExtraWhitespaces = removesExtra;
        return finished(std::move(draft));
    }

    // The format marks the beginnings of words, not what continues them.
    Draft wordPiece() const {
        Draft draft = start("bert");
        const std::string continuing = m_root["model"].contains("continuing_subword_prefix")
                                           ? textOf(m_root["model"], "continuing_subword_prefix")
                                           : "##";
        for (std::size_t id = 0; id < draft->tokens.size(); ++id) {
            std::string& token = draft->tokens[id];
            if (draft->data.kinds[id] != TokenKind::kNormal) {
                continue;
            }
            if (!continuing.empty() && token.starts_with(continuing)) {
                token.erase(0, continuing.size());
            } else {
                token.insert(0, "\u2581");
            }
        }
        return finished(std::move(draft));
    }

    void markUnknown(TokenizerDraft& draft) const {
        if (const auto unknown = m_reference.special().unknown) {
            draft.data.kinds[static_cast<std::size_t>(*unknown)] = TokenKind::kUnknown;
        }
    }

    const json& m_root;
    const Tokenizer& m_reference;
    Tokens m_tokens;
    std::vector<std::string> m_merges;
};

}  // namespace

std::vector<std::unique_ptr<TokenizerDraft>> draftTokenizers(const json& root,
                                                             const Tokenizer& reference,
                                                             std::int64_t rows) {
    return Drafter(root, reference, rows).drafts();
}

}  // namespace quern::engine::convert
