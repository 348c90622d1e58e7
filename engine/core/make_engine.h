#pragma once

#include <memory>

#include "engine/core/model_factory.h"
#include "engine/engine.h"

namespace quern::engine {

/// An engine over any source of models: makeEngine gives it files and a device, tests give it
/// models without weights.
[[nodiscard]] std::unique_ptr<Engine> makeEngineWith(std::unique_ptr<ModelFactory> factory,
                                                     const EngineOptions& options);

/// Files of this machine, computed by its processor. kUnsupported when it lacks options.tier.
[[nodiscard]] Result<std::unique_ptr<ModelFactory>> makeFileModelFactory(
    const EngineOptions& options);

}  // namespace quern::engine
