#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/model/model_spec.h"
#include "kernels/ops.h"

namespace quern::engine {

/// A tensor's name in a Hugging Face folder and its canonical one, both without what stands around
/// them: "input_layernorm" → "attn_norm".
struct NameRule {
    std::string_view from;
    std::string_view to;
};

/// A value that a Hugging Face config.json leaves out and its class has not either (those that it
/// has: class_defaults.h).
struct ConfigDefault {
    std::string_view key;
    double value = 0;
};

enum class QkNorm : std::uint8_t {
    kNone,
    kHeads,      // one weight for all heads
    kWholeRow,   // over all heads together
    kIfPresent,  // by head, where the model has the tensors
};

/// How query, key and value rows lie in a fused Hugging Face tensor.
enum class FusedQkv : std::uint8_t {
    kBlocks,    // all of q, all of k, all of v
    kHeads,     // for each head: its q, k, v (GPT-NeoX)
    kKvGroups,  // for each key/value head: its queries, k, v (Falcon)
};

/// Which layers see a window, where the file has a window and does not say which.
enum class Windows : std::uint8_t {
    kNone,         // the window is ignored
    kAll,          // every layer
    kAllButLast,   // of each group of `pattern` layers all but the last …
    kAllButFirst,  // … or all but the first
    kFromLayer,    // folders only: those from max_window_layers on (Qwen 2) …
    kOddBefore,    // … or the first, third, … before it (Qwen 2 MoE)
    kWithoutRope,  // folders only: those without positions (SmolLM 3)
};

/// What layers without attention have in its place (see StateSpec).
enum class StateKind : std::uint8_t { kNone, kShortConv, kMamba2, kDeltaNet };

/// Layers of experts, in architectures that may have them, where a file does not say.
struct ExpertRules {
    bool isAllowed = false;
    kernels::Gating gating = kernels::Gating::kSoftmax;
    bool normalizes = false;  // in a GGUF file
    /// In a folder, whatever its config says; absent: what it says.
    std::optional<bool> hfNormalizes{};
    bool hasInterval =
        false;  // readers of a GGUF file expect how far layers with experts are apart
    /// gpt-oss: its gated unit's limit, and Hugging Face matrices that are [in, out] with gate and
    /// up in turns.
    float gluLimit = 0.0F;
    bool isInterleaved = false;
};

/// An architecture as data: what its files do not say, or say in their own way. What a file does
/// say (sizes, windows, scales) is read into Hyperparameters.
struct Architecture {
    std::string_view gguf;                         // general.architecture …
    bool isFolderOnly = false;                     // … of files that are not read and written yet
    std::span<const std::string_view> modelTypes;  // model_type of config.json

    kernels::NormKind norm = kernels::NormKind::kRms;
    kernels::Activation activation = kernels::Activation::kSilu;  // a config may say another
    bool meansTanhByGelu =
        false;  // its early configs say gelu, and its class reads gelu_pytorch_tanh
    bool isGated = true;
    BlockNorms attentionNorms{};
    BlockNorms mlpNorms{};
    bool isParallel = false;  // where a file does not say
    bool hasMlp = true;
    StateKind state = StateKind::kNone;
    bool hasOutputGate = false;  // attention's queries come with a gate on its result
    QkNorm qkNorm = QkNorm::kNone;
    /// Layouts of rotated columns: GGUF files of some families hold q and k permuted.
    kernels::RopeLayout hfRope = kernels::RopeLayout::kHalves;
    kernels::RopeLayout ggufRope = kernels::RopeLayout::kHalves;
    float hfNormOffset = 0.0F;     // GGUF files have it added to the weights already
    bool scalesEmbedding = false;  // by the square root of the hidden size
    bool dividesLogits = false;    // logit_scale is a divisor (Granite)
    bool hasPositionEmbedding = false;
    bool hasSinks = false;
    bool isLatent = false;   // multi-head latent attention
    bool roundsYarn = true;  // in a GGUF file: the range of dimensions that YaRN blends

    Windows windows = Windows::kNone;
    std::int64_t windowPattern = 1;
    bool hasLocalTheta = false;       // window layers have a rope of their own (Gemma 3) …
    double localTheta = 10000.0;      // … where a file does not say; 0: the others' theta
    bool ropesOnlyWindows = false;    // layers without a window have no positions, …
    std::int64_t noRopeInterval = 0;  // … or every n-th layer has none
    /// GGUF only: with this many layers scores are scaled by the hidden size a head, not by the
    /// head's own size (the 27B models of Gemma 2 and 3), for which the format has no key.
    std::int64_t scaleByHiddenLayers = 0;

    ExpertRules experts{};

    std::span<const NameRule> hfNames{};  // looked up before those common to all
    std::span<const NameRule> ggufNames{};
    std::span<const ConfigDefault> defaults{};
    FusedQkv fusedQkv = FusedQkv::kBlocks;
    bool isTransposed = false;  // Hugging Face matrices are [in, out] (GPT-2)

    // Encoders.
    bool isBidirectional = false;
    bool hasTokenTypes = false;
    bool hasEmbeddingNorm = false;
    bool hasOutputNorm = true;
    bool skipsFirstNorm = false;          // the first layer has no norm before its attention
    bool countsPositionsFromPad = false;  // in a folder: the first position is that of padding + 1
    kernels::Activation scoreActivation = kernels::Activation::kTanh;
    std::span<const NameRule> hfOuterNames{};  // as hfNames, of tensors outside of layers
};

/// Those that keep states.
[[nodiscard]] std::span<const Architecture> stateArchitectures();
/// Those that read a text in both directions.
[[nodiscard]] std::span<const Architecture> encoderArchitectures();

/// Those with experts.
[[nodiscard]] std::span<const Architecture> expertArchitectures();

/// Null when there is none.
[[nodiscard]] const Architecture* architectureOfGguf(std::string_view name);
[[nodiscard]] const Architecture* architectureOfModelType(std::string_view modelType);

/// A sentence for a file whose architecture is not known: its name, what is missing for it, and the
/// nearest that is there.
[[nodiscard]] std::string whyUnknown(std::string_view name);

}  // namespace quern::engine
