#pragma once

#include <string>
#include <vector>

#include "app/cli/model_flags.h"
#include "app/library/model_library.h"

namespace quern::cli {

struct BenchOptions {
    std::string model;
    std::int32_t tokens = 0;  // prompt (prefill) or reply (decode) length
    std::int32_t repeats = 5;
    std::vector<std::int32_t> concurrency;  // serve: requests at once
    bool asJson = false;
    ModelFlags modelFlags;
};

/// `quern bench prefill | decode | serve`: the engine itself, without HTTP. Prompts are random
/// tokens, so that nothing is found in the prefix cache. Median, minimum and maximum over the
/// repeats, with the conditions that make the figures mean something.
[[nodiscard]] int runBenchPrefill(const BenchOptions& options, const app::ModelLibrary& library);
[[nodiscard]] int runBenchDecode(const BenchOptions& options, const app::ModelLibrary& library);
[[nodiscard]] int runBenchServe(const BenchOptions& options, const app::ModelLibrary& library);

}  // namespace quern::cli
