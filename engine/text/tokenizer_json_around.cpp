// post_processor: the special tokens around one text, and around two.
#include "engine/text/tokenizer_json.h"

namespace quern::engine::text {
namespace {

class AroundReader {
public:
    AroundReader(std::int32_t vocabularySize, TokenizerParts& parts)
        : m_vocabularySize(vocabularySize), m_parts(parts) {}

    void read(const JsonNode& node, int depth) {
        if (node.isNull() || isTooDeep(node, depth)) {
            return;
        }
        const std::string type = node.text("type");
        if (type == "Sequence") {
            for (const JsonNode& item : node.items("processors")) {
                read(item, depth + 1);
            }
            return;
        }
        if (type == "ByteLevel") {
            return;
        }
        if (m_hasAdded) {
            node.refuse(ErrorCode::kUnsupported, "is a second one that adds tokens to a text");
        } else if (type == "BertProcessing" || type == "RobertaProcessing") {
            readClassic(node, type == "BertProcessing");
        } else if (type == "TemplateProcessing") {
            readSingle(node);
            readPair(node);
        } else {
            refuseType(node, type);
        }
        m_hasAdded = true;
    }

private:
    /// `id` is an integer.
    TokenId checked(const JsonNode& place, const nlohmann::json& id) const {
        const bool fits =
            id >= 0 && id.get<std::uint64_t>() < static_cast<std::uint64_t>(m_vocabularySize);
        if (!fits) {
            place.refuse(ErrorCode::kCorrupt, "names the token " + id.dump() +
                                                  " of a vocabulary of " +
                                                  std::to_string(m_vocabularySize));
            return 0;
        }
        return id.get<TokenId>();
    }

    /// The id of "cls": ["[CLS]", 101].
    TokenId namedId(const JsonNode& node, const char* key) const {
        const JsonNode pair = node.child(key);
        if (pair.isNull() || !pair.value().is_array() || pair.value().size() != 2 ||
            !pair.value()[1].is_number_integer()) {
            pair.refuse(ErrorCode::kCorrupt, "must be a spelling and an id");
            return 0;
        }
        return checked(pair, pair.value()[1]);
    }

    void readClassic(const JsonNode& node, bool isBert) {
        const TokenId classify = namedId(node, "cls");
        const TokenId separator = namedId(node, "sep");
        m_parts.prefix.insert(m_parts.prefix.begin(), classify);
        m_parts.suffix.push_back(separator);
        std::vector<TokenId> between(isBert ? 1 : 2, separator);
        m_parts.pair = PairParts{.before = {classify},
                                 .between = std::move(between),
                                 .behind = {separator},
                                 .hasSecondType = isBert};
    }

    /// The ids of a template's special token. A template names a token as often as it likes, so
    /// what it makes is bounded apart from the file's length.
    void addSpecial(const JsonNode& node, const JsonNode& piece, std::vector<TokenId>& ids) const {
        const std::string name = piece.child("SpecialToken").text("id");
        const JsonNode token = node.child("special_tokens").child(name.c_str());
        if (token.isNull()) {
            piece.refuse(ErrorCode::kCorrupt, "names '" + name + "', which special_tokens lacks");
        }
        for (const JsonNode& id : token.items("ids")) {
            if (ids.size() >= kMostAround) {
                piece.refuse(ErrorCode::kCorrupt,
                             "adds more than " + std::to_string(kMostAround) + " tokens to a text");
                return;
            }
            if (!id.value().is_number_integer()) {
                id.refuse(ErrorCode::kCorrupt, "must be an integer");
                continue;
            }
            ids.push_back(checked(id, id.value()));
        }
    }

    void readSingle(const JsonNode& node) {
        std::vector<TokenId> before;
        bool isAfterText = false;
        for (const JsonNode& piece : node.items("single")) {
            if (!node.isFine()) {
                return;
            }
            if (piece.has("Sequence")) {
                if (isAfterText) {
                    piece.refuse(ErrorCode::kUnsupported, "uses the text a second time");
                }
                isAfterText = true;
                continue;
            }
            addSpecial(node, piece, isAfterText ? m_parts.suffix : before);
        }
        if (m_parts.prefix.size() + before.size() > kMostAround) {
            node.refuse(ErrorCode::kCorrupt,
                        "adds more than " + std::to_string(kMostAround) + " tokens to a text");
            return;
        }
        m_parts.prefix.insert(m_parts.prefix.begin(), before.begin(), before.end());
    }

    static constexpr std::size_t kMostAround = 1024;

    /// A template that does not give A before B, or types other than by text, is left out: single
    /// texts do without it.
    void readPair(const JsonNode& node) {
        PairParts pair;
        std::int64_t type = 0;
        int texts = 0;
        for (const JsonNode& piece : node.items("pair")) {
            if (!node.isFine()) {
                return;
            }
            const bool isText = piece.has("Sequence");
            const JsonNode inner = piece.child(isText ? "Sequence" : "SpecialToken");
            const std::int64_t ownType = inner.integer("type_id", 0);
            if (isText) {
                if (texts == 2 || inner.text("id") != (texts == 0 ? "A" : "B")) {
                    return;
                }
                type = ownType;
                ++texts;
                pair.hasSecondType = texts == 2 && type == 1;
                if (type != 0 && !pair.hasSecondType) {
                    return;
                }
                continue;
            }
            if (ownType != type) {
                return;
            }
            addSpecial(node, piece,
                       texts == 0   ? pair.before
                       : texts == 1 ? pair.between
                                    : pair.behind);
        }
        if (texts == 2) {
            m_parts.pair = std::move(pair);
        }
    }

    std::int32_t m_vocabularySize;
    TokenizerParts& m_parts;
    bool m_hasAdded = false;
};

}  // namespace

void readPostProcessor(const JsonNode& node, TokenizerParts& parts) {
    AroundReader(parts.vocabulary->size(), parts).read(node, 0);
}

}  // namespace quern::engine::text
