#include "engine/formats/hf_parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

namespace quern::engine {
namespace {

using Scaling = RopeSpec::Scaling;

// A config of that model type with these fields besides the sizes.
Result<Hyperparameters> read(const std::string& modelType, const std::string& fields) {
    const std::string text = R"({"vocab_size":32,"hidden_size":64,"num_hidden_layers":6,
        "num_attention_heads":4,"num_key_value_heads":2,"intermediate_size":96,
        "max_position_embeddings":256)" +
                             std::string(fields.empty() ? "" : ",") + fields + "}";
    auto json = parseJson(text, "config.json");
    if (!json) {
        return forward(json);
    }
    return readHfParameters(*json, *architectureOfModelType(modelType), modelType, 100);
}

Hyperparameters mustRead(const std::string& modelType, const std::string& fields) {
    auto parameters = read(modelType, fields);
    EXPECT_TRUE(parameters.has_value())
        << modelType << " " << fields << ": " << (parameters ? "" : parameters.error().message);
    return parameters ? *parameters : Hyperparameters{};
}

std::string describe(const RopeSpec& rope) {
    std::string text =
        std::to_string(rope.rotaryDim) + " " + std::to_string(rope.theta) + " " +
        std::to_string(static_cast<int>(rope.scaling)) + " " + std::to_string(rope.factor) + " " +
        std::to_string(rope.originalContext) + " " + std::to_string(rope.lowFreqFactor) + " " +
        std::to_string(rope.highFreqFactor) + " " + std::to_string(rope.betaFast) + " " +
        std::to_string(rope.yarnTruncate) + " " + std::to_string(rope.attentionFactor.value_or(-1));
    for (const double factor : rope.factors) {
        text += " " + std::to_string(factor);
    }
    for (const double factor : rope.longFactors) {
        text += " l" + std::to_string(factor);
    }
    return text;
}

TEST(HfParameters, BothStylesOfRopeMeanTheSame) {
    struct Style {
        const char* modelType;
        const char* version4;
        const char* version5;
    };
    const Style styles[] = {
        {"llama", R"("rope_theta":500000.0)",
         R"("rope_parameters":{"rope_theta":500000.0,"rope_type":"default"})"},
        {"llama", R"("rope_theta":1e4,"rope_scaling":null)",
         R"("rope_parameters":{"rope_theta":1e4})"},
        {"llama", R"("rope_scaling":{"type":"linear","factor":2.0})",
         R"("rope_parameters":{"rope_type":"linear","factor":2.0})"},
        {"llama", R"("rope_theta":1e6,"rope_scaling":{"type":"dynamic","factor":4.0})",
         R"("rope_parameters":{"rope_theta":1e6,"rope_type":"dynamic","factor":4.0})"},
        {"llama",
         R"("rope_theta":5e5,"rope_scaling":{"rope_type":"llama3","factor":8.0,
            "low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":64})",
         R"("rope_parameters":{"rope_theta":5e5,"rope_type":"llama3","factor":8.0,
            "low_freq_factor":1.0,"high_freq_factor":4.0,"original_max_position_embeddings":64})"},
        {"qwen2",
         R"("rope_theta":1e6,"rope_scaling":{"type":"yarn","factor":4.0,
            "original_max_position_embeddings":64})",
         R"("rope_parameters":{"rope_theta":1e6,"rope_type":"yarn","factor":4.0,
            "original_max_position_embeddings":64})"},
        {"gpt_neox", R"("rotary_pct":0.5,"rotary_emb_base":20000)",
         R"("rope_parameters":{"partial_rotary_factor":0.5,"rope_theta":20000,"rope_type":"default"})"},
        {"gemma3_text",
         R"("rope_theta":1e6,"rope_local_base_freq":1e4,
            "rope_scaling":{"rope_type":"linear","factor":8.0})",
         R"("rope_parameters":{"full_attention":{"rope_type":"linear","factor":8.0,"rope_theta":1e6},
            "sliding_attention":{"rope_type":"default","rope_theta":1e4}})"},
    };
    for (const Style& style : styles) {
        const Hyperparameters old = mustRead(style.modelType, style.version4);
        const Hyperparameters current = mustRead(style.modelType, style.version5);
        EXPECT_EQ(describe(old.rope), describe(current.rope)) << style.version5;
        ASSERT_EQ(old.localRope.has_value(), current.localRope.has_value()) << style.version5;
        if (old.localRope) {
            EXPECT_EQ(describe(*old.localRope), describe(*current.localRope));
            EXPECT_EQ(old.localRope->scaling, Scaling::kNone);
            EXPECT_EQ(old.localRope->theta, 1e4);
        }
    }
}

TEST(HfParameters, LongRopeTakesItsRatioFromTheContexts) {
    const Hyperparameters parameters =
        mustRead("phi3", R"("original_max_position_embeddings":64,"rope_scaling":{"type":"su",
            "short_factor":[1,1,1,1,1,1,1,1],"long_factor":[2,2,2,2,2,2,2,2]})");
    EXPECT_EQ(parameters.rope.scaling, Scaling::kLongRope);
    EXPECT_EQ(parameters.rope.factor, 4.0);
    EXPECT_EQ(parameters.rope.originalContext, 64);
    EXPECT_EQ(parameters.rope.factors.size(), 8U);
    EXPECT_EQ(parameters.rope.longFactors.back(), 2.0);
}

TEST(HfParameters, WindowsByRuleListAndPattern) {
    using Windows = std::vector<std::int64_t>;
    EXPECT_EQ(mustRead("gemma3_text", R"("sliding_window":8)").window, (Windows{8, 8, 8, 8, 8, 0}));
    EXPECT_EQ(mustRead("gemma3_text", R"("sliding_window":8,"sliding_window_pattern":3)").window,
              (Windows{8, 8, 0, 8, 8, 0}));
    EXPECT_EQ(mustRead("gemma2", R"("sliding_window":8)").window, (Windows{8, 0, 8, 0, 8, 0}));
    EXPECT_EQ(mustRead("cohere2", R"("sliding_window":8)").window, (Windows{8, 8, 8, 0, 8, 8}));
    EXPECT_EQ(mustRead("exaone4", R"("sliding_window":8,"sliding_window_pattern":"LLG")").window,
              (Windows{8, 8, 0, 8, 8, 0}));
    EXPECT_EQ(mustRead("exaone4", R"("sliding_window":null)").window, (Windows{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(mustRead("mistral", R"("sliding_window":8)").window, (Windows{8, 8, 8, 8, 8, 8}));
    EXPECT_EQ(mustRead("mistral", R"("sliding_window":null)").window, (Windows{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(mustRead("llama", R"("sliding_window":null)").window, (Windows{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(mustRead("qwen2", R"("sliding_window":8,"use_sliding_window":false,
                                   "max_window_layers":2)")
                  .window,
              (Windows{0, 0, 0, 0, 0, 0}));
    EXPECT_EQ(mustRead("qwen2", R"("sliding_window":8,"use_sliding_window":true,
                                   "max_window_layers":4)")
                  .window,
              (Windows{0, 0, 0, 0, 8, 8}));
    EXPECT_EQ(mustRead("gemma3_text", R"("sliding_window":8,"layer_types":["full_attention",
        "sliding_attention","full_attention","full_attention","full_attention","full_attention"])")
                  .window,
              (Windows{0, 8, 0, 0, 0, 0}));
}

TEST(HfParameters, LayersWithoutPositions) {
    using Flags = std::vector<bool>;
    EXPECT_EQ(mustRead("smollm3", "").hasRope, (Flags{true, true, true, false, true, true}));
    EXPECT_EQ(mustRead("smollm3", R"("no_rope_layers":[1,0,1,0,1,1])").hasRope,
              (Flags{true, false, true, false, true, true}));
    EXPECT_EQ(mustRead("smollm3", R"("no_rope_layer_interval":2)").hasRope,
              (Flags{true, false, true, false, true, false}));
    EXPECT_EQ(mustRead("cohere2", R"("sliding_window":8)").hasRope,
              (Flags{true, true, true, false, true, true}));
    EXPECT_EQ(mustRead("exaone4", R"("sliding_window":null)").hasRope, Flags(6, true));
}

TEST(HfParameters, ScalesAndSoftcaps) {
    const Hyperparameters granite =
        mustRead("granite", R"("embedding_multiplier":12.0,"residual_multiplier":0.22,
                      "attention_multiplier":0.0625,"logits_scaling":8.0)");
    EXPECT_EQ(granite.embeddingScale, 12.0);
    EXPECT_EQ(granite.residualScale, 0.22);
    EXPECT_EQ(granite.attentionScale, 0.0625);
    EXPECT_EQ(granite.logitScale, 0.125);
    const Hyperparameters gemma =
        mustRead("gemma2", R"("query_pre_attn_scalar":144,"head_dim":32)");
    EXPECT_EQ(gemma.attentionScale, 1.0 / 12);
    EXPECT_EQ(gemma.embeddingScale, 8.0);
    EXPECT_EQ(gemma.attentionSoftcap, 50.0F);
    EXPECT_EQ(mustRead("gemma2", R"("attn_logit_softcapping":null)").attentionSoftcap, 0.0F);
    EXPECT_EQ(mustRead("gemma", R"("hidden_act":"gelu","hidden_activation":null)").activation,
              kernels::Activation::kGeluTanh);
    EXPECT_EQ(mustRead("gpt_neox", R"("hidden_act":"gelu")").activation,
              kernels::Activation::kGelu);
    EXPECT_EQ(mustRead("gemma3_text", "").keyDim, 256);
    EXPECT_EQ(mustRead("llama", "").keyDim, 16);
}

TEST(HfParameters, WhatIsLeftOutIsTheDefaultOfTheClass) {
    EXPECT_EQ(mustRead("phi3", "").normEps, 1e-5F);
    EXPECT_EQ(mustRead("llama", "").normEps, 1e-6F);
    const Hyperparameters starcoder = mustRead("starcoder2", "");
    EXPECT_EQ(starcoder.activation, kernels::Activation::kGeluTanh);
    EXPECT_EQ(starcoder.isHeadTied, true);
    EXPECT_EQ(mustRead("cohere", "").rope.theta, 500000.0);
    EXPECT_EQ(mustRead("glm4", "").keyDim, 128);
    EXPECT_EQ(mustRead("qwen3_moe", "").experts.count, 128);
    EXPECT_FALSE(mustRead("llama", "").isHeadTied.has_value()) << "tied where there is no head";
    EXPECT_EQ(mustRead("qwen2", "").window.back(), 0) << "its window is not used";
    EXPECT_EQ(mustRead("mistral", "").window.back(), 4096);
    EXPECT_EQ(mustRead("mistral", R"("sliding_window":null)").window.back(), 0);
}

TEST(HfParameters, ActivationsByTheClasssOwnReading) {
    using kernels::Activation;
    EXPECT_EQ(mustRead("gemma2", R"("hidden_activation":"gelu")").activation, Activation::kGelu);
    EXPECT_EQ(mustRead("gemma", R"("hidden_act":"gelu")").activation, Activation::kGeluTanh);
    const auto state = mustRead("qwen3_next", R"("hidden_act":"gelu")").state;
    EXPECT_EQ(std::get<DeltaNetSpec>(state).activation, Activation::kGelu);
}

TEST(HfParameters, WindowsOfQwensAndSmolLm3) {
    using Windows = std::vector<std::int64_t>;
    const std::string uses = R"("sliding_window":8,"use_sliding_window":true)";
    EXPECT_EQ(mustRead("qwen3_moe", uses).window, Windows(6, 8));
    EXPECT_EQ(mustRead("qwen2_moe", uses + R"(,"max_window_layers":4)").window,
              (Windows{8, 0, 8, 0, 0, 0}));
    EXPECT_EQ(mustRead("smollm3", uses).window, (Windows{0, 0, 0, 8, 0, 0}));
    const Hyperparameters cohere = mustRead("cohere2", R"("sliding_window":8,
        "layer_types":["full_attention","full_attention","full_attention","full_attention",
                       "full_attention","full_attention"])");
    EXPECT_EQ(cohere.hasRope, std::vector<bool>(6, false)) << "only layers with a window turn";
}

TEST(HfParameters, RopesAsTheReferenceReadsThem) {
    const Hyperparameters dynamic =
        mustRead("llama", R"("rope_scaling":{"type":"dynamic","factor":2,
                    "original_max_position_embeddings":64})");
    EXPECT_EQ(dynamic.rope.originalContext, 256) << "dynamic scaling knows no other context";
    const Hyperparameters given =
        mustRead("phi3", R"("original_max_position_embeddings":64,"rope_scaling":{"type":"longrope",
                   "factor":2,"original_max_position_embeddings":128,
                   "short_factor":[1,1,1,1,1,1,1,1],"long_factor":[2,2,2,2,2,2,2,2]})");
    EXPECT_EQ(given.rope.factor, 2.0) << "a factor that is given counts before the contexts' ratio";
    EXPECT_EQ(given.rope.originalContext, 64) << "the context outside counts first";
    EXPECT_TRUE(mustRead("gpt_oss", R"("rope_scaling":{"rope_type":"yarn","factor":4,
                         "original_max_position_embeddings":64})")
                    .rope.yarnTruncate);
    for (const char* unsaid : {"", R"("rope_scaling":null)"}) {
        const RopeSpec scaled = mustRead("gpt_oss", unsaid).rope;
        EXPECT_EQ(scaled.scaling, RopeSpec::Scaling::kYarn) << "its class scales by itself";
        EXPECT_EQ(scaled.factor, 32.0);
        EXPECT_EQ(scaled.originalContext, 4096);
        EXPECT_EQ(scaled.theta, 150000.0);
        EXPECT_FALSE(scaled.yarnTruncate);
    }
}

TEST(HfParameters, RefusesAndNames) {
    struct Wrong {
        const char* modelType;
        const char* fields;
        const char* names;
        ErrorCode code;
    };
    const Wrong wrongs[] = {
        {"llama", R"("hidden_size":"big")", "hidden_size", ErrorCode::kCorrupt},
        {"llama", R"("hidden_size":64.5)", "hidden_size", ErrorCode::kCorrupt},
        {"llama", R"("hidden_size":Infinity)", "hidden_size", ErrorCode::kCorrupt},
        {"llama", R"("hidden_size":null)", "hidden_size", ErrorCode::kCorrupt},
        {"llama", R"("num_hidden_layers":0)", "num_hidden_layers", ErrorCode::kCorrupt},
        {"llama", R"("num_hidden_layers":1000000)", "num_hidden_layers", ErrorCode::kCorrupt},
        {"llama", R"("num_hidden_layers":-1)", "num_hidden_layers", ErrorCode::kCorrupt},
        {"llama", R"("hidden_act":"quick_gelu")", "quick_gelu", ErrorCode::kUnsupported},
        {"llama", R"("rope_scaling":{"type":"spiral","factor":2})", "spiral",
         ErrorCode::kUnsupported},
        {"llama", R"("rope_scaling":7)", "rope", ErrorCode::kCorrupt},
        {"llama", R"("rope_parameters":{"rope_theta":"x"})", "rope_theta", ErrorCode::kCorrupt},
        {"llama", R"("rope_parameters":{"partial_rotary_factor":0})", "partial_rotary_factor",
         ErrorCode::kCorrupt},
        {"phi3", R"("rope_scaling":{"type":"longrope"})", "short_factor", ErrorCode::kCorrupt},
        {"gemma3_text", R"("layer_types":["full_attention"])", "layer_types", ErrorCode::kCorrupt},
        {"gemma3_text", R"("layer_types":7)", "layer_types", ErrorCode::kCorrupt},
        {"gemma3_text", R"("layer_types":["conv","conv","conv","conv","conv","conv"])",
         "layer_types", ErrorCode::kUnsupported},
        {"smollm3", R"("no_rope_layers":[1])", "no_rope_layers", ErrorCode::kCorrupt},
        {"llama", R"("tie_word_embeddings":"yes")", "tie_word_embeddings", ErrorCode::kCorrupt},
        {"llama", R"("quantization_config":{"quant_method":"awq"})", "quantization_config",
         ErrorCode::kUnsupported},
        {"falcon", R"("alibi":true)", "alibi", ErrorCode::kUnsupported},
        {"gemma3_text", R"("use_bidirectional_attention":true)", "use_bidirectional_attention",
         ErrorCode::kUnsupported},
        {"bert", R"("is_decoder":true)", "is_decoder", ErrorCode::kUnsupported},
        {"olmoe", R"("clip_qkv":8.0)", "clip_qkv", ErrorCode::kUnsupported},
    };
    for (const Wrong& wrong : wrongs) {
        const auto parameters = read(wrong.modelType, wrong.fields);
        ASSERT_FALSE(parameters.has_value()) << wrong.fields;
        EXPECT_EQ(parameters.error().code, wrong.code) << wrong.fields;
        EXPECT_NE(parameters.error().message.find(wrong.names), std::string::npos)
            << wrong.fields << ": " << parameters.error().message;
    }
}

std::string describe(const Hyperparameters& parameters) {
    const ExpertsSpec& e = parameters.experts;
    std::string text =
        std::to_string(e.used) + " of " + std::to_string(e.count) + " × " +
        std::to_string(e.intermediate) + ", gating " + std::to_string(static_cast<int>(e.gating)) +
        (e.normalizes ? " norm" : "") + ", groups " + std::to_string(e.groupsUsed) + "/" +
        std::to_string(e.groups) + (e.ranksGroupsByTwo ? " by two" : "") + ", shared " +
        std::to_string(e.sharedIntermediate) + (e.hasSharedGate ? " gated" : "") + ", layers ";
    for (const bool has : parameters.hasExperts) {
        text += has ? "x" : ".";
    }
    return text;
}

TEST(HfParameters, ExpertsOfEachFamily) {
    struct Case {
        const char* modelType;
        const char* fields;
        const char* wanted;
    };
    const Case cases[] = {
        {"mixtral", "", "2 of 8 × 96, gating 0 norm, groups 1/1, shared 0, layers xxxxxx"},
        {"mixtral", R"("num_local_experts":4,"num_experts_per_tok":3)",
         "3 of 4 × 96, gating 0 norm, groups 1/1, shared 0, layers xxxxxx"},
        {"qwen2_moe", R"("num_experts":8,"moe_intermediate_size":32,"decoder_sparse_step":2,
            "mlp_only_layers":[3],"shared_expert_intermediate_size":48,"norm_topk_prob":false)",
         "4 of 8 × 32, gating 0, groups 1/1, shared 48 gated, layers .x...x"},
        {"qwen3_moe", R"("num_local_experts":8,"num_experts_per_tok":2,"norm_topk_prob":true)",
         "2 of 8 × 768, gating 0 norm, groups 1/1, shared 0, layers xxxxxx"},
        {"qwen3_moe", R"("num_experts":16,"moe_intermediate_size":24)",
         "8 of 16 × 24, gating 0, groups 1/1, shared 0, layers xxxxxx"},
        {"gpt_oss", "", "4 of 128 × 96, gating 2, groups 1/1, shared 0, layers xxxxxx"},
        {"deepseek_v2", R"("topk_method":"greedy","n_group":4,"topk_group":2,
            "num_experts_per_tok":6,"first_k_dense_replace":1)",
         "6 of 64 × 1407, gating 0, groups 1/1, shared 2814, layers .xxxxx"},
        {"deepseek_v2", R"("topk_method":"group_limited_greedy","n_group":4,"topk_group":2,
            "num_experts_per_tok":6,"n_shared_experts":null)",
         "6 of 64 × 1407, gating 0, groups 2/4, shared 0, layers xxxxxx"},
        {"deepseek_v2", R"("topk_method":"greedy","num_experts_per_tok":6,"norm_topk_prob":true)",
         "6 of 64 × 1407, gating 0, groups 1/1, shared 2814, layers xxxxxx"},
        {"granitemoeshared", R"("shared_intermediate_size":24)",
         "2 of 8 × 96, gating 0 norm, groups 1/1, shared 24, layers xxxxxx"},
        {"ernie4_5_moe", R"("moe_layer_end_index":4,"moe_layer_interval":2)",
         "6 of 64 × 1536, gating 0 norm, groups 1/1, shared 3072, layers .x.x.."},
        {"lfm2_moe", "",
         "4 of 32 × 1792, gating 1 norm, groups 1/1 by two, shared 0, layers ..xxxx"},
        {"olmoe", "", "8 of 64 × 96, gating 0, groups 1/1, shared 0, layers xxxxxx"},
        {"glm4_moe", "",
         "8 of 128 × 1408, gating 1 norm, groups 1/1 by two, shared 1408, "
         "layers .xxxxx"},
        {"deepseek_v3", "",
         "8 of 256 × 2048, gating 1 norm, groups 4/8 by two, shared 2048, "
         "layers ...xxx"},
    };
    for (const Case& c : cases) {
        EXPECT_EQ(describe(mustRead(c.modelType, c.fields)), c.wanted) << c.fields;
    }
    EXPECT_TRUE(mustRead("llama", R"("num_local_experts":0)").hasExperts.empty());
}

TEST(HfParameters, RefusesWhatNoExpertsCanBe) {
    const auto refusal = [](const char* fields) {
        const auto parameters = read("qwen2_moe", fields);
        return parameters ? std::string("nothing") : parameters.error().message;
    };
    EXPECT_EQ(refusal(R"("decoder_sparse_step":0)"),
              "config.json: decoder_sparse_step is 0 and moe_layer_freq is 1; each must be at "
              "least 1");
    EXPECT_EQ(refusal(R"("scoring_func":"argmax")"),
              "config.json: scoring_func is 'argmax'; softmax and sigmoid are supported");
    EXPECT_EQ(refusal(R"("topk_method":"random")"),
              "config.json: topk_method is 'random'; greedy, group_limited_greedy and noaux_tc "
              "are supported");
    EXPECT_EQ(refusal(R"("mlp_only_layers":3)"), "config.json: mlp_only_layers is no list");
}

}  // namespace
}  // namespace quern::engine
