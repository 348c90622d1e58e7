#include "app/cli/model_flags.h"

#include <cctype>
#include <charconv>

#include "app/cli/numbers.h"

namespace quern::cli {

Result<std::int64_t> parseBytes(const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, value);
    double unit = 1;
    if (rest != end) {
        const auto letter = std::toupper(static_cast<unsigned char>(*rest));
        unit = letter == 'K'   ? 1024.0
               : letter == 'M' ? 1048576.0
               : letter == 'G' ? 1073741824.0
                               : 0;
    }
    const bool hasTail = rest != end && rest + 1 != end && std::string(rest + 1, end) != "B" &&
                         std::string(rest + 1, end) != "iB";
    // Written so that what is no number (nan) is refused too.
    const bool isSize = value * unit >= 1 && value * unit <= 9.0e18;
    if (error != std::errc() || !isSize || hasTail) {
        return fail(ErrorCode::kInvalidArgument,
                    "'" + text + "' is no size; write for example 512M or 2G");
    }
    return static_cast<std::int64_t>(value * unit);
}

void ModelFlags::addTo(CLI::App& command) {
    command.add_option("--activations", activations, "activations: f32 or q8 (default q8)")
        ->check(CLI::IsMember({"f32", "q8"}));
    command.add_option("--kv-type", kvType, "KV cache: f32 or f16 (default f16)")
        ->check(CLI::IsMember({"f32", "f16"}));
    command
        .add_option("--ctx", contextTokens,
                    "context in tokens (default: the model's, at most 8192)")
        ->check(wholeNumber<std::int64_t>(1));
    command
        .add_option("--kv-memory", kvMemory,
                    "memory for the KV cache, e.g. 512M or 2G (default: from what is free)")
        ->check([](const std::string& text) {
            const auto bytes = parseBytes(text);
            return bytes ? std::string() : bytes.error().message;
        });
    command.add_option("--max-running", maxRunning, "most sequences in a step (default 64)")
        ->check(wholeNumber<std::int64_t>(1));
    command.add_option("--threads", threads, "worker threads (default: physical cores)")
        ->check(wholeNumber<std::int32_t>(1));
    command
        .add_option("--cpu-tier", cpuTier,
                    "instruction set: generic, avx2 or avx512 (default: the best there is)")
        ->check(CLI::IsMember({"generic", "avx2", "avx512"}));
}

Result<engine::LoadOptions> ModelFlags::loadOptions(const std::filesystem::path& model) const {
    engine::LoadOptions options;
    options.path = model;
    options.contextTokens = contextTokens;
    if (activations == "f32") {
        options.activations = kernels::ActivationType::kF32;
    }
    if (kvType == "f32") {
        options.kvType = kernels::DType::kF32;
    }
    if (!kvMemory.empty()) {
        auto bytes = parseBytes(kvMemory);
        if (!bytes) {
            return failField("--kv-memory", "--kv-memory: " + bytes.error().message);
        }
        options.kvBytes = *bytes;
    }
    if (maxRunning > 0) {
        options.maxRunning = maxRunning;
    }
    return options;
}

engine::EngineOptions ModelFlags::engineOptions() const {
    engine::EngineOptions options;
    options.threads = threads;
    for (const auto tier :
         {kernels::CpuTier::kGeneric, kernels::CpuTier::kAvx2, kernels::CpuTier::kAvx512}) {
        if (cpuTier == kernels::tierName(tier)) {
            options.tier = tier;
        }
    }
    return options;
}

void SamplingFlags::addTo(CLI::App& command) {
    command.add_option("--max-tokens", maxTokens, "most tokens of the reply")
        ->check(wholeNumber<std::int32_t>(1));
    command.add_option("--temperature", temperature, "0 takes the best token each time")
        ->check(realNumber(0.0, 2.0));
    command.add_option("--top-k", topK, "only the K best tokens; 0: all")
        ->check(wholeNumber<std::int32_t>(0));
    command.add_option("--top-p", topP, "only the best tokens that sum to P")
        ->check(realNumber(0.0, 1.0));
    command.add_option("--min-p", minP, "only tokens at least P times as likely as the best")
        ->check(realNumber(0.0, 1.0));
    command.add_option("--seed", seed, "same seed, same reply")
        ->check(wholeNumber<std::uint64_t>(0));
    // One text each: the prompt may stand behind it.
    command.add_option("--stop", stop, "text that ends the reply (may be given several times)")
        ->allow_extra_args(false);
}

void SamplingFlags::apply(engine::SamplingParams& sampling, engine::OutputParams& output) const {
    if (temperature) {
        sampling.temperature = *temperature;
    }
    if (topK) {
        sampling.topK = *topK;
    }
    if (topP) {
        sampling.topP = *topP;
    }
    if (minP) {
        sampling.minP = *minP;
    }
    if (seed) {
        sampling.seed = seed;
    }
    output.maxTokens = maxTokens;
    output.stop = stop;
}

}  // namespace quern::cli
