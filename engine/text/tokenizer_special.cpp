#include <algorithm>
#include <initializer_list>

#include "engine/text/tokenizer_data.h"

namespace quern::engine::text {
namespace {

// How public models spell the token that ends a turn, a message or a text.
constexpr std::string_view kEndSpellings[] = {
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end_of_text|>",
    "<|endoftext|>",
    "<|end|>",
    "<|return|>",
    "<|call|>",
    "<end_of_turn>",
    "<turn|>",
    "<|eot|>",
    "<|eom|>",
    "<EOT>",
    "_<EOT>",
    "<|endofturn|>",
    "<|end_of_turn|>",
    "<|turn_end|>",
    "<end_of_utterance>",
    "<|message_end|>",
    "<|END_OF_TURN_TOKEN|>",
    "<|user_end|>",
    "<\xEF\xBD\x9C"
    "end\xE2\x96\x81of\xE2\x96\x81sentence\xEF\xBD\x9C>",
    "<|im_sep_end|>",
    "<|assistant_end|>",
    "[EOT]",
    "[|endofturn|]",
    "<|role_end|>",
    "<|eos|>",
    "</s>",
    "<eos>",
    "<|EOT|>",
    "<|end_of_sentence|>",
};

std::optional<TokenId> firstControl(const Vocabulary& vocabulary,
                                    std::initializer_list<std::string_view> spellings) {
    for (const std::string_view spelling : spellings) {
        const std::optional<TokenId> id = vocabulary.find(spelling);
        // Fill-in-the-middle tokens are marked as control in some files, user-defined in others.
        if (id && (vocabulary.isControl(*id) || vocabulary.kind(*id) == TokenKind::kUserDefined)) {
            return id;
        }
    }
    return std::nullopt;
}

}  // namespace

void recognizeSpecialTokens(const Vocabulary& vocabulary, SpecialTokens& special) {
    // Some files mark such tokens as user-defined. Then only names in bars count: "</s>" may be
    // there for web pages.
    const auto isKnown = [&](std::string_view spelling) {
        const std::optional<TokenId> id = vocabulary.find(spelling);
        return id &&
               (vocabulary.isControl(*id) || (vocabulary.kind(*id) == TokenKind::kUserDefined &&
                                              spelling.find('|') != std::string_view::npos));
    };
    const auto add = [&](TokenId id) {
        std::vector<TokenId>& ends = special.endOfGeneration;
        if (std::find(ends.begin(), ends.end(), id) == ends.end()) {
            ends.push_back(id);
        }
    };
    if (special.eos) {
        add(*special.eos);
    }
    // In the harmony format <|end|> only ends a message; the reply goes on until one of these.
    const bool isHarmony = isKnown("<|return|>") && isKnown("<|call|>");
    for (const std::string_view spelling : kEndSpellings) {
        if (isKnown(spelling) && !(isHarmony && spelling == "<|end|>")) {
            add(*vocabulary.find(spelling));
        }
    }
    if (isHarmony) {
        std::erase(special.endOfGeneration, vocabulary.find("<|end|>").value_or(-1));
    }
    const auto fill = [&](std::optional<TokenId>& id,
                          std::initializer_list<std::string_view> spellings) {
        if (!id) {
            id = firstControl(vocabulary, spellings);
        }
    };
    // DeepSeek calls the gap between prefix and suffix a hole; its middle begins at "end".
    fill(special.fimPrefix, {"<|fim_prefix|>", "<fim-prefix>", "<fim_prefix>",
                             "<\xEF\xBD\x9C"
                             "fim\xE2\x96\x81"
                             "begin\xEF\xBD\x9C>",
                             "<PRE>", "\xE2\x96\x81<PRE>", "<|code_prefix|>", "[PREFIX]"});
    fill(special.fimSuffix, {"<|fim_suffix|>", "<fim-suffix>", "<fim_suffix>",
                             "<\xEF\xBD\x9C"
                             "fim\xE2\x96\x81hole\xEF\xBD\x9C>",
                             "<SUF>", "\xE2\x96\x81<SUF>", "<|code_suffix|>", "[SUFFIX]"});
    fill(special.fimMiddle, {"<|fim_middle|>", "<fim-middle>", "<fim_middle>",
                             "<\xEF\xBD\x9C"
                             "fim\xE2\x96\x81"
                             "end\xEF\xBD\x9C>",
                             "<MID>", "\xE2\x96\x81<MID>", "<|code_middle|>", "[MIDDLE]"});
}

}  // namespace quern::engine::text
