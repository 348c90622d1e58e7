// tokenizer.json files that are broken or mean harm: each must give an error that names the field,
// or a tokenizer whose texts stay as large as its rules may make them, and nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/text/normalizer.h"
#include "engine/text/tokenizer_load.h"
#include "tests/engine/text/sound_tokenizer.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

using nlohmann::json;

Result<std::shared_ptr<const Tokenizer>> load(const json& document) {
    return text::readJsonTokenizerText(document.dump(), {});
}

json with(const std::string& pointer, const json& value) {
    json document = test::soundTokenizer();
    document[json::json_pointer(pointer)] = value;
    return document;
}

json sequence(const char* list, const json& step, int times) {
    json steps = json::array();
    for (int i = 0; i < times; ++i) {
        steps.push_back(step);
    }
    return {{"type", "Sequence"}, {list, steps}};
}

json replace(const std::string& pattern, const std::string& content) {
    return {{"type", "Replace"}, {"pattern", {{"String", pattern}}}, {"content", content}};
}

void expectRefused(const Result<std::shared_ptr<const Tokenizer>>& loaded,
                   const std::string& what) {
    ASSERT_FALSE(loaded.has_value()) << what;
    EXPECT_EQ(loaded.error().code, ErrorCode::kCorrupt) << loaded.error().message;
    EXPECT_NE(loaded.error().message.find(what), std::string::npos) << loaded.error().message;
}

TEST(TokenizerHostile, FieldsThatAskForTooMuchAreNamed) {
    expectRefused(load(with("/pre_tokenizer",
                            {{"type", "Metaspace"}, {"replacement", std::string(1000, 'x')}})),
                  "pre_tokenizer.replacement");
    expectRefused(load(with("/decoder", {{"type", "Metaspace"}, {"replacement", "__"}})),
                  "decoder.replacement");
    json words = test::soundTokenizer();
    words["model"] = json::parse(R"({"type": "WordPiece", "unk_token": "?", "vocab": {"?": 0},
                                     "max_input_chars_per_word": 1000000000})");
    expectRefused(load(words), "model.max_input_chars_per_word");
    // A few hundred bytes that would put a million tokens before every text.
    json around = {{"type", "TemplateProcessing"},
                   {"single", json::array()},
                   {"special_tokens", {{"s", {{"ids", json::array()}}}}}};
    for (int i = 0; i < 1000; ++i) {
        around["single"].push_back({{"SpecialToken", {{"id", "s"}}}});
        around["special_tokens"]["s"]["ids"].push_back(1);
    }
    expectRefused(load(with("/post_processor", around)), "post_processor.single");
    expectRefused(
        load(with(
            "/post_processor",
            sequence("processors",
                     {{"type", "RobertaProcessing"}, {"cls", {"a", 1}}, {"sep", {"b", 99}}}, 3))),
        "99");
}

TEST(TokenizerHostile, NestingIsBounded) {
    const std::string deep = R"({"model":)" + std::string(200'000, '[');
    expectRefused(text::readJsonTokenizerText(deep, {}), "nested");
    expectRefused(text::readJsonTokenizerText("{\"a\": \"\xFF\"}", {}), "not valid JSON");
}

// Forty steps of two bytes for one make a million millions of it.
TEST(TokenizerHostile, RulesCannotFillTheMemory) {
    const json doubling = replace("a", "aa");
    const auto normalizing = load(with("/normalizer", sequence("normalizers", doubling, 40)));
    ASSERT_TRUE(normalizing.has_value()) << normalizing.error().message;
    const auto encoded = (*normalizing)->encode("aaaa", {});
    ASSERT_FALSE(encoded.has_value());
    EXPECT_EQ(encoded.error().code, ErrorCode::kCorrupt);
    EXPECT_NE(encoded.error().message.find("normalizer"), std::string::npos);
    EXPECT_TRUE((*normalizing)->encode("bbb", {}).has_value());

    // One step is enough where what it puts is long.
    const auto once = load(with("/normalizer", replace("a", std::string(100'000, 'b'))));
    ASSERT_TRUE(once.has_value());
    EXPECT_FALSE((*once)->encode(std::string(1000, 'a'), {}).has_value());
    const json pattern = {{"type", "Replace"},
                          {"pattern", {{"Regex", "a*?"}}},
                          {"content", std::string(100'000, 'b')}};
    const auto byPattern = load(with("/normalizer", pattern));
    ASSERT_TRUE(byPattern.has_value());
    EXPECT_FALSE((*byPattern)->encode("xyz", {}).has_value());

    // Tokens that are matched normalized are normalized at once.
    json added = with("/normalizer", sequence("normalizers", doubling, 40));
    added["added_tokens"].push_back({{"id", 7}, {"content", "aaa"}, {"normalized", true}});
    expectRefused(load(added), "normalizer");

    expectRefused(load(with("/decoder", sequence("decoders", doubling, 40))), "decoder");
    // Even where only the first token of a text grows.
    json first = {{"type", "Sequence"}, {"decoders", json::array()}};
    first["decoders"].push_back({{"type", "WordPiece"}, {"prefix", "a"}, {"cleanup", false}});
    for (int i = 0; i < 40; ++i) {
        first["decoders"].push_back(doubling);
    }
    expectRefused(load(with("/decoder", first)), "decoder");

    const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
    const auto cutting = load(with("/pre_tokenizer", sequence("pretokenizers", bytes, 60)));
    ASSERT_TRUE(cutting.has_value()) << cutting.error().message;
    const auto cut = (*cutting)->encode("é", {});
    ASSERT_FALSE(cut.has_value());
    EXPECT_NE(cut.error().message.find("pre-tokenizer"), std::string::npos) << cut.error().message;
}

TEST(TokenizerHostile, HonestRulesAreFarFromTheBound) {
    // The longest that Unicode's own compatibility forms make of a character: 18 for one.
    EXPECT_TRUE(text::makeUnicodeForm(text::UnicodeForm::kNfkd)->apply("\uFDFA").has_value());
    const auto spelled = load(with("/normalizer", replace(" ", "<|space|>")));
    ASSERT_TRUE(spelled.has_value());
    EXPECT_TRUE((*spelled)->encode(std::string(100'000, ' '), {}).has_value());
}

TEST(TokenizerHostile, ReplacingGivesWhatSearchingAgainWould) {
    json document = with(
        "/decoder", {{"type", "Sequence"}, {"decoders", {replace("aa", "a"), replace("b", "")}}});
    document["model"]["vocab"]["aaaaab"] = 7;
    const auto loaded = load(document);
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_EQ((*loaded)->decode(std::vector<TokenId>{7}, false), "aaa");
}

/// Places in a document, but for those of the vocabulary.
void collect(const json& node, const std::string& pointer, std::vector<std::string>& out) {
    if (pointer == "/model/vocab" || pointer == "/model/merges") {
        out.push_back(pointer);
        return;
    }
    if (!pointer.empty()) {
        out.push_back(pointer);
    }
    if (node.is_object()) {
        for (const auto& [key, value] : node.items()) {
            std::string escaped;
            for (const char c : key) {
                escaped += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
            }
            collect(value, pointer + "/" + escaped, out);
        }
    } else if (node.is_array()) {
        constexpr std::size_t kMost = 2;
        for (std::size_t i = 0; i < std::min(node.size(), kMost); ++i) {
            collect(node[i], pointer + "/" + std::to_string(i), out);
        }
    }
}

TEST(TokenizerHostile, EveryFieldMayHaveAnyType) {
    QUERN_GOLDEN_OR_SKIP(root, "tokenizers-hf");
    const std::vector<json> values{-1, "x", json::object(), json::array({json::object(), 7, "x"})};
    int refused = 0;
    int read = 0;
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        json document = json::parse(test::readFile(entry.path() / "tokenizer.json"));
        if (document["model"].contains("merges")) {
            document["model"]["merges"] = json::array();
        }
        std::vector<std::string> places;
        collect(document, "", places);
        for (const std::string& place : places) {
            for (const json& value : values) {
                json changed = document;
                changed[json::json_pointer(place)] = value;
                const auto loaded = load(changed);
                if (!loaded) {
                    ++refused;
                    EXPECT_NE(loaded.error().message.find("tokenizer"), std::string::npos)
                        << place << " = " << value << ": " << loaded.error().message;
                    continue;
                }
                ++read;
                const auto ids = (*loaded)->encode("Hi <s> 12\n", {.addSpecial = true});
                if (ids) {
                    (void)(*loaded)->decode(*ids, false);
                }
            }
        }
    }
    EXPECT_GT(refused, 100);
    EXPECT_GT(read, 100);
}

}  // namespace
}  // namespace quern::engine
