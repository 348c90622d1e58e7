// config.json files that are wrong, beside tensors that are right: each must give an error that
// names the field or what of the model it makes wrong, and nothing else.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "engine/formats/hf_parameters.h"
#include "engine/formats/model_source.h"
#include "engine/model/forward.h"
#include "tests/support/gguf_builder.h"
#include "tests/support/safetensors_builder.h"
#include "tests/support/temp_folder.h"

namespace quern::engine {
namespace {

// The members of a right config, as texts. Hidden size 8, two heads of 4 that share one.
using Members = std::map<std::string, std::string>;

Members rightConfig() {
    return {{"model_type", "\"llama\""},  {"vocab_size", "8"},
            {"hidden_size", "8"},         {"num_hidden_layers", "2"},
            {"num_attention_heads", "2"}, {"num_key_value_heads", "1"},
            {"intermediate_size", "12"},  {"max_position_embeddings", "64"},
            {"rms_norm_eps", "1e-5"},     {"tie_word_embeddings", "false"}};
}

std::string textOf(const Members& members) {
    std::string text;
    for (const auto& [name, value] : members) {
        text += (text.empty() ? "{\"" : ",\"") + name + "\":" + value;
    }
    return text + "}";
}

// A folder with the tensors of the right config.
class Folder {
public:
    Folder() {
        test::writeFile(m_folder.path() / "model.safetensors",
                        test::llamaTensors(2, 8, 12, 8, 4).bytes());
    }
    // What is said of it, from its header to its forward pass; empty when nothing is wrong.
    [[nodiscard]] std::string trouble(const std::string& config) const {
        test::writeFile(m_folder.path() / "config.json", config);
        const auto model = openModel(m_folder.path());
        if (!model) {
            EXPECT_NE(model.error().code, ErrorCode::kInternal) << config;
            return model.error().message;
        }
        const auto pass = buildForward(model->spec, *model->tensors);
        return pass ? "" : pass.error().message;
    }

private:
    test::TempFolder m_folder;
};

struct Wrong {
    const char* field;
    const char* value;  // null: left out
    const char* names;
};

TEST(ConfigMalformed, EachNamesItsField) {
    const Wrong wrongs[] = {
        {"model_type", nullptr, "model_type is missing"},
        {"model_type", "7", "model_type"},
        {"model_type", "\"unheard-of\"", "unheard-of"},
        {"vocab_size", nullptr, "vocab_size is missing"},
        {"vocab_size", "-1", "vocabulary size is -1"},
        {"vocab_size", "0", "vocabulary size is 0"},
        {"vocab_size", "1e15", "vocabulary size"},
        {"vocab_size", "1e300", "vocab_size"},
        {"vocab_size", "9223372036854775808", "vocab_size"},
        {"vocab_size", "NaN", "vocab_size"},
        {"vocab_size", "\"8\"", "vocab_size is no number"},
        {"vocab_size", "9", "'token_embd.weight' has shape [8, 8]"},
        {"hidden_size", nullptr, "hidden_size is missing"},
        {"hidden_size", "-8", "hidden size is -8"},
        {"hidden_size", "0", "hidden size is 0"},
        {"hidden_size", "8.5", "hidden_size is 8.5"},
        {"hidden_size", "-Infinity", "hidden_size is -inf"},
        {"hidden_size", "[8]", "hidden_size is no number"},
        {"hidden_size", "4611686018427387904", "hidden_size"},
        {"hidden_size", "16", "has shape"},
        {"num_hidden_layers", nullptr, "num_hidden_layers is missing"},
        {"num_hidden_layers", "-1", "num_hidden_layers is -1"},
        {"num_hidden_layers", "0", "num_hidden_layers is 0"},
        {"num_hidden_layers", "1000000000", "num_hidden_layers is 1000000000"},
        {"num_hidden_layers", "1.5", "num_hidden_layers is 1.5"},
        {"num_hidden_layers", "\"2\"", "num_hidden_layers is no number"},
        {"num_hidden_layers", "3", "blk.2."},
        {"num_hidden_layers", "1", "'blk.1."},
        {"num_attention_heads", nullptr, "num_attention_heads is missing"},
        {"num_attention_heads", "0", "head count is 0"},
        {"num_attention_heads", "-2", "head count is -2"},
        {"num_attention_heads", "1000000000000", "head count is 1000000000000"},
        {"num_attention_heads", "3", "attn_q.weight' has shape [8, 8]"},
        {"num_key_value_heads", "0", "key/value head count is 0"},
        {"num_key_value_heads", "-1", "key/value head count is -1"},
        {"num_key_value_heads", "\"one\"", "num_key_value_heads is no number"},
        {"num_key_value_heads", "2", "attn_k.weight' has shape [4, 8]"},
        {"num_key_value_heads", "3", "3 key/value heads"},
        {"head_dim", "0", "key length is 0"},
        {"head_dim", "-4", "key length is -4"},
        {"head_dim", "5", "rotary dimension 5"},
        {"head_dim", "1e14", "key length"},
        {"head_dim", "1048576", "rotary dimension is 1048576"},
        {"intermediate_size", "0", "feed-forward length is 0"},
        {"intermediate_size", "-12", "feed-forward length is -12"},
        {"intermediate_size", "1e14", "feed-forward length"},
        {"intermediate_size", "true", "intermediate_size is no number"},
        {"intermediate_size", "13", "has shape [12, 8]"},
        {"max_position_embeddings", nullptr, "max_position_embeddings is missing"},
        {"max_position_embeddings", "0", "context length is 0"},
        {"max_position_embeddings", "-5", "context length is -5"},
        {"max_position_embeddings", "1e12", "context length is 1000000000000"},
        {"max_position_embeddings", "{}", "max_position_embeddings is no number"},
        {"rms_norm_eps", "0", "rms_norm_eps is 0"},
        {"rms_norm_eps", "-1e-6", "rms_norm_eps is -0.000001"},
        {"rms_norm_eps", "1", "rms_norm_eps is 1"},
        {"rms_norm_eps", "1e30", "rms_norm_eps is 1"},
        {"rms_norm_eps", "NaN", "rms_norm_eps"},
        {"rms_norm_eps", "Infinity", "rms_norm_eps"},
        {"rms_norm_eps", "\"1e-6\"", "rms_norm_eps is no number"},
        {"rms_norm_eps", "1e-60", "epsilon is 0"},
        {"rope_theta", "0", "theta 0"},
        {"rope_theta", "-10000", "theta -10000"},
        {"rope_theta", "1", "theta 1"},
        {"rope_theta", "1e39", "theta"},
        {"rope_theta", "NaN", "rope_theta"},
        {"rope_theta", "[]", "rope_theta"},
        {"partial_rotary_factor", "0", "partial_rotary_factor is 0"},
        {"partial_rotary_factor", "-0.5", "partial_rotary_factor is -0.5"},
        {"partial_rotary_factor", "1.5", "partial_rotary_factor is 1.5"},
        {"partial_rotary_factor", "0.3", "rotary dimension 1"},
        {"rope_scaling", "7", "rope scaling is no object"},
        {"rope_scaling", "[]", "rope scaling is no object"},
        {"rope_scaling", R"({"type":"spiral"})", "'spiral'"},
        {"rope_scaling", R"({"type":7})", "type is no string"},
        {"rope_scaling", R"({"type":"linear"})", "linear without factor"},
        {"rope_scaling", R"({"type":"linear","factor":0})", "factor 0"},
        {"rope_scaling", R"({"type":"linear","factor":-2})", "factor -2"},
        {"rope_scaling", R"({"type":"linear","factor":NaN})", "factor is nan"},
        {"rope_scaling", R"({"type":"linear","factor":"2"})", "factor is no number"},
        {"rope_scaling", R"({"type":"dynamic"})", "dynamic without factor"},
        {"rope_scaling", R"({"type":"dynamic","factor":1e300})", "rope:"},
        {"rope_scaling", R"({"rope_type":"llama3","factor":8})", "llama3 without low_freq_factor"},
        {"rope_scaling",
         R"({"rope_type":"llama3","factor":8,"low_freq_factor":4,"high_freq_factor":1})",
         "high frequency factor 1"},
        {"rope_scaling",
         R"({"rope_type":"llama3","factor":8,"low_freq_factor":1,"high_freq_factor":4,
             "original_max_position_embeddings":0})",
         "original context"},
        {"rope_scaling", R"({"rope_type":"yarn","factor":-4})", "factor -4"},
        {"rope_scaling", R"({"rope_type":"yarn","factor":4,"original_max_position_embeddings":-1})",
         "original context"},
        {"rope_scaling", R"({"rope_type":"yarn","factor":4,"attention_factor":Infinity})",
         "attention_factor is inf"},
        {"rope_scaling", R"({"type":"longrope"})", "short_factor"},
        {"rope_scaling", R"({"type":"longrope","short_factor":[1],"long_factor":[1,1]})",
         "1 frequency factors"},
        {"rope_scaling", R"({"type":"longrope","short_factor":[1,0],"long_factor":[1,1]})",
         "not positive"},
        {"rope_scaling", R"({"type":"longrope","short_factor":[1,"x"],"long_factor":[1,1]})",
         "short_factor is no number"},
        {"rope_scaling", R"({"type":"longrope","short_factor":{},"long_factor":[1,1]})",
         "short_factor is no list"},
        {"layer_types", R"(["full_attention"])", "layer_types is no list of 2"},
        {"layer_types", R"(["full_attention","full_attention","full_attention"])",
         "layer_types is no list of 2"},
        {"layer_types", R"({"0":"full_attention"})", "layer_types is no list of 2"},
        {"layer_types", R"(["full_attention","sideways"])", "layer_types: layer 1"},
        {"layer_types", R"(["full_attention",1])", "layer_types: layer 1"},
        {"sliding_window", "\"8\"", "sliding_window is no number"},
        {"tie_word_embeddings", "\"no\"", "tie_word_embeddings"},
        {"hidden_act", "7", "hidden_act is no string"},
        {"hidden_act", "\"quick\"", "'quick'"},
        {"attention_multiplier", "0", "attention scale is 0"},
        {"query_pre_attn_scalar", "0", "attention scale is inf"},
        {"query_pre_attn_scalar", "-64", "attention scale is"},
        {"attn_logit_softcapping", "-50", "attention softcap is -50"},
        {"final_logit_softcapping", "-30", "logit softcap is -30"},
        {"final_logit_softcapping", "1e60", "logit softcap is inf"},
        {"embedding_multiplier", "0", "embedding scale is 0"},
        {"embedding_multiplier", "1e60", "embedding scale is inf"},
        {"residual_multiplier", "NaN", "residual_multiplier is nan"},
        {"logits_scaling", "0", "logit scale is inf"},
        {"quantization_config", R"({"quant_method":"awq"})", "quantization_config"},
        {"quantization_config", R"({"quant_method":7})", "quantization_config"},
    };
    const Folder folder;
    ASSERT_EQ(folder.trouble(textOf(rightConfig())), "");
    for (const Wrong& wrong : wrongs) {
        Members members = rightConfig();
        members.erase(wrong.field);
        if (wrong.value != nullptr) {
            members.emplace(wrong.field, wrong.value);
        }
        const std::string trouble = folder.trouble(textOf(members));
        const std::string at =
            std::string(wrong.field) + " " + (wrong.value != nullptr ? wrong.value : "left out");
        EXPECT_NE(trouble.find(wrong.names), std::string::npos) << at << ": " << trouble;
        EXPECT_LT(trouble.size(), 400U) << at;
    }
}

TEST(ConfigMalformed, WhatIsNoConfigIsTold) {
    const Folder folder;
    EXPECT_NE(folder.trouble("").find("config.json is empty"), std::string::npos);
    for (const std::string config : {"{", "{\"a\":}", "\xEF\xBB", "{\"a\":1e999}"}) {
        const std::string trouble = folder.trouble(config);
        EXPECT_NE(trouble.find("config.json is not JSON"), std::string::npos) << trouble;
    }
    for (const std::string config : {"[]", "7", "null", "NaN"}) {
        EXPECT_EQ(folder.trouble(config), "config.json is no object");
    }
    EXPECT_EQ(folder.trouble("{}"), "config.json: model_type is missing");
    EXPECT_NE(folder.trouble("{\"a\":" + std::string(100, '[')).find("nested deeper"),
              std::string::npos);
}

// What the parts of models with experts, and of those with a state, must be to each other.
TEST(ConfigMalformed, ExpertsAndStatesAreNamed) {
    struct Part {
        const char* modelType;
        const char* fields;
        const char* names;
    };
    const Part parts[] = {
        {"mixtral", R"("num_local_experts":4,"num_experts_per_tok":5)", "5 of 4"},
        {"mixtral", R"("num_local_experts":4,"num_experts_per_tok":0)", "0 of 4"},
        {"mixtral", R"("num_local_experts":-4)", "expert count is -4"},
        {"mixtral", R"("num_local_experts":1e9)", "expert count is 1000000000"},
        {"mixtral", R"("num_local_experts":"8")", "num_local_experts is no number"},
        {"mixtral", R"("num_experts_per_tok":null)", "num_experts_per_tok is missing"},
        {"qwen3_moe", R"("num_experts":8,"moe_intermediate_size":0)",
         "expert feed-forward length is 0"},
        {"qwen3_moe", R"("num_experts":8,"moe_intermediate_size":1e12)",
         "expert feed-forward length"},
        {"qwen2_moe", R"("num_experts":8,"shared_expert_intermediate_size":-1)",
         "shared expert feed-forward length is -1"},
        {"qwen2_moe", R"("mlp_only_layers":{"0":1})", "mlp_only_layers is no list"},
        {"deepseek_v3", R"("n_group":3)", "3 groups do not divide 256"},
        {"deepseek_v3", R"("n_group":8,"topk_group":9)", "9 of 8"},
        {"deepseek_v3", R"("n_group":8,"topk_group":1,"num_experts_per_tok":64)", "64 experts"},
        {"deepseek_v3", R"("n_shared_experts":-1)", "n_shared_experts is -1"},
        {"deepseek_v3", R"("routed_scaling_factor":Infinity)", "routed_scaling_factor is inf"},
        {"deepseek_v3", R"("kv_lora_rank":-1)", "rank of keys and values is -1"},
        {"deepseek_v3", R"("qk_rope_head_dim":-2)", "with positions is -2"},
        {"deepseek_v3", R"("v_head_dim":1e9)", "value length is 1000000000"},
        {"gpt_oss", R"("swiglu_limit":-7)", "limit of the gated unit"},
        {"lfm2", R"("full_attn_idxs":[1],"conv_L_cache":0)", "0"},
        {"lfm2", R"("conv_L_cache":"3")", "conv_L_cache is no number"},
        {"lfm2", R"("full_attn_idxs":7)", "full_attn_idxs is no list"},
        {"lfm2", R"("block_multiple_of":0)", "block_multiple_of"},
        {"mamba2", R"("state_size":-1)", "-1"},
        {"mamba2", R"("time_step_limit":[1])", "time_step_limit"},
        {"mamba2", R"("conv_kernel":1e9)", "1000000000"},
        {"qwen3_next", R"("linear_num_key_heads":0)", "0"},
        {"qwen3_next", R"("linear_value_head_dim":null)", "linear_value_head_dim"},
    };
    for (const Part& part : parts) {
        const Architecture* architecture = architectureOfModelType(part.modelType);
        ASSERT_NE(architecture, nullptr) << part.modelType;
        auto config = parseJson(R"({"vocab_size":32,"hidden_size":64,"num_hidden_layers":2,
            "num_attention_heads":4,"intermediate_size":96,"max_position_embeddings":64,
            "num_heads":4,"head_dim":16,"state_size":8,"n_groups":1,"conv_kernel":4,
            "conv_L_cache":3,"linear_conv_kernel_dim":4,"linear_num_key_heads":2,
            "linear_num_value_heads":4,"linear_key_head_dim":8,"linear_value_head_dim":8)" +
                                    std::string(",") + part.fields + "}",
                                "config.json");
        ASSERT_TRUE(config.has_value()) << part.fields << ": " << config.error().message;
        const auto parameters = readHfParameters(*config, *architecture, part.modelType, 100);
        std::string trouble = parameters ? "" : parameters.error().message;
        if (parameters) {
            const auto spec = makeSpec(*architecture, *parameters, TensorTable());
            trouble = spec ? "" : spec.error().message;
        }
        EXPECT_NE(trouble.find(part.names), std::string::npos)
            << part.modelType << " " << part.fields << ": " << trouble;
    }
}

}  // namespace
}  // namespace quern::engine
