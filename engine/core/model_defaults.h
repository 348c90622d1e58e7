#pragma once

#include "engine/model_info.h"
#include "engine/request.h"

namespace quern::engine {

/// The sampling a model recommends: generation_config.json of a folder, general.sampling.* of a
/// GGUF file. What is silent, unreadable or out of range stays at 1/1/off. Any thread.
[[nodiscard]] SamplingParams recommendedSampling(const ModelInfo& info);

}  // namespace quern::engine
