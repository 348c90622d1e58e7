// What encoders' files say: poolings, heads, names.
#include <gtest/gtest.h>

#include "engine/formats/model_source.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/golden.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// A copy of a golden encoder's folder, to be changed by a test.
class EncoderFolder {
public:
    explicit EncoderFolder(const fs::path& golden) {
        for (const char* file : {"config.json", "model.safetensors"}) {
            fs::copy_file(golden / file, m_folder.path() / file);
        }
        fs::permissions(m_folder.path() / "config.json", fs::perms::owner_all);
        fs::permissions(m_folder.path() / "model.safetensors", fs::perms::owner_all);
    }
    [[nodiscard]] const fs::path& path() const { return m_folder.path(); }
    void write(const std::string& file, const std::string& text) const {
        fs::create_directories((path() / file).parent_path());
        test::writeFile(path() / file, text);
    }
    /// modules.json with one module more than Transformer, and the config of pooling.
    void writeModules(const std::string& types, const std::string& pooling) const {
        ordered_json modules = ordered_json::parse(types);
        write("modules.json", modules.dump());
        write("1_Pooling/config.json", pooling);
    }

private:
    test::TempFolder m_folder;
};

constexpr const char* kPooled = R"([
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"}])";
constexpr const char* kNormalized = R"([
    {"path": "", "type": "sentence_transformers.models.Transformer"},
    {"path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}])";

TEST(Encoders, WithoutAWordTakeTheMean) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const auto info = inspectModel(golden);
    ASSERT_TRUE(info.has_value()) << info.error().message;
    EXPECT_TRUE(info->isSupported);
    EXPECT_TRUE(info->isBidirectional);
    EXPECT_EQ(info->task, ModelTask::kEmbed);
    EXPECT_EQ(info->pooling, Pooling::kMean);
    EXPECT_EQ(info->vectorSize, 64);
    EXPECT_EQ(info->tokenTypes, 2);
    EXPECT_TRUE(info->isNormalized);
    EXPECT_EQ(info->cacheLayers.size(), 1U);  // one layer's, which all share
}

TEST(Encoders, PositionsBehindPaddingAreNoContext) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/xlm-roberta");
    const auto source = openModel(golden);
    ASSERT_TRUE(source.has_value()) << source.error().message;
    EXPECT_EQ(source->spec.positionOffset, 2);
    EXPECT_EQ(source->spec.contextTokens, 256);
}

TEST(Encoders, TakeThePoolingThatIsWrittenBesideThem) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const struct {
        const char* modules;
        const char* config;
        Pooling pooling;
        bool isNormalized;
    } kCases[] = {
        {kPooled, R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false})",
         Pooling::kFirst, false},
        {kNormalized, R"({"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true})",
         Pooling::kMean, true},
        {kPooled, R"({"pooling_mode_mean_tokens": false, "pooling_mode_lasttoken": true})",
         Pooling::kLast, false},
    };
    for (const auto& c : kCases) {
        const EncoderFolder folder(golden);
        folder.writeModules(c.modules, c.config);
        folder.write("sentence_bert_config.json", R"({"max_seq_length": 100})");
        const auto info = inspectModel(folder.path());
        ASSERT_TRUE(info.has_value()) << info.error().message;
        EXPECT_EQ(info->pooling, c.pooling);
        EXPECT_EQ(info->isNormalized, c.isNormalized);
        EXPECT_EQ(info->contextTokens, 100);
    }
}

TEST(Encoders, RefuseWhatWouldGiveOtherVectors) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const auto whyNot = [&](const char* modules, const char* pooling) {
        const EncoderFolder folder(golden);
        folder.writeModules(modules, pooling);
        const auto source = openModel(folder.path());
        return source ? std::string("no error") : source.error().message;
    };
    EXPECT_EQ(whyNot(kPooled, R"({"pooling_mode_max_tokens": true})"),
              "the pooling's config.json: pooling_mode_max_tokens is not supported; the first "
              "token, the last one and the mean are");
    EXPECT_EQ(
        whyNot(kPooled, R"({"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": true})"),
        "the pooling's config.json: pooling_mode_mean_tokens beside another one is not "
        "supported; the first token, the last one and the mean are");
    EXPECT_EQ(
        whyNot(R"([{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}])", "{}"),
        "modules.json: a module of type 'sentence_transformers.models.Dense' is not "
        "supported; Transformer, Pooling and Normalize are");
    EXPECT_EQ(whyNot(R"([{"path": "../1_Pooling", "type": "models.Pooling"}])", "{}"),
              "modules.json: '../1_Pooling' is no folder of the model");
    EXPECT_EQ(whyNot(R"({})", "{}"), "modules.json is no list");
}

TEST(Encoders, ReadNamesOfEveryCheckpoint) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    // As a model that was trained to fill gaps has it, with TensorFlow's names of norms.
    const EncoderFolder folder(golden);
    test::SafetensorsBuilder builder;
    builder.copyOf(golden / "model.safetensors");
    std::string bytes = builder.bytes();
    const auto replaceAll = [&](const std::string& from, const std::string& to) {
        for (auto at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at + 1)) {
            bytes.replace(at, from.size(), to);
        }
    };
    // Names of the same length, for the header says how long it is.
    replaceAll("embeddings.LayerNorm.weight\"", "embeddings.LayerNorm.gamma\" ");
    replaceAll("embeddings.LayerNorm.bias\"", "embeddings.LayerNorm.beta\"");
    replaceAll("pooler.dense.weight\"", "cls.predictions.wx\" ");
    folder.write("model.safetensors", bytes);
    const auto source = openModel(folder.path());
    ASSERT_TRUE(source.has_value()) << source.error().message;
    EXPECT_TRUE(source->tensors->find("token_embd_norm.weight").has_value());
    EXPECT_TRUE(source->tensors->find("token_embd_norm.bias").has_value());
    EXPECT_FALSE(source->tensors->find("cls.weight").has_value());
}

TEST(Encoders, AClassifierWithoutItsHeadIsRefused) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const EncoderFolder folder(golden);
    auto config = test::readJson(golden / "config.json");
    config["architectures"] = {"BertForSequenceClassification"};
    folder.write("config.json", config.dump());
    const auto source = openModel(folder.path());
    ASSERT_FALSE(source.has_value());
    EXPECT_EQ(source.error().message,
              "tensor 'cls.output.weight', which gives the scores, is missing");
}

TEST(Encoders, OtherPositionsThanLearnedOnesAreRefused) {
    QUERN_GOLDEN_OR_SKIP(golden, "models/bert");
    const EncoderFolder folder(golden);
    auto config = test::readJson(golden / "config.json");
    config["position_embedding_type"] = "relative_key";
    folder.write("config.json", config.dump());
    const auto source = openModel(folder.path());
    ASSERT_FALSE(source.has_value());
    EXPECT_EQ(source.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(source.error().message.find("relative_key"), std::string::npos);
}

TEST(Poolings, HaveNames) {
    for (const Pooling pooling : {Pooling::kMean, Pooling::kFirst, Pooling::kLast}) {
        EXPECT_EQ(poolingByName(poolingName(pooling)).value(), pooling);
    }
    EXPECT_EQ(poolingByName("cls").value(), Pooling::kFirst);
    for (const char* name : {"none", "max", ""}) {
        const auto pooling = poolingByName(name);
        ASSERT_FALSE(pooling.has_value());
        EXPECT_EQ(pooling.error().field, "pooling");
    }
}

}  // namespace
}  // namespace quern::engine
