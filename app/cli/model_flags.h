#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "engine/engine.h"

namespace quern::cli {

/// The switches that stand wherever a model runs.
struct ModelFlags {
    std::string activations;  // "f32", "q8"; empty: the default
    std::string kvType;       // "f32", "f16"
    std::int64_t contextTokens = 0;
    std::string kvMemory;  // "512M", "2G"
    std::int64_t maxRunning = 0;
    std::int32_t threads = 0;
    std::string cpuTier;  // "generic", "avx2", "avx512"; empty: the best this processor has

    void addTo(CLI::App& command);
    /// kInvalidArgument names the switch.
    [[nodiscard]] Result<engine::LoadOptions> loadOptions(const std::filesystem::path& model) const;
    [[nodiscard]] engine::EngineOptions engineOptions() const;
};

/// The switches of how tokens are chosen and when a reply ends.
struct SamplingFlags {
    std::optional<std::int32_t> maxTokens;
    std::optional<float> temperature;
    std::optional<std::int32_t> topK;
    std::optional<float> topP;
    std::optional<float> minP;
    std::optional<std::uint64_t> seed;
    std::vector<std::string> stop;

    void addTo(CLI::App& command);
    void apply(engine::SamplingParams& sampling, engine::OutputParams& output) const;
};

/// "4096", "64K", "512M", "2G" (powers of 1024) in bytes.
[[nodiscard]] Result<std::int64_t> parseBytes(const std::string& text);

}  // namespace quern::cli
