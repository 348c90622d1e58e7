#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "kernels/result.h"

namespace quern::engine {

/// What a LoRA adapter says of itself (Hu et al. 2021): a small addition to some of a model's
/// matrices, out += scale · B (A · in).
struct AdapterInfo {
    std::filesystem::path path;
    std::string format;         // "GGUF v3", "PEFT folder"
    std::string base;           // the model it was made for, as it calls it; may be empty
    std::int64_t rank = 0;      // rows of A, of the matrix that has most
    std::int64_t matrices = 0;  // that it adds to
    std::int64_t bytes = 0;     // of all A and B in the file
};

/// Reads headers only: a GGUF file whose general.type is adapter, or a folder with
/// adapter_config.json and adapter_model.safetensors. kNotFound, kCorrupt (names the field) or
/// kUnsupported (names what the adapter needs and Quern does not have).
[[nodiscard]] Result<AdapterInfo> inspectAdapter(const std::filesystem::path& adapter);

/// How an adapter is to be loaded.
struct AdapterOptions {
    std::filesystem::path path;
    std::string name;   // how requests call it; empty: the file's stem or the folder's name
    std::string model;  // the loaded model it adds to; empty: the only one
};

/// An adapter that is loaded: for whoever asks, a model of its own name.
struct LoadedAdapter {
    std::string name;
    std::string model;  // the model it adds to
    AdapterInfo info;
    std::int64_t heldBytes = 0;  // that it takes in memory
    std::uint64_t id = 0;        // of this load, never given twice: the same name may come again
};

}  // namespace quern::engine
