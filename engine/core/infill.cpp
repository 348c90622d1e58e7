#include "engine/core/infill.h"

#include <string_view>

namespace quern::engine {

namespace {

Status append(std::vector<TokenId>& ids, const Tokenizer& tokenizer, TokenId marker,
              std::string_view text) {
    ids.push_back(marker);
    // What a file holds is text, even where it spells a marker.
    auto encoded = tokenizer.encode(text, {.addSpecial = false, .parseSpecial = false});
    if (!encoded) {
        return forward(encoded);
    }
    ids.insert(ids.end(), encoded->begin(), encoded->end());
    return {};
}

}  // namespace

Result<std::vector<TokenId>> infillIds(const Tokenizer& tokenizer, const InfillPrompt& prompt) {
    const SpecialTokens& special = tokenizer.special();
    if (!special.fimPrefix || !special.fimSuffix) {
        return failField("suffix",
                         "this model was not taught to fill in the middle: it has no token that "
                         "marks a prefix and a suffix",
                         ErrorCode::kUnsupported);
    }
    auto ids = tokenizer.encode("", {.addSpecial = true, .parseSpecial = false});
    if (!ids) {
        return ids;
    }
    // Of what the model adds around a text, only what comes before it.
    ids->resize(special.bos && !ids->empty() && ids->front() == *special.bos ? 1 : 0);

    const bool marksMiddle = special.fimMiddle.has_value();
    const auto addPrefix = [&] {
        return append(*ids, tokenizer, *special.fimPrefix, prompt.prefix);
    };
    const auto addSuffix = [&] {
        return append(*ids, tokenizer, *special.fimSuffix, prompt.suffix);
    };
    Status status = marksMiddle ? addPrefix() : addSuffix();
    if (status) {
        status = marksMiddle ? addSuffix() : addPrefix();
    }
    if (!status) {
        return forward(status);
    }
    if (marksMiddle) {
        ids->push_back(*special.fimMiddle);
    }
    return ids;
}

}  // namespace quern::engine
