#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/engine/text/sound_tokenizer.h"
#include "tests/engine/text/tokenizer_fixtures.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

using nlohmann::json;
using Ids = std::vector<TokenId>;
using test::encode;

/// A folder that is gone after the test.
class TokenizerJson : public testing::Test {
protected:
    TokenizerJson() {
        m_folder = std::filesystem::temp_directory_path() /
                   ("quern_tokenizer_" + std::to_string(std::random_device{}()));
        std::filesystem::create_directories(m_folder);
    }
    ~TokenizerJson() override { std::filesystem::remove_all(m_folder); }

    void write(const std::string& name, const std::string& content) const {
        std::ofstream(m_folder / name, std::ios::binary) << content;
    }
    [[nodiscard]] Result<std::shared_ptr<const Tokenizer>> load(const json& document) const {
        write("tokenizer.json", document.dump());
        return loadTokenizer(m_folder);
    }
    /// Loading must fail with the code and name `what`.
    void expectError(const json& document, ErrorCode code, const std::string& what) const {
        const auto tokenizer = load(document);
        ASSERT_FALSE(tokenizer) << what;
        EXPECT_EQ(tokenizer.error().code, code) << tokenizer.error().message;
        EXPECT_NE(tokenizer.error().message.find(what), std::string::npos)
            << what << " in: " << tokenizer.error().message;
    }

    std::filesystem::path m_folder;
};

TEST_F(TokenizerJson, ReadsASoundFile) {
    const auto tokenizer = load(quern::test::soundTokenizer());
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(encode(**tokenizer, "abb bxa"), (Ids{4, 5, 2, 0, 1}));
    EXPECT_EQ(encode(**tokenizer, "a<s>b", {.parseSpecial = true}), (Ids{1, 6, 2}));
    EXPECT_EQ(encode(**tokenizer, "<s>"), (Ids{0, 0, 0}));
    EXPECT_EQ((*tokenizer)->decode(Ids{4, 6, 2}, true), "abbb");
    EXPECT_TRUE(loadTokenizer(m_folder / "tokenizer.json"));
}

TEST_F(TokenizerJson, NamesTheFieldThatIsWrong) {
    const auto broken = [](const std::string& pointer, const json& value) {
        json document = quern::test::soundTokenizer();
        document[json::json_pointer(pointer)] = value;
        return document;
    };
    const auto corrupt = [&](const std::string& pointer, const json& value,
                             const std::string& what) {
        SCOPED_TRACE(pointer);
        expectError(broken(pointer, value), ErrorCode::kCorrupt, what);
    };
    const auto unsupported = [&](const std::string& pointer, const json& value,
                                 const std::string& what) {
        SCOPED_TRACE(pointer);
        expectError(broken(pointer, value), ErrorCode::kUnsupported, what);
    };
    corrupt("/model", 5, "model");
    corrupt("/model/vocab", json::array(), "model.vocab");
    corrupt("/model/vocab/a", "x", "model.vocab");
    corrupt("/model/vocab/a", -1, "model.vocab");
    corrupt("/model/vocab/a", 4000000000LL, "4000000000");
    corrupt("/model/vocab/a", 2, "id 2 twice");
    corrupt("/model/merges", 1, "model.merges");
    corrupt("/model/merges/1", "ab", "model.merges[1]");
    corrupt("/model/merges/1", json::array({"a", 1}), "model.merges[1]");
    corrupt("/model/merges/1", "b a", "model.merges[1]");
    corrupt("/model/unk_token", "nope", "model.unk_token");
    corrupt("/model/ignore_merges", "yes", "model.ignore_merges");
    corrupt("/added_tokens", 3, "added_tokens");
    corrupt("/added_tokens/0/id", 1LL << 40, "added_tokens[0]");
    corrupt("/added_tokens/0/id", 1, "added_tokens[0]");
    corrupt("/added_tokens/0/content", 7, "added_tokens[0].content");
    corrupt("/normalizer", json{{"type", "Replace"}}, "normalizer.pattern");
    corrupt("/normalizer", json{{"type", "Precompiled"}, {"precompiled_charsmap", "////"}},
            "normalizer.precompiled_charsmap");
    corrupt("/post_processor", json{{"type", "BertProcessing"}, {"cls", 1}}, "post_processor.cls");
    corrupt("/post_processor",
            json{{"type", "RobertaProcessing"}, {"cls", {"a", 99}}, {"sep", {"a", 1}}}, "99");
    corrupt("/post_processor", json::parse(R"({"type": "TemplateProcessing", "special_tokens": {},
                            "single": [{"SpecialToken": {"id": "[X]"}}]})"),
            "[X]");
    corrupt("/decoder", json{{"type", "Strip"}, {"content", " "}, {"start", -1}}, "decoder");
    unsupported("/model/type", "Neural", "Neural");
    unsupported("/normalizer", json{{"type", "Sparkle"}}, "Sparkle");
    unsupported("/pre_tokenizer", json{{"type", "UnicodeScripts"}}, "UnicodeScripts");
    unsupported("/pre_tokenizer", json::parse(R"j({"type": "Split", "pattern": {"Regex": "("}})j"),
                "'('");
    unsupported("/post_processor", json{{"type", "Stamp"}}, "Stamp");
    unsupported("/decoder", json{{"type", "CTC"}}, "CTC");
    unsupported("/decoder", json::parse(R"({"type": "Sequence", "decoders": [{"type": "Fuse"},
                                            {"type": "Metaspace"}]})"),
                "Fuse");
}

TEST_F(TokenizerJson, RefusesUnigramsThatDoNotFit) {
    json document = quern::test::soundTokenizer();
    document["model"] =
        json::parse(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0]]})");
    document["added_tokens"] = json::array();
    ASSERT_TRUE(load(document));
    document["model"]["unk_id"] = 9;
    expectError(document, ErrorCode::kCorrupt, "model.unk_id");
    document["model"]["unk_id"] = 0;
    document["model"]["vocab"][0] = json::array({"<unk>"});
    expectError(document, ErrorCode::kCorrupt, "model.vocab[0]");
}

TEST_F(TokenizerJson, RefusesEndlessSequences) {
    json inner = {{"type", "NFC"}};
    for (int depth = 0; depth < 20; ++depth) {
        inner = json{{"type", "Sequence"}, {"normalizers", json::array({inner})}};
    }
    json document = quern::test::soundTokenizer();
    document["normalizer"] = inner;
    expectError(document, ErrorCode::kUnsupported, "nested");
}

TEST_F(TokenizerJson, RefusesWhatIsNoJson) {
    for (const char* content :
         {"", "{", "[]", "nul", "{\"model\": \"\xFF\"}", "{\"a\":1} trailing"}) {
        write("tokenizer.json", content);
        const auto tokenizer = loadTokenizer(m_folder);
        ASSERT_FALSE(tokenizer) << content;
        EXPECT_EQ(tokenizer.error().code, ErrorCode::kCorrupt);
    }
}

TEST_F(TokenizerJson, SurvivesFilesThatAreCutOrChanged) {
    QUERN_GOLDEN_OR_SKIP(root, "tokenizers-hf");
    std::mt19937 random(11);
    for (const auto& entry : std::filesystem::directory_iterator(root)) {
        const std::string whole = quern::test::readFile(entry.path() / "tokenizer.json");
        for (int round = 0; round < 6; ++round) {
            std::string changed = whole;
            if (round == 0) {
                changed.resize(random() % whole.size());
            }
            for (int i = 0; i < 3; ++i) {
                changed[random() % changed.size()] = static_cast<char>(32 + random() % 95);
            }
            write("tokenizer.json", changed);
            if (const auto tokenizer = loadTokenizer(m_folder)) {
                EXPECT_TRUE((*tokenizer)->encode("Hello, world! é 3", {}).has_value() ||
                            !(*tokenizer)->special().unknown);
            }
        }
    }
}

TEST_F(TokenizerJson, FindsSpecialTokensInTheFolder) {
    json document = quern::test::soundTokenizer();
    document["added_tokens"].push_back({{"id", 7}, {"content", "</s>"}, {"special", true}});
    document["added_tokens"].push_back({{"id", 8}, {"content", "<|im_end|>"}, {"special", true}});
    document["added_tokens"].push_back({{"id", 9}, {"content", "<extra>"}, {"special", true}});
    write("tokenizer_config.json",
          R"({"bos_token": {"content": "<s>"}, "eos_token": "</s>", "pad_token": null})");
    write("generation_config.json", R"({"eos_token_id": [9, 7, 500], "pad_token_id": 7})");
    const auto tokenizer = load(document);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ((*tokenizer)->special().bos, 6);
    EXPECT_EQ((*tokenizer)->special().eos, 7);
    EXPECT_EQ((*tokenizer)->special().padding, 7);
    EXPECT_EQ((*tokenizer)->special().unknown, 0);
    EXPECT_EQ((*tokenizer)->special().endOfGeneration, (Ids{9, 7, 8}));
}

TEST_F(TokenizerJson, HonoursAddedTokenFlags) {
    json document = quern::test::soundTokenizer();
    document["added_tokens"] = json::parse(R"([
        {"id": 6, "content": "ba", "single_word": true, "normalized": false},
        {"id": 7, "content": "<l>", "lstrip": true, "normalized": false},
        {"id": 8, "content": "<r>", "rstrip": true, "normalized": false}])");
    const auto tokenizer = load(document);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(encode(**tokenizer, "a ba b"), (Ids{1, 5, 6, 5, 2}));
    EXPECT_EQ(encode(**tokenizer, "aba"), (Ids{3, 1}));
    EXPECT_EQ(encode(**tokenizer, "a  <l> b"), (Ids{1, 7, 5, 2}));
    EXPECT_EQ(encode(**tokenizer, "a <r>  b"), (Ids{1, 5, 8, 2}));
}

TEST_F(TokenizerJson, FindsTokensInTheSpaceThatAnotherTakes) {
    json document = quern::test::soundTokenizer();
    document["added_tokens"] = json::parse(R"([
        {"id": 6, "content": "  ", "rstrip": true, "normalized": false},
        {"id": 7, "content": "<r>", "rstrip": true, "normalized": false}])");
    const auto tokenizer = load(document);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(encode(**tokenizer, "a    b"), (Ids{1, 6, 6, 2}));
    EXPECT_EQ(encode(**tokenizer, "<r>  b"), (Ids{7, 6, 2}));
    EXPECT_EQ(encode(**tokenizer, "<r> b"), (Ids{7, 2}));
    // One that takes the space at both sides has nothing left.
    document["added_tokens"][0]["lstrip"] = true;
    const auto both = load(document);
    ASSERT_TRUE(both) << both.error().message;
    EXPECT_EQ(encode(**both, "a    b"), (Ids{1, 6, 2}));
}

TEST_F(TokenizerJson, MergesWhatStandsBesideALeftOutCharacter) {
    json document = quern::test::soundTokenizer();
    document["model"].erase("unk_token");
    document["model"]["vocab"] = {{"\u2581", 0}, {"\u2581\u2581", 1}, {"a", 2}};
    document["model"]["merges"] = {"\u2581 \u2581"};
    document["added_tokens"] = json::array();
    const auto tokenizer = load(document);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    EXPECT_EQ(encode(**tokenizer, "\u2581x\u2581a"), (Ids{1, 2}));
}

TEST_F(TokenizerJson, DecodesMarksOfWordsAndPieces) {
    json document = quern::test::soundTokenizer();
    document["model"]["vocab"] = {{"?", 0}, {"a</w>", 1}, {"b", 2}, {" ", 3}, {"\u00e9", 4}};
    document["model"]["merges"] = json::array();
    document["added_tokens"] = json::array();
    document["decoder"] = {{"type", "BPEDecoder"}, {"suffix", "</w>"}};
    const auto words = load(document);
    ASSERT_TRUE(words) << words.error().message;
    EXPECT_EQ((*words)->decode(Ids{1, 2, 1}, false), "a ba");
    EXPECT_EQ((*words)->decode(Ids{1, 2, 3}, false), "a b ");
    document["decoder"] = {{"type", "WordPiece"}, {"prefix", ""}, {"cleanup", false}};
    const auto pieces = load(document);
    ASSERT_TRUE(pieces) << pieces.error().message;
    EXPECT_EQ((*pieces)->decode(Ids{2, 2}, false), "bb");
    // An added token is decoded like every other.
    document["added_tokens"] = {{{"id", 4}, {"content", "\u00e9"}}};
    document["decoder"] = {{"type", "ByteLevel"}};
    const auto bytes = load(document);
    ASSERT_TRUE(bytes) << bytes.error().message;
    EXPECT_EQ((*bytes)->decode(Ids{4}, false), "\xE9");
}

TEST_F(TokenizerJson, AddsTheTemplatesTokensOnce) {
    json document = quern::test::soundTokenizer();
    document["post_processor"] = json::parse(R"({"type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": "<s>"}}, {"Sequence": {"id": "A"}},
                   {"SpecialToken": {"id": "?"}}],
        "special_tokens": {"<s>": {"ids": [6]}, "?": {"ids": [0]}}})");
    const auto tokenizer = load(document);
    ASSERT_TRUE(tokenizer) << tokenizer.error().message;
    const EncodeOptions both{.addSpecial = true, .parseSpecial = true};
    EXPECT_EQ(encode(**tokenizer, "a", both), (Ids{6, 1, 0}));
    EXPECT_EQ(encode(**tokenizer, "<s>a", both), (Ids{6, 1, 0}));
}

}  // namespace
}  // namespace quern::engine
