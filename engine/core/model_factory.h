#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/exec/runner.h"
#include "engine/model_info.h"
#include "engine/request.h"
#include "engine/text.h"

namespace quern::engine {

struct MemoryFacts {
    std::int64_t totalBytes = 0;
    std::int64_t freeBytes = 0;
};

/// A model whose headers were read. Belongs to one thread.
class OpenedModel {
public:
    virtual ~OpenedModel() = default;

    std::shared_ptr<const Tokenizer> tokenizer;  // null: takes token ids only
    ChatTemplates templates;
    SamplingParams defaults;         // what the model recommends
    std::vector<std::string> notes;  // what was found wanting and can be done without

    /// Takes the weights over: seconds. options.compile.progress may cancel.
    [[nodiscard]] virtual Result<std::unique_ptr<Runner>> makeRunner(
        const RunnerOptions& options) = 0;
};

/// Where the engine gets its models from: files and a device, or a test's fakes. Any thread; it
/// must outlive every runner it made.
class ModelFactory {
public:
    virtual ~ModelFactory() = default;
    /// `admit` is asked once the headers are read, before memory of the weights' size is taken.
    [[nodiscard]] virtual Result<std::unique_ptr<OpenedModel>> open(
        const std::filesystem::path& path,
        const std::function<Status(const ModelInfo&)>& admit) = 0;
    [[nodiscard]] virtual MemoryFacts memory() const = 0;
    [[nodiscard]] virtual std::string deviceName() const = 0;
};

}  // namespace quern::engine
