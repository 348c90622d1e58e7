#include <utility>

#include "engine/core/make_engine.h"
#include "engine/core/model_defaults.h"
#include "engine/core/model_factory.h"
#include "engine/formats/model_source.h"

namespace quern::engine {

namespace {

class FileModel final : public OpenedModel {
public:
    FileModel(kernels::Backend& backend, ModelSource source)
        : m_backend(backend), m_source(std::move(source)) {
        defaults = recommendedSampling(m_source.info);
    }

    Result<std::unique_ptr<Runner>> makeRunner(const RunnerOptions& options) override {
        return Runner::create(m_backend, m_source, options);
    }

private:
    kernels::Backend& m_backend;
    ModelSource m_source;
};

/// Stands for a template that does not parse: whoever renders with it is told why.
class UnusableTemplate final : public ChatTemplate {
public:
    explicit UnusableTemplate(std::string reason) : m_reason(std::move(reason)) {}
    Result<std::string> render(const TemplateInput&) const override {
        return failField("chat_template", "the model's chat template cannot be used: " + m_reason,
                         ErrorCode::kUnsupported);
    }
    Result<std::string> renderChat(const TemplateInput& input) const override {
        return render(input);
    }
    const std::string& source() const override { return m_source; }

private:
    std::string m_reason;
    std::string m_source;
};

class FileModelFactory final : public ModelFactory {
public:
    explicit FileModelFactory(std::unique_ptr<kernels::Backend> backend)
        : m_backend(std::move(backend)) {}

    Result<std::unique_ptr<OpenedModel>> open(
        const std::filesystem::path& path,
        const std::function<Status(const ModelInfo&)>& admit) override {
        auto source = openModel(path, admit);
        if (!source) {
            return forward(source);
        }
        auto model = std::make_unique<FileModel>(*m_backend, std::move(*source));
        auto tokenizer = loadTokenizer(path);
        if (tokenizer) {
            model->tokenizer = std::move(*tokenizer);
        } else if (tokenizer.error().code == ErrorCode::kNotFound) {
            model->notes.push_back("no tokenizer: takes token ids only");
        } else {
            return forward(tokenizer);
        }
        // A broken template costs the chat, not the model: text still goes in.
        auto templates = loadChatTemplates(path);
        if (templates) {
            model->templates = std::move(*templates);
        } else {
            const std::string& reason = templates.error().message;
            model->templates.standard = std::make_shared<UnusableTemplate>(reason);
            model->notes.push_back("the chat template cannot be used: " + reason);
        }
        return model;
    }

    MemoryFacts memory() const override {
        const kernels::DeviceInfo device = m_backend->device();
        return {.totalBytes = device.memoryTotalBytes, .freeBytes = device.memoryFreeBytes};
    }
    std::string deviceName() const override { return m_backend->device().id; }

private:
    std::unique_ptr<kernels::Backend> m_backend;
};

}  // namespace

Result<std::unique_ptr<ModelFactory>> makeFileModelFactory(const EngineOptions& options) {
    auto backend = kernels::makeCpuBackend({.threads = options.threads, .tier = options.tier});
    if (!backend) {
        return forward(backend);
    }
    return std::make_unique<FileModelFactory>(std::move(*backend));
}

Result<std::unique_ptr<Engine>> makeEngine(const EngineOptions& options) {
    auto factory = makeFileModelFactory(options);
    if (!factory) {
        return forward(factory);
    }
    return makeEngineWith(std::move(*factory), options);
}

}  // namespace quern::engine
