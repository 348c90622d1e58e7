#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/normalizer.h"
#include "engine/text/pretokenizer.h"
#include "engine/text/tokenizer_decoder.h"
#include "engine/text/tokenizer_pipeline.h"

namespace quern::engine::text {

/// A place in a JSON document that knows its path. What it is asked for and has not is remembered
/// as an error naming the path; the first error stays, and a value of the right type comes back.
/// Lives no longer than the document and the status.
class JsonNode {
public:
    JsonNode(const nlohmann::json* value, std::string path, Status& status)
        : m_value(value), m_path(std::move(path)), m_status(&status) {}

    /// Whether there is a member `key` that is not null.
    [[nodiscard]] bool has(const char* key) const;
    [[nodiscard]] bool isNull() const { return m_value == nullptr || m_value->is_null(); }
    [[nodiscard]] bool isFine() const { return m_status->has_value(); }
    [[nodiscard]] const nlohmann::json& value() const { return *m_value; }
    [[nodiscard]] const std::string& path() const { return m_path; }

    /// A member; null where there is none.
    [[nodiscard]] JsonNode child(const char* key) const;
    /// The elements of a member that must be an array (absent: none).
    [[nodiscard]] std::vector<JsonNode> items(const char* key) const;
    [[nodiscard]] JsonNode item(std::size_t index) const;

    /// Members; without a fallback they must be there.
    [[nodiscard]] std::string text(const char* key,
                                   std::optional<std::string> fallback = std::nullopt) const;
    [[nodiscard]] bool flag(const char* key, bool fallback) const;
    [[nodiscard]] std::int64_t integer(const char* key,
                                       std::optional<std::int64_t> fallback = std::nullopt) const;
    /// A string that must not be empty.
    [[nodiscard]] std::string nonEmpty(const char* key,
                                       std::optional<std::string> fallback = std::nullopt) const;

    /// Remembers an error about this place, unless there is one already.
    void refuse(ErrorCode code, const std::string& what) const;

private:
    const nlohmann::json* m_value;
    std::string m_path;
    Status* m_status;
};

/// Refuses what is nested too deeply; `depth`: how many sequences are around it.
[[nodiscard]] bool isTooDeep(const JsonNode& node, int depth);
void refuseType(const JsonNode& node, const std::string& type);

/// The parts of tokenizer.json. All take the node of their member, which may be null, and leave
/// their error in its status. `depth`: how many sequences are around it.
[[nodiscard]] NormalizerPtr readNormalizer(const JsonNode& node, int depth = 0);
void readPreTokenizer(const JsonNode& node, std::vector<PreTokenizerPtr>& steps, int depth = 0);
/// Fills prefix, suffix and pair. Needs the vocabulary, whose size bounds the ids.
void readPostProcessor(const JsonNode& node, TokenizerParts& parts);
/// Fills the decoder; a null node joins words with spaces.
void readDecoder(const JsonNode& node, TokenizerParts& parts);
/// Fills vocabulary, added tokens and model. `root`: the whole document. Needs the normalizer.
void readModel(const JsonNode& root, TokenizerParts& parts);

}  // namespace quern::engine::text
