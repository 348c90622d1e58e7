// Models that read a text in both directions.
#include <array>

#include "engine/formats/architecture.h"

namespace quern::engine {

namespace {

using kernels::Activation;
using kernels::NormKind;
using Names = std::string_view;

constexpr BlockNorms kOfSum{.hasPre = false, .hasPost = true, .isPostOfSum = true};

constexpr std::array kBertNames{NameRule{"attention.self.query", "attn_q"},
                                NameRule{"attention.self.key", "attn_k"},
                                NameRule{"attention.self.value", "attn_v"},
                                NameRule{"attention.output.dense", "attn_output"},
                                NameRule{"attention.output.LayerNorm", "post_attention_norm"},
                                NameRule{"intermediate.dense", "ffn_up"},
                                NameRule{"output.dense", "ffn_down"},
                                NameRule{"output.LayerNorm", "post_ffw_norm"}};
constexpr std::array kBertOuterNames{NameRule{"embeddings.word_embeddings", "token_embd"},
                                     NameRule{"embeddings.position_embeddings", "position_embd"},
                                     NameRule{"embeddings.token_type_embeddings", "token_types"},
                                     NameRule{"embeddings.LayerNorm", "token_embd_norm"},
                                     NameRule{"pooler.dense", "cls"},
                                     NameRule{"classifier", "cls.output"},
                                     NameRule{"classifier.dense", "cls"},
                                     NameRule{"classifier.out_proj", "cls.output"}};
constexpr std::array kBertGgufNames{NameRule{"attn_output_norm", "post_attention_norm"},
                                    NameRule{"layer_output_norm", "post_ffw_norm"}};

constexpr std::array kModernBertNames{
    NameRule{"attn.Wqkv", "attn_qkv"},  NameRule{"attn.Wo", "attn_output"},
    NameRule{"mlp.Wi", "ffn_gate_up"},  NameRule{"mlp.Wo", "ffn_down"},
    NameRule{"attn_norm", "attn_norm"}, NameRule{"mlp_norm", "ffn_norm"}};
constexpr std::array kModernBertOuterNames{NameRule{"embeddings.tok_embeddings", "token_embd"},
                                           NameRule{"embeddings.norm", "token_embd_norm"},
                                           NameRule{"final_norm", "output_norm"},
                                           NameRule{"head.dense", "cls"},
                                           NameRule{"head.norm", "cls.norm"},
                                           NameRule{"classifier", "cls.output"}};

constexpr std::array kNomicNames{
    NameRule{"attn.Wqkv", "attn_qkv"}, NameRule{"attn.out_proj", "attn_output"},
    NameRule{"mlp.fc11", "ffn_up"},    NameRule{"mlp.fc12", "ffn_gate"},
    NameRule{"mlp.fc2", "ffn_down"},   NameRule{"norm1", "post_attention_norm"},
    NameRule{"norm2", "post_ffw_norm"}};
constexpr std::array kNomicOuterNames{NameRule{"embeddings.word_embeddings", "token_embd"},
                                      NameRule{"embeddings.token_type_embeddings", "token_types"},
                                      NameRule{"emb_ln", "token_embd_norm"}};

constexpr std::array<Names, 1> kBertTypes{"bert"};
constexpr std::array<Names, 3> kRobertaTypes{"xlm-roberta", "roberta", "camembert"};
constexpr std::array<Names, 1> kModernBertTypes{"modernbert"};
constexpr std::array<Names, 1> kNomicTypes{"nomic_bert"};

constexpr std::array kModernBertDefaults{ConfigDefault{"global_attn_every_n_layers", 3}};
constexpr std::array kNomicDefaults{ConfigDefault{"layer_norm_epsilon", 1e-12}};

constexpr Architecture kBert{.gguf = "bert",
                             .modelTypes = kBertTypes,
                             .norm = NormKind::kLayer,
                             .activation = Activation::kGelu,
                             .isGated = false,
                             .attentionNorms = kOfSum,
                             .mlpNorms = kOfSum,
                             .hasPositionEmbedding = true,
                             .hfNames = kBertNames,
                             .ggufNames = kBertGgufNames,
                             .isBidirectional = true,
                             .hasTokenTypes = true,
                             .hasEmbeddingNorm = true,
                             .hasOutputNorm = false,
                             .hfOuterNames = kBertOuterNames};

// Positions begin behind that of padding; GGUF files of these say bert and have the rows before cut
// off.
constexpr Architecture roberta() {
    Architecture row = kBert;
    row.modelTypes = kRobertaTypes;
    row.countsPositionsFromPad = true;
    return row;
}

constexpr std::array kEncoders{
    kBert,
    roberta(),
    Architecture{.gguf = "modern-bert",
                 .modelTypes = kModernBertTypes,
                 .norm = NormKind::kLayer,
                 .activation = Activation::kGelu,
                 .windows = Windows::kAllButFirst,
                 .windowPattern = 3,
                 .hasLocalTheta = true,
                 .hfNames = kModernBertNames,
                 .defaults = kModernBertDefaults,
                 .isBidirectional = true,
                 .hasEmbeddingNorm = true,
                 .skipsFirstNorm = true,
                 .scoreActivation = Activation::kGelu,
                 .hfOuterNames = kModernBertOuterNames},
    Architecture{.gguf = "nomic-bert",
                 .modelTypes = kNomicTypes,
                 .norm = NormKind::kLayer,
                 .attentionNorms = kOfSum,
                 .mlpNorms = kOfSum,
                 .hfNames = kNomicNames,
                 .ggufNames = kBertGgufNames,
                 .defaults = kNomicDefaults,
                 .isBidirectional = true,
                 .hasTokenTypes = true,
                 .hasEmbeddingNorm = true,
                 .hasOutputNorm = false,
                 .hfOuterNames = kNomicOuterNames},
};

}  // namespace

std::span<const Architecture> encoderArchitectures() {
    return kEncoders;
}

}  // namespace quern::engine
