// tokenizer.json files that break the format: each must give an error that names the field.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "engine/text/tokenizer_load.h"
#include "tests/engine/text/sound_tokenizer.h"

namespace quern::engine {
namespace {

using nlohmann::json;

std::string troubleWith(const json& document) {
    const auto loaded = text::readJsonTokenizerText(document.dump(), {});
    return loaded ? "" : loaded.error().message;
}

struct Wrong {
    const char* place;  // a JSON pointer
    const char* value;  // null: removed
    const char* names;
};

void expectEachNamed(const json& sound, const std::vector<Wrong>& wrongs) {
    ASSERT_EQ(troubleWith(sound), "");
    for (const Wrong& wrong : wrongs) {
        json document = sound;
        const json::json_pointer place(wrong.place);
        if (wrong.value != nullptr) {
            document[place] = json::parse(wrong.value);
        } else {
            document[place.parent_pointer()].erase(place.back());
        }
        const std::string at =
            std::string(wrong.place) + " " + (wrong.value != nullptr ? wrong.value : "removed");
        const std::string trouble = troubleWith(document);
        EXPECT_NE(trouble.find(wrong.names), std::string::npos)
            << at.substr(0, 200) << ": " << trouble;
        EXPECT_LT(trouble.size(), 500U) << at.substr(0, 200);
    }
}

TEST(TokenizerMalformed, WhatIsNoDocumentIsTold) {
    const auto trouble = [](std::string_view text) {
        const auto loaded = text::readJsonTokenizerText(text, {});
        return loaded ? std::string() : loaded.error().message;
    };
    for (const std::string_view text :
         {"", "{", "{\"model\":NaN}", "{\"model\":1e999}", "\xFF", "{}{}"}) {
        EXPECT_NE(trouble(text).find("tokenizer.json is not valid JSON"), std::string::npos)
            << trouble(text);
    }
    for (const std::string_view text : {"[]", "7", "null", "\"x\""}) {
        EXPECT_NE(trouble(text).find("must be a JSON object"), std::string::npos) << trouble(text);
    }
    EXPECT_NE(trouble("{}").find("model must be an object"), std::string::npos);
}

TEST(TokenizerMalformed, VocabularyAndMerges) {
    const std::vector<Wrong> wrongs = {
        {"/model", "null", "model must be an object"},
        {"/model", "[]", "model must be an object"},
        {"/model/type", "\"Magic\"", "model.type is 'Magic'"},
        {"/model/type", "7", "model.type must be a string"},
        {"/model/type", "\"Unigram\"", "model.vocab must be an array"},
        {"/model/vocab", nullptr, "model.vocab must be an object of ids"},
        {"/model/vocab", "[]", "model.vocab must be an object of ids"},
        {"/model/vocab/a", "2", "gives the id 2 twice"},
        {"/model/vocab/a", "-1", "has the id -1 among 6"},
        {"/model/vocab/a", "-9223372036854775808", "has the id -9223372036854775808"},
        {"/model/vocab/a", "4000000000", "has the id 4000000000 among 6"},
        {"/model/vocab/a", "9223372036854775808", "has the id 9223372036854775808 among 6"},
        {"/model/vocab/a", "18446744073709551615", "has the id 18446744073709551615 among 6"},
        {"/model/vocab/a", "1.5", "has an id that is no integer"},
        {"/model/vocab/a", "\"1\"", "has an id that is no integer"},
        {"/model/merges", nullptr, "model.merges must be an array"},
        {"/model/merges", "\"a b\"", "model.merges must be an array"},
        {"/model/merges", "[\"a\"]", "model.merges[0] must be two spellings"},
        {"/model/merges", "[\"a \"]", "model.merges[0] must be two spellings"},
        {"/model/merges", "[\"a b\",\"a b b\"]", "model.merges[1] must be two spellings"},
        {"/model/merges", "[[\"a\"]]", "model.merges[0] must be two spellings"},
        {"/model/merges", "[[\"a\",2]]", "model.merges[0] must be two spellings"},
        {"/model/merges", "[7]", "model.merges[0] must be two spellings"},
        {"/model/merges", "[\"a z\"]", "model.merges[0] names a token"},
        {"/model/merges", "[\"b a\"]", "model.merges[0] names a token"},
        {"/model/unk_token", "\"<unk>\"", "model.unk_token is not in model.vocab"},
        {"/model/unk_token", "0", "model.unk_token must be a string"},
        {"/model/byte_fallback", "1", "model.byte_fallback must be true or false"},
        {"/added_tokens", "{}", "added_tokens must be an array"},
        {"/added_tokens/0", "7", "added_tokens[0].content is missing"},
        {"/added_tokens/0/content", "7", "added_tokens[0].content must be a string"},
        {"/added_tokens/0/id", nullptr, "added_tokens[0].id is missing"},
        {"/added_tokens/0/id", "-1", "has the id -1"},
        {"/added_tokens/0/id", "1e9", "added_tokens[0].id must be an integer"},
        {"/added_tokens/0/id", "4000000000", "has the id 4000000000"},
        {"/added_tokens/0/id", "9223372036854775808",
         "added_tokens[0].id is 9223372036854775808, beyond"},
        {"/added_tokens/0/id", "1", "has the id 1 of another token"},
        {"/added_tokens/0/special", "\"yes\"", "added_tokens[0].special must be true or false"},
    };
    expectEachNamed(test::soundTokenizer(), wrongs);
}

TEST(TokenizerMalformed, OtherModels) {
    const json unigram = json::parse(R"({"model": {"type": "Unigram", "unk_id": 0,
        "vocab": [["<unk>", 0], ["a", -1.5], ["ab", -2]]}})");
    expectEachNamed(unigram, {
                                 {"/model/vocab/1", "7", "model.vocab[1] must be a spelling"},
                                 {"/model/vocab/1", "[\"a\"]", "model.vocab[1] must be a spelling"},
                                 {"/model/vocab/1/0", "7", "model.vocab[1] must be a spelling"},
                                 {"/model/vocab/1/1", "\"x\"", "model.vocab[1] must be a spelling"},
                                 {"/model/unk_id", "3", "model.unk_id is 3"},
                                 {"/model/unk_id", "-1", "model.unk_id is -1"},
                                 {"/model/unk_id", "0.5", "model.unk_id must be an integer"},
                             });
    const json words = json::parse(R"({"model": {"type": "WordPiece", "unk_token": "?",
        "vocab": {"?": 0, "a": 1}}})");
    expectEachNamed(words, {
                               {"/model/unk_token", "\"[UNK]\"", "model.unk_token is not in"},
                               {"/model/max_input_chars_per_word", "1000000000",
                                "model.max_input_chars_per_word is 1000000000"},
                               {"/model/max_input_chars_per_word", "-1",
                                "model.max_input_chars_per_word is -1"},
                           });
}

TEST(TokenizerMalformed, StepsBeforeTheModel) {
    const std::vector<Wrong> wrongs = {
        {"/normalizer", "7", "normalizer.type is missing"},
        {"/normalizer", R"({"type":"Rot13"})", "normalizer has the type 'Rot13'"},
        {"/normalizer", R"({"type":"Sequence","normalizers":{}})", "normalizer.normalizers must"},
        {"/normalizer", R"({"type":"Sequence","normalizers":[{"type":"NFC"},{}]})",
         "normalizer.normalizers[1].type is missing"},
        {"/normalizer", R"({"type":"Replace","pattern":{"Regex":"("},"content":"x"})",
         "normalizer.pattern"},
        {"/normalizer", R"({"type":"Replace","pattern":{"Regex":"[z-a]"},"content":"x"})",
         "normalizer.pattern"},
        {"/normalizer", R"({"type":"Replace","pattern":{"String":""},"content":"x"})",
         "normalizer.pattern.String must not be empty"},
        {"/normalizer", R"({"type":"Replace","content":"x"})", "normalizer.pattern"},
        {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"!!!!"})",
         "normalizer.precompiled_charsmap is no base 64"},
        {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"AAAAA"})",
         "normalizer.precompiled_charsmap is no base 64"},
        {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"AA=A"})",
         "normalizer.precompiled_charsmap is no base 64"},
        {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"AAAA"})",
         "the character map is 3 bytes"},
        {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"/////w=="})",
         "states a trie of 4294967295 bytes"},
        {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":"AAAAAA=="})",
         "states a trie of 0 bytes"},
        {"/normalizer", R"({"type":"Precompiled","precompiled_charsmap":[1]})",
         "normalizer.precompiled_charsmap must be a string"},
        {"/pre_tokenizer", R"({"type":"Split","pattern":{"Regex":"(?<n"},"behavior":"Isolated"})",
         "pre_tokenizer.pattern"},
        {"/pre_tokenizer", R"({"type":"Split","pattern":{"Regex":"a{2,1}"},"behavior":"Isolated"})",
         "pre_tokenizer.pattern"},
        {"/pre_tokenizer", R"({"type":"Split","pattern":{"Regex":7},"behavior":"Isolated"})",
         "pre_tokenizer.pattern.Regex must be a string"},
        {"/pre_tokenizer", R"({"type":"Split","pattern":{"String":"x"},"behavior":"Shuffled"})",
         "pre_tokenizer.behavior is 'Shuffled'"},
        {"/pre_tokenizer", R"({"type":"FixedLength","length":0})", "pre_tokenizer.length is 0"},
        {"/pre_tokenizer", R"({"type":"FixedLength","length":-5})", "pre_tokenizer.length is -5"},
        {"/pre_tokenizer", R"({"type":"CharDelimiterSplit","delimiter":""})",
         "pre_tokenizer.delimiter must not be empty"},
        {"/pre_tokenizer", R"({"type":"Metaspace","prepend_scheme":"twice"})",
         "pre_tokenizer.prepend_scheme is 'twice'"},
        {"/pre_tokenizer", R"({"type":"Digits","individual_digits":"yes"})",
         "pre_tokenizer.individual_digits must be true or false"},
    };
    expectEachNamed(test::soundTokenizer(), wrongs);
}

TEST(TokenizerMalformed, StepsBehindTheModel) {
    const std::vector<Wrong> wrongs = {
        {"/decoder", R"({"type":"Rot13"})", "decoder has the type 'Rot13'"},
        {"/decoder", R"({"type":"Strip","content":" ","start":-1,"stop":0})",
         "decoder strips a negative number"},
        {"/decoder", R"({"type":"Strip","content":"","start":1,"stop":0})",
         "decoder.content must not be empty"},
        {"/decoder", R"({"type":"Replace","pattern":{"Regex":"*"},"content":""})",
         "decoder.pattern"},
        {"/decoder", R"({"type":"Metaspace","replacement":""})",
         "decoder.replacement must not be empty"},
        {"/decoder", R"({"type":"Sequence","decoders":7})", "decoder.decoders must be an array"},
        {"/post_processor", R"({"type":"BertProcessing","cls":"a","sep":["b",2]})",
         "post_processor.cls must be a spelling and an id"},
        {"/post_processor", R"({"type":"BertProcessing","cls":["a",7],"sep":["b",2]})",
         "names the token 7 of a vocabulary of 7"},
        {"/post_processor", R"({"type":"BertProcessing","cls":["a",-1],"sep":["b",2]})",
         "names the token -1"},
        {"/post_processor",
         R"({"type":"BertProcessing","cls":["a",9223372036854775808],"sep":["b",2]})",
         "names the token 9223372036854775808"},
        {"/post_processor", R"({"type":"TemplateProcessing","single":"$A"})",
         "post_processor.single must be an array"},
        {"/post_processor",
         R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}]})",
         "names 'x', which special_tokens lacks"},
        // A token that would stand for itself has no ids, and those that it names are bounded.
        {"/post_processor",
         R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}],
             "special_tokens":{"x":{"ids":[{"SpecialToken":{"id":"x"}}]}}})",
         "ids[0] must be an integer"},
        {"/post_processor",
         R"({"type":"TemplateProcessing","single":[{"SpecialToken":{"id":"x"}}],
             "special_tokens":{"x":{"ids":[18446744073709551615]}}})",
         "names the token 18446744073709551615"},
        {"/post_processor",
         R"({"type":"TemplateProcessing","single":[{"Sequence":{"id":"A"}},{"Sequence":{"id":"A"}}]})",
         "uses the text a second time"},
    };
    expectEachNamed(test::soundTokenizer(), wrongs);
    for (const auto& [part, list] :
         {std::pair("normalizer", "normalizers"), std::pair("pre_tokenizer", "pretokenizers"),
          std::pair("post_processor", "processors"), std::pair("decoder", "decoders")}) {
        json nested = {{"type", "Sequence"}, {list, json::array()}};
        for (int depth = 0; depth < 20; ++depth) {
            nested = {{"type", "Sequence"}, {list, json::array({nested})}};
        }
        json document = test::soundTokenizer();
        document[part] = nested;
        EXPECT_NE(troubleWith(document).find("is nested deeper than 8"), std::string::npos) << part;
    }
}

// Holes between ids are what some vocabularies have.
TEST(TokenizerMalformed, HolesAreNoMistake) {
    json document = test::soundTokenizer();
    document["model"]["vocab"]["z"] = 900;
    const auto loaded = text::readJsonTokenizerText(document.dump(), {});
    ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
    EXPECT_EQ((*loaded)->encode("az", {}).value(), (std::vector<TokenId>{1, 900}));
    for (const TokenId hole : {500, 901, 1 << 30, -1}) {
        EXPECT_EQ((*loaded)->decode(std::vector<TokenId>{hole}, false), "") << hole;
    }
}

// Patterns whose search would take longer than the world lasts cut nothing, and lose nothing.
TEST(TokenizerMalformed, PatternsThatNeverEndEnd) {
    for (const char* pattern : {"(a+)+$", "(a|aa)+$", "(.*)*x", "(?:a?){40}a{40}", "(a*)*b", "",
                                "a*", "(?=(a+))a*b\\\\1"}) {
        json document = test::soundTokenizer();
        document["pre_tokenizer"] = {{"type", "Split"},
                                     {"pattern", {{"Regex", pattern}}},
                                     {"behavior", "Isolated"},
                                     {"invert", false}};
        const auto loaded = text::readJsonTokenizerText(document.dump(), {});
        if (!loaded) {
            EXPECT_NE(loaded.error().message.find("pre_tokenizer.pattern"), std::string::npos);
            continue;
        }
        const std::string text = std::string(30'000, 'a') + " b";
        const auto ids = (*loaded)->encode(text, {});
        ASSERT_TRUE(ids.has_value()) << pattern;
        EXPECT_EQ((*loaded)->decode(*ids, false), text) << pattern;
    }
}

}  // namespace
}  // namespace quern::engine
