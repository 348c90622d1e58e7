#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/score.h"

namespace quern::cli {

struct VerifyOptions {
    std::filesystem::path model;
    std::filesystem::path expected;
    std::vector<std::filesystem::path> adapters;  // the first is verified, the others run beside
    std::optional<kernels::ActivationType> activations;
    std::optional<kernels::DType> kvType;
    /// Each of these, where given, is a further run that must equal the plain one bit for bit.
    std::optional<std::int32_t> chunk;
    std::optional<std::int32_t> batch;
    std::optional<std::int32_t> threads;
    bool prefix = false;
    bool asJson = false;
};

/// How one case came out.
struct VerifiedCase {
    std::string name;
    std::size_t ids = 0;
    double largestError = 0;  // of logits, or of next-token log-probabilities
    double errorBar = 0;      // 0: judged over all cases together
    double sumError = 0;
    std::size_t errors = 0;  // values compared
    std::size_t topAgreed = 0;
    std::size_t topTotal = 0;
    std::size_t greedyAgreed = 0;  // of those whose gap is wide enough to be certain
    std::size_t greedyTotal = 0;
    bool isWithinBar = true;
    std::string difference;  // the first, for people; empty when within the bar
};

/// All cases with one choice of types.
struct VerifiedRun {
    kernels::ActivationType activations = kernels::ActivationType::kF32;
    kernels::DType kvType = kernels::DType::kF32;
    std::string vectors;  // which ones were compared: "mean pooling"; empty: logits
    std::vector<VerifiedCase> cases;
    double meanError = 0;  // over all cases; with its bar, 0 where each case has its own
    double meanErrorBar = 0;
    double topShare = 0;
    double topShareBar = 0;
    struct Equality {
        std::string what;        // "--chunk 7"
        std::string difference;  // empty: bitwise equal
    };
    std::vector<Equality> equalities;
    bool isWithinBar = true;
};

struct VerifyReport {
    std::vector<VerifiedRun> runs;
    bool isWithinBar = true;
};

using ScorerFactory = std::function<Result<std::unique_ptr<engine::Scorer>>(
    const std::filesystem::path&, const engine::ScoreOptions&)>;

/// Compares a model with a reference's values. The bars are those of the golden data: logits within
/// 5e-5 of the case's largest, greedy tokens equal where the gap exceeds 1e-3 of it; for
/// log-probabilities with float32 activations a mean error of 1e-3 and 99.5 % of the best tokens,
/// with quantized ones 1.2 times the rival's mean error and its share of best tokens less 1.5
/// points; greedy tokens equal where the gap exceeds 0.5; pooled hidden states within 5e-5 of the
/// case's largest; embeddings with a cosine of 0.9999. Errors are those of reading files.
[[nodiscard]] Result<VerifyReport> verifyModel(const VerifyOptions& options,
                                               const ScorerFactory& makeScorer);

/// `quern verify`: prints the report. Returns the exit code: 0 within the bars, 1 beyond, 2 when a
/// file cannot be read.
[[nodiscard]] int runVerify(const VerifyOptions& options, const ScorerFactory& makeScorer,
                            std::ostream& out, std::ostream& err);

}  // namespace quern::cli
