#include <limits>
#include <string>
#include <utility>

#include "engine/text/tokenizer_data.h"
#include "engine/text/tokenizer_load.h"

namespace quern::engine::text {
namespace {

/// Reads keys one after the other and keeps the first error.
class Reader {
public:
    explicit Reader(const GgufMetadata& metadata) : m_metadata(metadata) {}

    void read(std::string_view key, std::string& out) {
        if (const auto value = take(key, &GgufMetadata::string)) {
            out = *value;
        }
    }
    void read(std::string_view key, std::optional<bool>& out) {
        if (const auto value = take(key, &GgufMetadata::boolean)) {
            out = *value;
        }
    }
    void read(std::string_view key, std::optional<TokenId>& out) {
        if (const auto value = take(key, &GgufMetadata::integer)) {
            const bool fits = *value >= 0 && *value <= std::numeric_limits<TokenId>::max();
            out = fits ? std::optional(static_cast<TokenId>(*value)) : std::nullopt;
        }
    }
    void read(std::string_view key, std::vector<std::string_view>& out) {
        if (const auto value = take(key, &GgufMetadata::strings)) {
            out.assign(value->begin(), value->end());
        }
    }
    void read(std::string_view key, std::vector<float>& out) {
        if (const auto value = take(key, &GgufMetadata::numbers)) {
            out.reserve(value->size());
            for (std::size_t i = 0; i < value->size(); ++i) {
                out.push_back(static_cast<float>((*value)[i]));
            }
        }
    }
    void read(std::string_view key, std::vector<TokenKind>& out) {
        const auto value = take(key, &GgufMetadata::integers);
        for (std::size_t i = 0; value && i < value->size(); ++i) {
            const std::int64_t kind = (*value)[i];
            if (kind < 0 || kind > static_cast<std::int64_t>(TokenKind::kByte)) {
                refuse(std::string(key) + "[" + std::to_string(i) + "] is " + std::to_string(kind) +
                       "; token types are 0 to 6");
                return;
            }
            // 0 is "undefined" in the format.
            out.push_back(kind == 0 ? TokenKind::kUnused : static_cast<TokenKind>(kind));
        }
    }
    /// The bytes of an array of 8-bit numbers.
    void readBytes(std::string_view key, std::string_view& out) {
        const GgufValue* value = m_metadata.find(key);
        if (value == nullptr) {
            return;
        }
        if (!value->isArray || (value->type != GgufType::kU8 && value->type != GgufType::kI8)) {
            refuse(std::string(key) + " must be an array of bytes");
            return;
        }
        out = {reinterpret_cast<const char*>(value->bytes.data()), value->bytes.size()};
    }

    [[nodiscard]] const Status& status() const { return m_status; }

private:
    template <class T>
    std::optional<T> take(std::string_view key,
                          Result<T> (GgufMetadata::*getter)(std::string_view) const) {
        if (!m_metadata.has(key)) {
            return std::nullopt;
        }
        Result<T> value = (m_metadata.*getter)(key);
        if (!value) {
            if (m_status) {
                m_status = forward(value);
            }
            return std::nullopt;
        }
        return std::move(*value);
    }
    void refuse(std::string message) {
        if (m_status) {
            m_status = fail(ErrorCode::kCorrupt, std::move(message));
        }
    }

    const GgufMetadata& m_metadata;
    Status m_status;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> readGgufTokenizer(const GgufMetadata& metadata) {
    TokenizerData data;
    Reader reader(metadata);
    reader.read("tokenizer.ggml.model", data.model);
    if (reader.status() &&
        (data.model.empty() || data.model == "none" || data.model == "no_vocab")) {
        return fail(ErrorCode::kNotFound, "the GGUF file has no tokenizer");
    }
    reader.read("tokenizer.ggml.pre", data.pre);
    reader.read("general.architecture", data.architecture);
    reader.read("general.name", data.name);
    reader.read("tokenizer.ggml.tokens", data.tokens);
    reader.read("tokenizer.ggml.scores", data.scores);
    reader.read("tokenizer.ggml.token_type", data.kinds);
    reader.read("tokenizer.ggml.merges", data.merges);
    reader.readBytes("tokenizer.ggml.precompiled_charsmap", data.characterMap);

    const std::pair<std::string_view, std::optional<TokenId>*> ids[] = {
        {"bos", &data.bos},
        {"eos", &data.eos},
        {"eot", &data.endOfTurn},
        {"eom", &data.endOfMessage},
        {"unknown", &data.unknown},
        {"seperator", &data.separator},  // so spelled by the format
        {"separator", &data.separator},
        {"padding", &data.padding},
        {"cls", &data.classify},
        {"mask", &data.mask},
        {"prefix", &data.fimPrefix},  // the older three names
        {"suffix", &data.fimSuffix},
        {"middle", &data.fimMiddle},
        {"fim_pre", &data.fimPrefix},
        {"fim_suf", &data.fimSuffix},
        {"fim_mid", &data.fimMiddle},
    };
    for (const auto& [name, id] : ids) {
        reader.read("tokenizer.ggml." + std::string(name) + "_token_id", *id);
    }
    reader.read("tokenizer.ggml.add_bos_token", data.addsBos);
    reader.read("tokenizer.ggml.add_eos_token", data.addsEos);
    reader.read("tokenizer.ggml.add_sep_token", data.addsSeparator);
    reader.read("tokenizer.ggml.add_space_prefix", data.addsSpacePrefix);
    reader.read("tokenizer.ggml.remove_extra_whitespaces", data.removesExtraWhitespaces);
    if (!reader.status()) {
        return tl::unexpected(reader.status().error());
    }
    // The original, where a file brings it, is more exact than what the other keys can say.
    std::string document;
    reader.read("tokenizer.huggingface.json", document);
    if (!reader.status()) {
        return tl::unexpected(reader.status().error());
    }
    if (!document.empty()) {
        auto original = readJsonTokenizerText(document, data);
        if (original || original.error().code != ErrorCode::kUnsupported) {
            return original;
        }
    }
    return makeGgufTokenizer(data);
}

}  // namespace quern::engine::text
