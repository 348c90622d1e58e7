#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace quern::engine {

/// What is known of a model that brings no chat template.
struct ModelSigns {
    std::string name;                                // as the file calls itself; may be empty
    std::function<bool(std::string_view)> hasToken;  // whether the vocabulary has this piece
};

struct KnownTemplate {
    std::string_view name;    // "chatml", "llama3", …
    std::string_view source;  // Jinja, written for Quern after the models' published formats
};

/// The format that a model's special tokens (or, without any, its name) speak for. Absent when
/// nothing does: a base model has no chat format.
[[nodiscard]] std::optional<KnownTemplate> recognizeTemplate(const ModelSigns& signs);

}  // namespace quern::engine
