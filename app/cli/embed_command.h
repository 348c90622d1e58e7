#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/cli/model_flags.h"
#include "app/library/model_library.h"

namespace quern::cli {

struct EmbedOptions {
    std::string model;
    std::vector<std::string> texts;  // none: the lines of standard input
    std::string pooling;             // empty: the model's
    bool isRaw = false;              // the vectors as they are, not brought to length 1
    std::int64_t dimensions = 0;     // 0: all
    std::optional<std::int64_t> truncateTo;
    bool asJson = false;
    ModelFlags modelFlags;
};

/// `quern embed`: a line of numbers a text, or one JSON object.
[[nodiscard]] int runEmbed(const EmbedOptions& options, const app::ModelLibrary& library);

struct RerankOptions {
    std::string model;
    std::string query;
    std::vector<std::string> documents;  // none: the lines of standard input
    bool asJson = false;
    ModelFlags modelFlags;
};

/// `quern rerank`: the documents by score, best first, a line each, or one JSON object.
[[nodiscard]] int runRerank(const RerankOptions& options, const app::ModelLibrary& library);

}  // namespace quern::cli
