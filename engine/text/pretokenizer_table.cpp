#include "engine/text/pretokenizer_table.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace quern::engine::text {
namespace {

using Pattern = std::string_view;

// clang-format splits long patterns anew at each run.
// clang-format off

// Named after the first tokenizer that has them. A letter outside a-z is written [^\P{L}a-z]: one
// class, so that runs of letters need no backtracking.
constexpr Pattern kGpt2[] = {
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)",
};
constexpr Pattern kAfmoe[] = {
    "\\p{Nd}{1,3}(?=(?:\\p{Nd}{3})*(?!\\p{Nd}))",
    "[一-鿿㐀-䶿豈-﫿぀-ゟ゠-ヿ･-ﾟ⼀-⿟เ-๿຀-໿ក-៿က-႟ꩠ-ꩿꧠ-꧿가-힯ᄀ-"
    "ᇿ]"
    "+",
    "[!\"#$%&'()*+,\\-./"
    ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\\r\\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
    "?[\\p{P}\\p{S}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kBailingmoe[] = {
    "'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kBloom[] = {
    " ?[^(\\s|.,!?…。，、।۔،)]+",
};
constexpr Pattern kChameleon[] = {
    "<sentinel:[0-9]+>",
    "(IMGIMG)((A|B|C|D|E|F|G|H|I){1,4})Z",
    "([\\t\\n]|    |  )",
    "\\p{N}",
    "[\\p{P}!-/:-@\\[-`{-~]",
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)",
};
constexpr Pattern kLlama3[] = {
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kStarcoder[] = {
    "\\p{N}",
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)",
};
constexpr Pattern kCohere2moe[] = {
    "\\d{1,3}(?=(?:\\d{3})*\\b)",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?:'["
    "sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}"
    "\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'"
    "[lL][lL]|'[dD])?|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kDeepseekCoder[] = {
    "[\r\n]", "\\s?\\p{L}+", "\\s?\\p{P}+", "[一-龥ࠀ-一가-퟿]+", "\\p{N}",
};
constexpr Pattern kDeepseekLlm[] = {
    "[\r\n]",
    "\\s?[A-Za-zµÀ-ÖØ-öø-ƺƼ-ƿǄ-ʓʕ-ʯͰ-ͳͶͷͻ-ͽͿΆΈ-ΊΌΎ-ΡΣ-ϵϷ-ҁҊ-ԯԱ-ՖႠ-ჅᎠ-Ᏽᏸ-ᏽᲐ-ᲺᲽ-"
    "Ჿᴀ-"
    "ᴫᵫ-ᵷᵹ-ᶚḀ-ἕἘ-Ἕἠ-ὅὈ-Ὅὐ-ὗὙὛὝὟ-ώᾀ-ᾴᾶ-ᾼιῂ-ῄῆ-ῌῐ-ΐῖ-Ίῠ-Ῥῲ-ῴῶ-ῼℂℇℊ-ℓℕℙ-ℝℤΩℨK-ℭℯ-ℴℹℼ-ℿⅅ-ⅉⅎↃↄⰀ-ⱻⱾ-ⳤⳫ-"
    "ⳮⳲⳳꙀ-ꙭꚀ-ꚛꜢ-ꝯꝱ-ꞇꞋ-ꞎꭰ-ꮿﬀ-ﬆﬓ-ﬗＡ-Ｚａ-ｚ𐐀-𐑏𐒰-𐓓𐓘-𐓻𐲀-𐲲𐳀-"
    "𐳲𑢠-"
    "𑣟𞤀-𞥃]+",
    "\\s?[!-/:-~！-／：-～‘-‟　-。]+",
    "(?<!\\s)\\s++$",
    "[一-龥ࠀ-一가-퟿]+",
    "\\p{N}+",
};
constexpr Pattern kQwen2[] = {
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kDeepseekV3[] = {
    "\\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./"
    ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
    "?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kDefault[] = {
    "[\\p{P}\\$\\+<=>\\^~\\|]+",
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)",
    "\\p{N}+",
    "[0-9][0-9][0-9]",
};
constexpr Pattern kExaoneMoe[] = {
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?(?:\\p{L}\\p{"
    "M}*(?: \\p{L}\\p{M}*)*)+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]?|\\s*[\\r\\n]|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kFalcon[] = {
    "[\\p{P}\\$\\+<=>\\^~\\|`]+",
    "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)",
    "[0-9][0-9][0-9]",
};
constexpr Pattern kGemma4[] = {
    "[^\\n]+|[\\n]+",
};
constexpr Pattern kGpt4o[] = {
    "[^\\r\\n\\p{L}\\p{N}]?[^\\P{L}a-z]*[^\\P{L}A-Z]+(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL]"
    "[lL]|'[dD])?|[^\\r\\n\\p{L}\\p{N}]?[^\\P{L}a-z]+[^\\P{L}A-Z]*(?:'[sS]|'[tT]|'[rR][eE]|'[vV]["
    "eE]|'[mM]|'[lL][lL]|'[dD])?|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kGraniteEmbedMulti97m[] = {
    "[^\\r\\n\\p{L}\\p{N}]?(?:(?![a-z])[\\p{L}\\p{M}])*(?:(?![A-Z])[\\p{L}\\p{M}])+(?:'[sS]|'[tT]|'"
    "[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|[^\\r\\n\\p{L}\\p{N}]?(?:(?![a-z])[\\p{L}\\p{M}])+("
    "?:(?![A-Z])[\\p{L}\\p{M}])*(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|\\p{N}{"
    "1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kJais2[] = {
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s{512}(?!\\S)|\\s{256}(?!\\S)|\\s{128}(?!\\S)|"
    "\\s{64}(?!\\S)|\\s{32}(?!\\S)|\\s{16}(?!\\S)|\\s{8}(?!\\S)|\\s{4}(?!\\S)|\\s{1,2}(?!\\S)|\\s{"
    "1}",
};
constexpr Pattern kKimiK2[] = {
    "[\\p{Han}]+|[^\\r\\n\\p{L}\\p{N}]?(?:(?!\\p{Han})[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}])*(?:(?!"
    "\\p{Han})[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}])+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\\r\\n\\p{L}\\p{N}]?(?"
    ":(?!\\p{Han})[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}])+(?:(?!\\p{Han})[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}"
    "])*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\\p{N}{1,3}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kLaguna[] = {
    "[^\\n]+|[\\n]+",
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kMinicpm5[] = {
    "\\p{N}{1,3}",
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "+| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kQwen35[] = {
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]"
    "+|\\p{N}| ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kSeedCoder[] = {
    "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "{1}| ?[^\\s\\p{L}\\p{N}\\r\\n]+|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kSpark25[] = {
    "\\p{N}{1,3}",
    "[一-龥぀-ゟ゠-ヿ]+",
    "[!\"#$%&'()*+,\\-./"
    ":;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| "
    "?[\\p{P}\\p{S}]+|[\r\n]|\\s+(?!\\S)|\\s+",
    "\\p{N}",
};
constexpr Pattern kSuperbpe[] = {
    "\\p{N}+",
    "(?=(\\d{3})+(?!\\d))",
};
constexpr Pattern kTekken[] = {
    "[^\\r\\n\\p{L}\\p{N}]?[^\\P{L}a-z]*[^\\P{L}A-Z]+|[^\\r\\n\\p{L}\\p{N}]?[^\\P{L}a-z]+[^\\P{L}A-"
    "Z]*|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kUfakzeka[] = {
    "[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| "
    "?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};
constexpr Pattern kViking[] = {
    " ?[^(\\s|.,!?…。，、।۔،)]+",
    "\\p{N}",
};
constexpr Pattern kWhitespace[] = {
    "\\S+",
};
constexpr Pattern kYoutu[] = {
    "[가-힣ㄱ-ㆎ]+|[！…“”‘’—：；，、-〿︰-﹏]+|[ㄅ-ㄯ]+|[一-龥぀-ゟ゠-"
    "ヿ]"
    "+",
    "[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]*[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]+(?:'["
    "sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])?|[^\\r\\n\\p{L}\\p{N}]?[\\p{Lu}\\p{Lt}"
    "\\p{Lm}\\p{Lo}\\p{M}]+[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]*(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'"
    "[lL][lL]|'[dD])?|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
};

constexpr std::string_view kNames[] = {
    "a.x-4.0",
    "afmoe",
    "bailingmoe",
    "bailingmoe2",
    "bloom",
    "chameleon",
    "chatglm-bpe",
    "codeshell",
    "cohere2moe",
    "command-r",
    "dbrx",
    "deepseek-coder",
    "deepseek-llm",
    "deepseek-r1-qwen",
    "deepseek-v3",
    "default",
    "exaone",
    "exaone-moe",
    "exaone4",
    "f2llmv2",
    "falcon",
    "falcon-h1",
    "falcon3",
    "gemma4",
    "gigachat",
    "glm4",
    "glm5",
    "gpt-2",
    "gpt-4o",
    "gpt3-finnish",
    "granite-docling",
    "granite-embed-multi-311m",
    "granite-embed-multi-97m",
    "grok-2",
    "hunyuan",
    "hunyuan-dense",
    "hy_v4",
    "jais",
    "jais-2",
    "jina-de",
    "jina-es",
    "jina-v1-en",
    "jina-v2-code",
    "jina-v2-de",
    "jina-v2-es",
    "jina-v5-nano",
    "joyai-llm",
    "kanana2",
    "kimi-k2",
    "kormo",
    "laguna",
    "lfm2",
    "llada-moe",
    "llama-bpe",
    "llama-v3",
    "llama3",
    "llama4",
    "megrez",
    "mellum",
    "mellum2",
    "midm-2.0",
    "minerva-7b",
    "minicpm5",
    "minimax-m2",
    "modern-bert",
    "mpt",
    "olmo",
    "phi-2",
    "pixtral",
    "poro-chat",
    "qwen2",
    "qwen35",
    "refact",
    "roberta-bpe",
    "sarvam-moe",
    "seed-coder",
    "smaug-bpe",
    "smollm",
    "solar-open",
    "spark2_5",
    "stablelm2",
    "starcoder",
    "superbpe",
    "talkie",
    "tekken",
    "tiny_aya",
    "trillion",
    "ufakzeka",
    "viking",
    "whitespace",
    "youtu",
};

// In the order of kNames.
constexpr SplitterFacts kFacts[] = {
    {.patterns = kGpt2},
    {.patterns = kAfmoe},
    {.patterns = kBailingmoe},
    {.patterns = kBailingmoe},
    {.patterns = kBloom},
    {.patterns = kChameleon, .addsBos = true},
    {.patterns = kLlama3},
    {.patterns = kStarcoder},
    {.patterns = kCohere2moe},
    {.patterns = kStarcoder},
    {.patterns = kLlama3},
    {.patterns = kDeepseekCoder},
    {.patterns = kDeepseekLlm},
    {.patterns = kQwen2},
    {.patterns = kDeepseekV3},
    {.patterns = kDefault},
    {.patterns = kStarcoder},
    {.patterns = kExaoneMoe},
    {.patterns = kGpt2},
    {.patterns = kQwen2},
    {.patterns = kFalcon},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kGemma4, .usesSpaceMarks = true},
    {.patterns = kGpt2},
    {.patterns = kLlama3, .ignoresMerges = true},
    {.patterns = kLlama3, .ignoresMerges = true},
    {.patterns = kGpt2},
    {.patterns = kGpt4o},
    {.patterns = kBloom},
    {.patterns = kGpt2},
    {.patterns = kGemma4, .usesSpaceMarks = true},
    {.patterns = kGraniteEmbedMulti97m, .ignoresMerges = true},
    {.patterns = kQwen2},
    {.patterns = kQwen2},
    {.patterns = kDeepseekV3},
    {.patterns = kDeepseekV3},
    {.patterns = kGpt2},
    {.patterns = kJais2},
    {.patterns = kGpt2},
    {.patterns = kGpt2},
    {.patterns = kGpt2, .addsSeparator = true},
    {.patterns = kGpt2, .addsSeparator = true},
    {.patterns = kGpt2},
    {.patterns = kGpt2},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kDeepseekV3},
    {.patterns = kGpt4o},
    {.patterns = kKimiK2},
    {.patterns = kQwen2},
    {.patterns = kLaguna},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kBailingmoe},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kGpt4o},
    {.patterns = kQwen2},
    {.patterns = kGpt2},
    {.patterns = kStarcoder},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kStarcoder},
    {.patterns = kMinicpm5, .ignoresMerges = true},
    {.patterns = kGpt4o},
    {.patterns = kGpt2},
    {.patterns = kGpt2},
    {.patterns = kGpt2},
    {.patterns = kGpt2},
    {.patterns = kLlama3, .ignoresMerges = true, .addsBos = true},
    {.patterns = kBloom},
    {.patterns = kQwen2},
    {.patterns = kQwen35},
    {.patterns = kStarcoder},
    {.patterns = kGpt2, .addsSeparator = true},
    {.patterns = kGemma4, .usesSpaceMarks = true},
    {.patterns = kSeedCoder},
    {.patterns = kLlama3},
    {.patterns = kStarcoder},
    {.patterns = kQwen2},
    {.patterns = kSpark25},
    {.patterns = kQwen2},
    {.patterns = kStarcoder},
    {.patterns = kSuperbpe},
    {.patterns = kGpt4o},
    {.patterns = kTekken, .ignoresMerges = true, .addsBos = true},
    {.patterns = kCohere2moe},
    {.patterns = kGpt2},
    {.patterns = kUfakzeka},
    {.patterns = kViking},
    {.patterns = kWhitespace},
    {.patterns = kYoutu, .ignoresMerges = true},
};
static_assert(std::size(kNames) == std::size(kFacts));
static_assert(std::is_sorted(std::begin(kNames), std::end(kNames)));

}  // namespace

const SplitterFacts* findSplitter(std::string_view name) {
    const auto found = std::lower_bound(std::begin(kNames), std::end(kNames), name);
    if (found == std::end(kNames) || *found != name) {
        return nullptr;
    }
    return &kFacts[found - std::begin(kNames)];
}

std::span<const std::string_view> splitterNames() {
    return kNames;
}

}  // namespace quern::engine::text
