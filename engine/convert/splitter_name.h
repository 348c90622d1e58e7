#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

namespace quern::engine::convert {

/// Texts of many kinds, on which splittings are told apart.
[[nodiscard]] std::span<const std::string_view> probeTexts();

/// How a value of tokenizer.ggml.pre agrees with a tokenizer.json's own splitting.
struct SplitterMatch {
    std::string name;
    std::size_t differing = 0;  // probes that are split otherwise
};

/// The splitting of a byte-level BPE in tokenizer.json, by what it does and not by how it is
/// spelled: the first of the names people know that splits all probes alike, else the one that
/// differs on fewest. `root`: the document.
[[nodiscard]] SplitterMatch findSplitterName(const nlohmann::json& root);

}  // namespace quern::engine::convert
