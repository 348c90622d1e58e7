#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/model_info.h"
#include "engine/text.h"

namespace quern::engine {

struct ScoreOptions {
    kernels::DType kvType = kernels::DType::kF32;
    kernels::ActivationType activations = kernels::ActivationType::kF32;
    std::int32_t threads = 0;
    kernels::CpuTier tier = kernels::CpuTier::kAuto;
    std::int32_t chunk = 0;  // prompt tokens a step; 0: all at once
    std::int32_t batch = 1;  // copies of other lengths that run beside each sequence
    bool prefix = false;     // runs each sequence twice, the second after a prefix hit
    /// Adapters: the first is the scored sequences', and those beside them have none and each of
    /// all in turns.
    std::vector<std::filesystem::path> adapters;
};

/// Logits of every position, for verification and measurement. Goes through the same scheduler,
/// blocks and runner as requests do. Belongs to one thread.
class Scorer {
public:
    [[nodiscard]] static Result<std::unique_ptr<Scorer>> create(const std::filesystem::path& model,
                                                                const ScoreOptions& options);
    virtual ~Scorer() = default;
    [[nodiscard]] virtual std::int64_t vocabSize() const = 0;
    /// Whether a token's position means the same in texts of either length: false where a model's
    /// positions depend on how long a text is (long-rope, dynamic NTK).
    [[nodiscard]] virtual bool givesSamePositions(std::size_t /*tokens*/,
                                                  std::size_t /*otherTokens*/) const {
        return true;
    }
    /// True when any weight is in a block format.
    [[nodiscard]] virtual bool isQuantized() const = 0;
    /// Logits [ids, vocab] after each token of `ids`, row-major.
    [[nodiscard]] virtual Result<std::vector<float>> logits(std::span<const TokenId> ids) = 0;
};

}  // namespace quern::engine
