#pragma once

#include <span>
#include <string_view>

namespace quern::engine::text {

/// How a value of `tokenizer.ggml.pre` splits.
struct SplitterFacts {
    std::span<const std::string_view> patterns;  // applied in order; a match is a piece
    bool ignoresMerges = false;                  // a piece that is a token is not merged
    bool usesSpaceMarks = false;                 // spaces become U+2581; else bytes are mapped
    bool addsBos = false;                        // where the file does not say
    bool addsSeparator = false;                  // where the file does not say
};

/// Null where the name is not known.
[[nodiscard]] const SplitterFacts* findSplitter(std::string_view name);
/// All known names, sorted.
[[nodiscard]] std::span<const std::string_view> splitterNames();

}  // namespace quern::engine::text
