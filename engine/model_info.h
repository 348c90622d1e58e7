#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/kernels.h"
#include "kernels/result.h"

namespace quern::engine {

/// What a model gives for its input.
enum class ModelTask : std::uint8_t {
    kGenerate,  // tokens that follow
    kEmbed,     // a vector
    kScore,     // how well a document answers a query
};

/// "generate", "embed", "score".
[[nodiscard]] std::string_view taskName(ModelTask task);

/// How the hidden states of a text's tokens become one row.
enum class Pooling : std::uint8_t { kNone, kMean, kFirst, kLast };
/// "mean", "first", "last"; "none".
[[nodiscard]] std::string_view poolingName(Pooling pooling);
/// By its name, or "cls" for the first token. kInvalidArgument lists them.
[[nodiscard]] Result<Pooling> poolingByName(std::string_view name);

struct TensorSummary {
    std::string name;
    kernels::DType type = kernels::DType::kF32;
    std::vector<std::int64_t> shape;  // outermost first
    std::int64_t bytes = 0;
};

/// Weights of a type that are rewritten in float32 while they are loaded, before anything else.
struct Rewritten {
    kernels::DType from = kernels::DType::kF32;
    std::string why;             // "with scales"
    std::int64_t fileBytes = 0;  // of them in the file …
    std::int64_t bytes = 0;      // … and rewritten, at most
};

/// What one layer puts into the KV cache.
struct CacheLayer {
    std::int64_t elementsPerToken = 0;  // keys and values
    std::int64_t window = 0;            // tokens that must stay; 0: all
    std::int64_t stateFloats = 0;       // of a state kept instead, in float32
};

/// What a model says of itself. Everything here comes from headers: nothing is loaded.
struct ModelInfo {
    std::filesystem::path path;
    std::string name;          // what the file calls itself, or the file's stem
    std::string format;        // "GGUF v3", "Hugging Face folder"
    std::string architecture;  // "llama"
    std::string quantization;  // the type most weight bytes are in: "Q4_1"
    std::string license;
    std::string tokenizer;  // description, or empty
    bool isSupported = false;
    std::string whyNot;  // when not supported
    std::int64_t parameters = 0;
    std::int64_t activeParameters = 0;  // that a token meets: fewer than all with experts
    std::int64_t fileBytes = 0;
    std::int64_t weightBytes = 0;
    std::int64_t contextTokens = 0;  // what it was trained for
    std::int64_t layers = 0;
    std::int64_t hiddenSize = 0;
    std::int64_t vocabSize = 0;
    std::int64_t intermediateSize = 0;    // the widest feed-forward block …
    std::int64_t queryElements = 0;       // … and row of queries; of supported models
    std::vector<CacheLayer> cacheLayers;  // by layer; of supported models
    ModelTask task = ModelTask::kGenerate;
    Pooling pooling = Pooling::kNone;  // of models that embed or score …
    std::int64_t vectorSize = 0;       // … and the elements of what they give
    bool isNormalized = true;          // their vectors have length 1, unless a request differs
    /// Its tokens see each other in both directions: a text is computed in one step, and nothing of
    /// it is kept.
    bool isBidirectional = false;
    std::int64_t tokenTypes = 0;  // kinds of tokens it tells apart, as the texts of a pair
    std::vector<TensorSummary> tensors;
    std::vector<Rewritten> rewritten;                           // of supported models
    std::vector<std::pair<std::string, std::string>> metadata;  // key, value as text (cut if long)
};

/// Whether all tokens of a text must be computed in one step, and none come from a cache.
[[nodiscard]] bool takesWhole(const ModelInfo& info);
/// Makes the info say what the model gives with this pooling. kInvalidArgument for a model whose
/// pooling is not to be chosen, because it scores.
[[nodiscard]] Status choosePooling(Pooling pooling, ModelInfo& info);

/// Reads headers only. kCorrupt names the field; an unknown architecture is not an error here, it
/// gives isSupported = false and why.
[[nodiscard]] Result<ModelInfo> inspectModel(const std::filesystem::path& model);

/// What a model or an adapter at this path is called when nobody names it: "…/llama/" → "llama",
/// "…/Model.Q4_1.gguf" → "Model.Q4_1". Empty for the root folder.
[[nodiscard]] std::string nameOfPath(const std::filesystem::path& path);

/// How a model is to be loaded.
struct LoadOptions {
    std::filesystem::path path;
    std::string name;                // how requests call it; empty: the file's stem
    std::int64_t contextTokens = 0;  // 0: the smaller of the model's and 8192
    std::int64_t kvBytes = 0;        // 0: from free memory less a margin, at most 4 full contexts
    kernels::DType kvType = kernels::DType::kF16;
    kernels::ActivationType activations = kernels::ActivationType::kQ8;
    std::int64_t maxRunning = 64;   // sequences in a step
    std::int64_t stepTokens = 512;  // the token budget of a step
    bool prefixCaching = true;
    std::optional<Pooling> pooling;  // embeds, with this pooling, whatever the model says
    std::int64_t adapterBytes = 0;   // kept free for adapters that are loaded next
};

/// Whether the model can be loaded so, by its headers: kUnsupported, or kInvalidArgument that names
/// the value that cannot be and what could. Memory is another question: estimateFit.
[[nodiscard]] Status checkLoadOptions(const ModelInfo& info, const LoadOptions& options);

struct FitItem {
    std::string name;  // "weights", "KV cache", "scratch", "tokenizer", "adapters", "margin"
    std::int64_t bytes = 0;
};

enum class Fit : std::uint8_t { kFits, kTight, kDoesNotFit };

/// Bytes of the KV cache that one sequence of that length takes, in whole blocks; layers with a
/// window hold their window and one step, layers with a state a few states. Saturates instead of
/// overflowing.
[[nodiscard]] std::int64_t kvBytesOfContext(const ModelInfo& info, const LoadOptions& options,
                                            std::int64_t contextTokens);

/// What loading will take, itemized, against what is free now.
struct FitEstimate {
    std::vector<FitItem> items;
    std::int64_t totalBytes = 0;
    std::int64_t freeBytes = 0;
    std::int64_t contextTokens = 0;
    std::int64_t kvTokens = 0;  // tokens the whole KV cache holds, over all sequences
    Fit fit = Fit::kFits;
    std::string advice;  // the lever that changes it, when it does not fit or is tight
};
/// From headers alone, before anything is loaded. kUnsupported for a model that is not supported,
/// kInvalidArgument for a context beyond the model's. kTight: fits, but eats into the margin.
[[nodiscard]] Result<FitEstimate> estimateFit(const ModelInfo& info, const LoadOptions& options,
                                              std::int64_t freeBytes);

}  // namespace quern::engine
