#include "engine/core/model_defaults.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

TEST(ModelDefaults, ComeFromAFoldersGenerationConfig) {
    const test::TempFolder folder;
    ModelInfo info;
    info.path = folder.path();
    EXPECT_EQ(recommendedSampling(info).temperature, 1.0F) << "no file";
    const auto write = [&](const char* text) {
        std::ofstream(folder.path() / "generation_config.json") << text;
    };
    write(R"({"temperature": 0.6, "top_p": 0.95, "top_k": 20, "repetition_penalty": 1.05,
              "do_sample": true, "eos_token_id": [1, 2]})");
    const SamplingParams sampling = recommendedSampling(info);
    EXPECT_FLOAT_EQ(sampling.temperature, 0.6F);
    EXPECT_FLOAT_EQ(sampling.topP, 0.95F);
    EXPECT_EQ(sampling.topK, 20);
    EXPECT_FLOAT_EQ(sampling.repetitionPenalty, 1.05F);
    write(R"({"temperature": -3, "top_p": "much", "top_k": 1e300})");
    EXPECT_EQ(recommendedSampling(info).temperature, 1.0F) << "out of range";
    EXPECT_EQ(recommendedSampling(info).topP, 1.0F);
    EXPECT_EQ(recommendedSampling(info).topK, 0);
    for (const char* broken : {"", "[1, 2]", "{", "null", "\"x\""}) {
        write(broken);
        EXPECT_EQ(recommendedSampling(info).temperature, 1.0F) << broken;
    }
}

TEST(ModelDefaults, ComeFromAGgufFilesKeys) {
    ModelInfo info;
    info.path = "model.gguf";
    info.metadata = {{"general.name", "x"},
                     {"general.sampling.temp", "0.7"},
                     {"general.sampling.top_k", "40"},
                     {"general.sampling.min_p", "often"}};
    const SamplingParams sampling = recommendedSampling(info);
    EXPECT_FLOAT_EQ(sampling.temperature, 0.7F);
    EXPECT_EQ(sampling.topK, 40);
    EXPECT_EQ(sampling.minP, 0.0F);
}

}  // namespace
}  // namespace quern::engine
