#pragma once

#include "app/cli/golden_cases.h"
#include "app/cli/verify_command.h"

namespace quern::cli {

/// Compares a model's vectors with a reference's: see verifyModel. Each vector comes through an
/// engine, as a request gets it.
[[nodiscard]] Result<VerifyReport> verifyVectors(const VerifyOptions& options,
                                                 const GoldenFile& file);

}  // namespace quern::cli
