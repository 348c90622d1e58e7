#include <array>
#include <utility>

#include "engine/text/base64.h"
#include "engine/text/normalizer_charsmap.h"
#include "engine/text/tokenizer_json.h"
#include "engine/text/tokenizer_unicode.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

std::optional<Regex> compiled(const JsonNode& node, const std::string& pattern) {
    auto regex = Regex::create(pattern, RegexDialect::kOniguruma);
    if (!regex) {
        node.refuse(regex.error().code, regex.error().message);
        return std::nullopt;
    }
    return std::move(*regex);
}

/// A "pattern" member: {"String": …} or {"Regex": …}, in old files a bare string.
struct Pattern {
    std::string string;
    std::optional<Regex> regex;
};
Pattern readPattern(const JsonNode& node) {
    const JsonNode pattern = node.child("pattern");
    Pattern result;
    if (pattern.has("Regex")) {
        result.regex = compiled(pattern, pattern.text("Regex"));
    } else if (!pattern.isNull() && pattern.value().is_string()) {
        result.string = node.nonEmpty("pattern");
    } else {
        result.string = pattern.nonEmpty("String");
    }
    return result;
}

NormalizerPtr readPrecompiled(const JsonNode& node) {
    const auto blob = decodeBase64(node.text("precompiled_charsmap", ""));
    if (!blob) {
        node.child("precompiled_charsmap").refuse(ErrorCode::kCorrupt, "is no base 64");
        return nullptr;
    }
    if (blob->empty()) {
        return nullptr;
    }
    auto map = CharacterMap::create(*blob);
    if (!map) {
        node.child("precompiled_charsmap").refuse(map.error().code, map.error().message);
        return nullptr;
    }
    return makePrecompiled(std::move(*map));
}

SplitBehavior readBehavior(const JsonNode& node, const char* fallback) {
    constexpr std::array<std::pair<std::string_view, SplitBehavior>, 5> kNames = {{
        {"Removed", SplitBehavior::kRemoved},
        {"Isolated", SplitBehavior::kIsolated},
        {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
        {"MergedWithNext", SplitBehavior::kMergedWithNext},
        {"Contiguous", SplitBehavior::kContiguous},
    }};
    const std::string name = node.text("behavior", fallback);
    for (const auto& [known, behavior] : kNames) {
        if (name == known) {
            return behavior;
        }
    }
    node.child("behavior").refuse(ErrorCode::kUnsupported, "is '" + name + "', not a known one");
    return SplitBehavior::kIsolated;
}

PrependScheme readPrependScheme(const JsonNode& node) {
    // Before there were schemes there was a flag.
    const char* fallback = node.flag("add_prefix_space", true) ? "always" : "never";
    const std::string name = node.text("prepend_scheme", fallback);
    if (name == "always") {
        return PrependScheme::kAlways;
    }
    if (name == "first") {
        return PrependScheme::kFirst;
    }
    if (name != "never") {
        node.child("prepend_scheme").refuse(ErrorCode::kUnsupported, "is '" + name + "'");
    }
    return PrependScheme::kNever;
}

/// What Metaspace makes of a space: one character.
std::string readMark(const JsonNode& node) {
    std::string mark = node.nonEmpty("replacement", "\xE2\x96\x81");
    if (!mark.empty() && decodeUtf8(mark, 0).length != mark.size()) {
        node.child("replacement").refuse(ErrorCode::kCorrupt, "must be one character");
    }
    return mark;
}

PreTokenizerPtr readSplit(const JsonNode& node) {
    Pattern pattern = readPattern(node);
    const SplitBehavior behavior = readBehavior(node, "Isolated");
    const bool isInverted = node.flag("invert", false);
    if (!node.isFine()) {
        return nullptr;
    }
    return pattern.regex ? makeRegexSplit(std::move(*pattern.regex), behavior, isInverted)
                         : makeStringSplit(std::move(pattern.string), behavior, isInverted);
}

void addRegexSplit(const JsonNode& node, std::string_view pattern, SplitBehavior behavior,
                   bool isInverted, std::vector<PreTokenizerPtr>& steps) {
    if (auto regex = compiled(node, std::string(pattern))) {
        steps.push_back(makeRegexSplit(std::move(*regex), behavior, isInverted));
    }
}

}  // namespace

NormalizerPtr readNormalizer(const JsonNode& node, int depth) {
    if (node.isNull() || isTooDeep(node, depth)) {
        return nullptr;
    }
    const std::string type = node.text("type");
    if (type == "Sequence") {
        std::vector<NormalizerPtr> steps;
        for (const JsonNode& item : node.items("normalizers")) {
            if (NormalizerPtr step = readNormalizer(item, depth + 1)) {
                steps.push_back(std::move(step));
            }
        }
        return makeNormalizerSequence(std::move(steps));
    }
    if (type == "NFC") {
        return makeUnicodeForm(UnicodeForm::kNfc);
    }
    if (type == "NFD") {
        return makeUnicodeForm(UnicodeForm::kNfd);
    }
    if (type == "NFKC") {
        return makeUnicodeForm(UnicodeForm::kNfkc);
    }
    if (type == "NFKD") {
        return makeUnicodeForm(UnicodeForm::kNfkd);
    }
    if (type == "Lowercase") {
        return makeLowercase();
    }
    if (type == "StripAccents") {
        return makeStripAccents();
    }
    if (type == "Strip") {
        return makeStrip(node.flag("strip_left", true), node.flag("strip_right", true));
    }
    if (type == "Prepend") {
        return makePrepend(node.text("prepend"));
    }
    if (type == "Replace") {
        Pattern pattern = readPattern(node);
        std::string content = node.text("content");
        return pattern.regex ? makeReplaceRegex(std::move(*pattern.regex), std::move(content))
                             : makeReplaceString(std::move(pattern.string), std::move(content));
    }
    if (type == "BertNormalizer") {
        BertNormalizerOptions options;
        options.cleansText = node.flag("clean_text", true);
        options.spacesCjk = node.flag("handle_chinese_chars", true);
        options.lowercases = node.flag("lowercase", true);
        options.stripsAccents = node.flag("strip_accents", options.lowercases);
        return makeBertNormalizer(options);
    }
    if (type == "Precompiled") {
        return readPrecompiled(node);
    }
    if (type == "Nmt") {
        return makeNmt();
    }
    if (type == "ByteLevel") {
        return makeByteLevelNormalizer();
    }
    refuseType(node, type);
    return nullptr;
}

void readPreTokenizer(const JsonNode& node, std::vector<PreTokenizerPtr>& steps, int depth) {
    if (node.isNull() || isTooDeep(node, depth)) {
        return;
    }
    const std::string type = node.text("type");
    if (type == "Sequence") {
        for (const JsonNode& item : node.items("pretokenizers")) {
            readPreTokenizer(item, steps, depth + 1);
        }
    } else if (type == "ByteLevel") {
        if (node.flag("add_prefix_space", true)) {
            steps.push_back(makePrefixSpace());
        }
        if (node.flag("use_regex", true)) {
            addRegexSplit(node, kGpt2Pattern, SplitBehavior::kIsolated, false, steps);
        }
        steps.push_back(makeByteLevel());
    } else if (type == "Split") {
        if (PreTokenizerPtr split = readSplit(node)) {
            steps.push_back(std::move(split));
        }
    } else if (type == "Metaspace") {
        const PrependScheme scheme = readPrependScheme(node);
        steps.push_back(makeMetaspace(readMark(node), scheme, node.flag("split", true)));
    } else if (type == "Digits") {
        steps.push_back(makeCharSplit(isNumeric, node.flag("individual_digits", false)
                                                     ? SplitBehavior::kIsolated
                                                     : SplitBehavior::kContiguous));
    } else if (type == "Punctuation") {
        steps.push_back(makeCharSplit(isPunctuation, readBehavior(node, "Isolated")));
    } else if (type == "BertPreTokenizer") {
        steps.push_back(makeCharSplit(isWhitespace, SplitBehavior::kRemoved));
        steps.push_back(makeCharSplit(isPunctuation, SplitBehavior::kIsolated));
    } else if (type == "Whitespace") {
        steps.push_back(makeWordSplit());
    } else if (type == "WhitespaceSplit") {
        steps.push_back(makeCharSplit(isWhitespace, SplitBehavior::kRemoved));
    } else if (type == "CharDelimiterSplit") {
        std::string delimiter = node.nonEmpty("delimiter");
        if (node.isFine()) {
            steps.push_back(makeStringSplit(std::move(delimiter), SplitBehavior::kRemoved, false));
        }
    } else if (type == "FixedLength") {
        const std::int64_t length = node.integer("length", 5);
        if (length < 1) {
            node.child("length").refuse(ErrorCode::kCorrupt,
                                        "is " + std::to_string(length) + "; at least 1");
            return;
        }
        steps.push_back(makeFixedLength(static_cast<std::size_t>(length)));
    } else {
        refuseType(node, type);
    }
}

namespace {

/// Adds a decoder's steps. Once `isFused`, what follows works on the whole text.
void addDecoder(const JsonNode& node, TokenizerParts& parts, bool& isFused, int depth) {
    if (isTooDeep(node, depth)) {
        return;
    }
    std::vector<DecoderStepPtr>& steps = parts.decoder.steps;
    const std::string type = node.text("type");
    const auto refuseFused = [&] {
        node.refuse(ErrorCode::kUnsupported, "decodes with '" + type + "' after 'Fuse'");
    };
    if (type == "Sequence") {
        for (const JsonNode& item : node.items("decoders")) {
            addDecoder(item, parts, isFused, depth + 1);
        }
    } else if (type == "Fuse") {
        isFused = true;
    } else if (type == "Strip") {
        const std::string content = node.nonEmpty("content");
        const std::int64_t start = node.integer("start", 0);
        const std::int64_t stop = node.integer("stop", 0);
        if (start < 0 || stop < 0) {
            node.refuse(ErrorCode::kCorrupt, "strips a negative number of characters");
            return;
        }
        if (!isFused) {
            steps.push_back(makeStripDecoder(content, static_cast<std::size_t>(start),
                                             static_cast<std::size_t>(stop)));
            return;
        }
        parts.decoder.trimmed = content;
        parts.decoder.trimsStart = static_cast<std::size_t>(start);
        parts.decoder.trimsEnd = static_cast<std::size_t>(stop);
        parts.addsSpacePrefix = parts.addsSpacePrefix || (start > 0 && content == " ");
    } else if (type == "Replace") {
        Pattern pattern = readPattern(node);
        std::string content = node.text("content");
        // Of a single character it does not matter whether tokens were joined before.
        const bool isOneChar = !pattern.string.empty() && !needsEscape(pattern.string) &&
                               decodeUtf8(pattern.string, 0).length == pattern.string.size();
        if (isFused && !isOneChar) {
            refuseFused();
        } else if (pattern.regex) {
            steps.push_back(makeReplaceRegexDecoder(std::move(*pattern.regex), content));
        } else {
            steps.push_back(makeReplaceDecoder(std::move(pattern.string), content));
        }
    } else if (type == "ByteFallback") {
        if (!isFused) {
            steps.push_back(makeByteFallbackDecoder());
        }
    } else if (isFused) {
        refuseFused();
    } else if (type == "ByteLevel") {
        steps.push_back(makeByteLevelDecoder());
        isFused = true;  // bytes of several tokens make a character
    } else if (type == "Metaspace") {
        const bool drops = readPrependScheme(node) != PrependScheme::kNever;
        steps.push_back(makeMetaspaceDecoder(readMark(node), drops));
        parts.addsSpacePrefix = drops;
    } else if (type == "WordPiece") {
        steps.push_back(
            makeWordPieceDecoder(node.text("prefix", "##"), node.flag("cleanup", true)));
    } else if (type == "BPEDecoder") {
        parts.decoder.endMark = node.nonEmpty("suffix", "</w>");
        steps.push_back(makeSuffixDecoder(parts.decoder.endMark));
        parts.decoder.trimmed = " ";
        parts.decoder.trimsEnd = 1;
    } else {
        refuseType(node, type);
    }
}

}  // namespace

void readDecoder(const JsonNode& node, TokenizerParts& parts) {
    bool isFused = false;
    if (node.isNull()) {
        parts.decoder.steps.push_back(makeJoinDecoder());
    } else {
        addDecoder(node, parts, isFused, 0);
    }
}

}  // namespace quern::engine::text
