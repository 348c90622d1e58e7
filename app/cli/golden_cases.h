#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/text.h"
#include "kernels/result.h"

namespace quern::cli {

/// What a reference computed for one sequence of ids. Lists that the file does not give are empty.
struct GoldenCase {
    std::string name;
    std::vector<engine::TokenId> ids;
    std::vector<float> lastLogits;        // [vocab] after the last id
    std::vector<engine::TokenId> greedy;  // the tokens that follow the ids
    std::vector<double> gap;              // [greedy] best minus second best logit
    std::vector<double> nextLogprob;      // [ids − 1] log p(ids[i + 1] | ids[0…i])
    std::vector<engine::TokenId> topIds;  // [ids] the likeliest token after each id
    std::vector<float> meanPooled;        // hidden states of all ids together, …
    std::vector<float> firstToken;        // … or of the first
    std::vector<float> embedding;         // what the model makes of the text
};

/// What decides whether a case holds.
enum class GoldenKind {
    kLogits,    // every logit after the last id, close to float32 rounding
    kLogprobs,  // log-probabilities of a text, statistically close
    kVectors,   // pooled hidden states close to float32 rounding, embeddings by their angle
};

struct GoldenFile {
    GoldenKind kind = GoldenKind::kLogits;
    std::vector<GoldenCase> cases;
    double rivalMeanAbs = 0;  // kLogprobs: how far another engine is from the same truth
    double rivalTop1 = 0;
};

/// Reads an expected.json. `cases` is a list or an object by name. kNotFound, kCorrupt (names the
/// case and the field), kUnsupported for expectations that are neither logits, log-probabilities
/// nor vectors.
[[nodiscard]] Result<GoldenFile> readGoldenFile(const std::filesystem::path& file);

}  // namespace quern::cli
