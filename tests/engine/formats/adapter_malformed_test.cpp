// Adapters that are wrong, or need what is not there: each must give an error that names the field
// or the matrix, and nothing else.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/engine/formats/adapter_files.h"

namespace quern::engine {
namespace {

using test::ascending;
using test::GgufBuilder;
using test::PeftFolder;
using test::queryAdapter;
using test::TempFolder;
using test::tinyLlama;

std::string messageOf(const std::filesystem::path& path, bool isGguf = false) {
    const auto adapter = openAdapter(path, tinyLlama(isGguf));
    return adapter ? "none" : adapter.error().message;
}

// Of sizes and numbers; what they are said of is a matrix of rank 2.
TEST(AdapterMalformed, EachFieldIsNamed) {
    struct Wrong {
        const char* fields;  // beside peft_type
        const char* names;
    };
    const Wrong wrongs[] = {
        {R"("r":0,"lora_alpha":6)", "r is 0; an integer above 0"},
        {R"("r":-2,"lora_alpha":6)", "r is -2; an integer above 0"},
        {R"("r":4.5,"lora_alpha":6)", "r is 4.5; an integer above 0"},
        {R"("r":1e30,"lora_alpha":6)", "r is 1e+30; an integer above 0"},
        {R"("r":9223372036854775808,"lora_alpha":6)", "r is 9223372036854775808; an integer"},
        {R"("r":null,"lora_alpha":6)", "r is missing or no number"},
        {R"("r":"2","lora_alpha":6)", "r is missing or no number"},
        {R"("r":NaN,"lora_alpha":6)", "r is missing or no number"},
        {R"("r":[2],"lora_alpha":6)", "r is missing or no number"},
        {R"("r":3,"lora_alpha":6)", "has rank 2; adapter_config.json says 3"},
        {R"("r":2)", "lora_alpha is missing"},
        {R"("r":2,"lora_alpha":Infinity)", "lora_alpha is missing or no number"},
        {R"("r":2,"lora_alpha":-1e300)", "lora_alpha is no finite number"},
        {R"("r":2,"lora_alpha":6,"rank_pattern":7)", "rank_pattern is no object"},
        {R"("r":2,"lora_alpha":6,"rank_pattern":{"q_proj":0})",
         "rank_pattern has no integer above 0 for 'q_proj'"},
        {R"("r":2,"lora_alpha":6,"rank_pattern":{"q_proj":1.5})",
         "rank_pattern has no integer above 0 for 'q_proj'"},
        {R"("r":2,"lora_alpha":6,"rank_pattern":{"q_proj":"2"})",
         "rank_pattern has no integer above 0 for 'q_proj'"},
        {R"("r":2,"lora_alpha":6,"rank_pattern":{"":2})", "'' is no plain name"},
        {R"("r":2,"lora_alpha":6,"rank_pattern":{"(q|k)_proj":2})", "is no plain name"},
        {R"("r":2,"lora_alpha":6,"alpha_pattern":{"q_proj":-1})",
         "alpha_pattern has no number above 0 for 'q_proj'"},
        {R"("r":2,"lora_alpha":6,"alpha_pattern":{"q_proj":1e300})", "no finite number"},
        {R"("r":2,"lora_alpha":6,"use_rslora":1)", "use_rslora is neither true nor false"},
        {R"("r":2,"lora_alpha":6,"bias":7)", "bias: only 'none'"},
        {R"("r":2,"lora_alpha":6,"modules_to_save":"lm_head")", "modules_to_save"},
    };
    for (const Wrong& wrong : wrongs) {
        PeftFolder folder =
            queryAdapter(R"({"peft_type":"LORA",)" + std::string(wrong.fields) + "}");
        const std::string message = messageOf(folder.write());
        EXPECT_NE(message.find(wrong.names), std::string::npos) << wrong.fields << ": " << message;
        EXPECT_LT(message.size(), 400U) << wrong.fields;
    }
}

// So many that looking at each, for each matrix, would take minutes.
TEST(AdapterMalformed, AWideTableOfPatternsIsNoTrouble) {
    std::string patterns = R"("q_proj":2)";
    for (int i = 0; i < 200'000; ++i) {
        patterns += ",\"m" + std::to_string(i) + "\":3";
    }
    PeftFolder folder = queryAdapter(
        R"({"peft_type":"LORA","r":9,"lora_alpha":6,"rank_pattern":{)" + patterns + "}}");
    EXPECT_EQ(messageOf(folder.write()), "none");
}

TEST(AdapterMalformed, WhatItCannotDoIsRefusedByName) {
    const std::vector<std::pair<std::string, std::string>> cases{
        {R"("use_dora":true)", "use_dora"},
        {R"("modules_to_save":["lm_head"])", "modules_to_save"},
        {R"("bias":"all")", "bias"},
        {R"("lora_bias":true)", "lora_bias"},
        {R"("use_rslora":"yes")", "use_rslora is neither true nor false"},
        {R"("layer_replication":[[0,1]])", "layer_replication"},
        {R"("target_parameters":["x"])", "target_parameters"},
        {R"("alora_invocation_tokens":[1])", "alora_invocation_tokens"},
        {R"("trainable_token_indices":[1])", "trainable_token_indices"},
        {R"("alpha_pattern":{".*q_proj":1})", "'.*q_proj' is no plain name"},
        {R"("rank_pattern":[1])", "rank_pattern is no object"},
        {R"("rank_pattern":{"q_proj":3})", "has rank 2; adapter_config.json says 3"},
    };
    for (const auto& [field, named] : cases) {
        PeftFolder folder =
            queryAdapter(R"({"peft_type":"LORA","r":2,"lora_alpha":6,)" + field + "}");
        const std::string message = messageOf(folder.write());
        EXPECT_NE(message.find(named), std::string::npos) << field << ": " << message;
    }
    for (const auto& [config, named] : std::vector<std::pair<std::string, std::string>>{
             {R"({"peft_type":"LOHA","r":2,"lora_alpha":6})", "peft_type"},
             {R"({"r":2,"lora_alpha":6})", "peft_type"},
             {R"({"peft_type":"LORA","lora_alpha":6})", "r is missing"},
             {R"({"peft_type":"LORA","r":2,"lora_alpha":"6"})", "lora_alpha"},
             {R"({"peft_type":"LORA","r":2,"lora_alpha":1e300})", "lora_alpha"},
             {R"([1])", "is no object"},
             {R"({"peft_type":)", "adapter_config.json"}}) {
        PeftFolder folder = queryAdapter(config);
        const std::string message = messageOf(folder.write());
        EXPECT_NE(message.find(named), std::string::npos) << config << ": " << message;
    }
}

TEST(AdapterMalformed, WrongTensorsAreNamed) {
    const auto expect = [](PeftFolder& folder, const std::string& wanted) {
        const std::string message = messageOf(folder.write());
        EXPECT_NE(message.find(wanted), std::string::npos) << message;
    };
    {
        PeftFolder folder;
        expect(folder, "holds no matrices");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                {2, 8});
        expect(folder, "its B matrix is missing");
    }
    {
        PeftFolder folder;
        folder.tensors()
            .tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight", {2, 8})
            .tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_B.weight", {8, 3});
        expect(folder, "A of shape [2, 8] and B of shape [8, 3] are of different ranks");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                {2, 2, 2});
        expect(folder, "a matrix was expected");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.layers.0.self_attn.q_proj.lora_A.weight",
                                {2, 8}, "I64", 8);
        expect(folder, "dtype I64");
    }
    {
        PeftFolder folder;
        folder.tensors().tensor("base_model.model.model.embed_tokens.lora_embedding_A", {2, 10});
        expect(folder, "adapters of the embedding");
    }
    {
        PeftFolder folder = queryAdapter();
        folder.tensors().tensor("base_model.model.lm_head.weight", {10, 8});
        expect(folder, "neither A nor B");
    }
    {
        PeftFolder folder;
        folder.pair("model.layers.0.self_attn.wrong_proj", 2, 8, 8);
        expect(folder, "'model.layers.0.self_attn.wrong_proj', which the model does not have");
    }
    {
        PeftFolder folder;
        folder.tensors()
            .values("base_model.model.model.layers.0.self_attn.v_proj.lora_A.weight", {1, 2},
                    {1.0F, std::nanf("")})
            .values("base_model.model.model.layers.0.self_attn.v_proj.lora_B.weight", {1, 1},
                    {1.0F});
        test::writeFile(folder.path() / "adapter_config.json",
                        R"({"peft_type":"LORA","r":1,"lora_alpha":6})");
        expect(folder, "numbers that are not finite");
    }
    PeftFolder cut = queryAdapter();
    test::writeFile(cut.path() / "adapter_model.safetensors", cut.tensors().bytes().substr(0, 300));
    EXPECT_NE(messageOf(cut.path()).find("adapter_model.safetensors"), std::string::npos);
    PeftFolder odd;
    odd.pair("model.layers.0.self_attn.q_proj", 2, 8, 7);
    EXPECT_NE(messageOf(odd.write(), true).find("heads have 4 rows"), std::string::npos);
}

TEST(AdapterMalformed, WhatIsNoAdapterIsTold) {
    TempFolder temp;
    EXPECT_NE(messageOf(temp.path() / "nothing").find("no adapter at"), std::string::npos);
    EXPECT_NE(messageOf(temp.path()).find("has no adapter_config.json"), std::string::npos);
    test::writeFile(temp.path() / "adapter_config.json", test::kPeftConfig);
    EXPECT_NE(messageOf(temp.path()).find("has no adapter_model.safetensors"), std::string::npos);
    test::writeFile(temp.path() / "adapter_model.bin", "x");
    EXPECT_NE(messageOf(temp.path()).find("adapter_model.bin is a program"), std::string::npos);
    test::writeFile(temp.path() / "text.gguf", "no GGUF");
    EXPECT_NE(messageOf(temp.path() / "text.gguf").find("magic"), std::string::npos);
}

TEST(AdapterMalformed, WrongGgufKeysAreNamed) {
    const auto build = [](const char* type, const char* kind, const char* architecture) {
        GgufBuilder gguf;
        gguf.string("general.architecture", architecture)
            .string("general.type", type)
            .string("adapter.type", kind)
            .f32("adapter.lora.alpha", 6.0F);
        return gguf;
    };
    TempFolder temp;
    const auto expect = [&](const GgufBuilder& gguf, const std::string& wanted) {
        gguf.write(temp.path() / "a.gguf");
        const std::string message = messageOf(temp.path() / "a.gguf", true);
        EXPECT_NE(message.find(wanted), std::string::npos) << message;
    };
    const auto good = [&](GgufBuilder gguf) {
        gguf.f32Tensor("blk.0.attn_v.weight.lora_a", {8, 2});
        gguf.f32Tensor("blk.0.attn_v.weight.lora_b", {2, 4});
        return gguf;
    };
    expect(good(build("adapter", "lora", "llama")), "none");
    expect(good(build("model", "lora", "llama")), "general.type is 'model'");
    expect(good(build("adapter", "vera", "llama")), "adapter.type is 'vera'");
    expect(good(build("adapter", "lora", "qwen3")),
           "made for architecture 'qwen3'; the model's is 'llama'");
    GgufBuilder extra = good(build("adapter", "lora", "llama"));
    extra.f32Tensor("blk.0.attn_norm.weight", {8});
    expect(extra, "'blk.0.attn_norm.weight' is neither A nor B");
    GgufBuilder infinite = good(GgufBuilder()
                                    .string("general.architecture", "llama")
                                    .string("general.type", "adapter")
                                    .string("adapter.type", "lora")
                                    .f32("adapter.lora.alpha", HUGE_VALF));
    expect(infinite, "adapter.lora.alpha");
    GgufBuilder table = build("adapter", "lora", "llama");
    table.f32Tensor("token_embd.weight.lora_a", {8, 2})
        .f32Tensor("token_embd.weight.lora_b", {2, 10});
    expect(table, "adapters of the embedding");
}

}  // namespace
}  // namespace quern::engine
