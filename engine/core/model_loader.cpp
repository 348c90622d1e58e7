#include "engine/core/model_loader.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "engine/core/byte_text.h"
#include "engine/core/kv_sizing.h"
#include "engine/core/model_files.h"
#include "engine/formats/file_mapping.h"
#include "engine/metrics/process_memory.h"
#include "kernels/quant.h"
#include "kernels/weight_formats.h"

namespace quern::engine {

namespace {

constexpr std::int64_t kDefaultContext = 8192;
constexpr std::int64_t kMostRunning = 1024;
constexpr std::int64_t kMostStepTokens = 65536;

Status checkSetting(std::string field, std::int64_t value, std::int64_t low, std::int64_t high) {
    if (value >= low && value <= high) {
        return {};
    }
    std::string message = field + " is " + std::to_string(value) + "; it must be from " +
                          std::to_string(low) + " to " + std::to_string(high);
    return failField(std::move(field), std::move(message));
}

/// Fills what was left open and refuses what cannot be.
Status resolveOptions(const ModelInfo& info, LoadOptions& options,
                      std::vector<std::string>& notes) {
    const std::int64_t trained =
        info.contextTokens > 0 ? info.contextTokens : std::int64_t{1} << 30;
    if (options.contextTokens == 0) {
        options.contextTokens = std::min(trained, kDefaultContext);
        if (options.contextTokens < info.contextTokens) {
            notes.push_back("context " + std::to_string(options.contextTokens) +
                            " of the model's " + std::to_string(info.contextTokens) + " tokens");
        }
    }
    if (Status status = checkSetting("ctx", options.contextTokens, 1, trained); !status) {
        return status;
    }
    if (Status status = checkSetting("max_running", options.maxRunning, 1, kMostRunning); !status) {
        return status;
    }
    if (takesWhole(info)) {
        options.stepTokens = std::max(options.stepTokens, options.contextTokens);
        options.prefixCaching = false;
    }
    if (info.isBidirectional) {
        options.kvType = kernels::DType::kF32;  // one layer's, for one step
    }
    return checkSetting("step_tokens", options.stepTokens, options.maxRunning, kMostStepTokens);
}

Status resolveAll(ModelInfo& info, LoadOptions& options, std::vector<std::string>& notes) {
    if (options.pooling) {
        if (Status status = choosePooling(*options.pooling, info); !status) {
            return status;
        }
    }
    return resolveOptions(info, options, notes);
}

std::string describeFit(const FitEstimate& fit) {
    std::string text;
    for (const FitItem& item : fit.items) {
        text += (text.empty() ? "" : ", ") + item.name + " " + byteText(item.bytes);
    }
    return text;
}

std::int64_t itemBytes(const FitEstimate& fit, std::string_view name) {
    const auto item = std::ranges::find(fit.items, name, &FitItem::name);
    return item == fit.items.end() ? 0 : item->bytes;
}

tl::unexpected<Error> doesNotFit(const std::string& name, const FitEstimate& fit) {
    return fail(ErrorCode::kOutOfMemory,
                name + " with a context of " + std::to_string(fit.contextTokens) +
                    " tokens needs " + byteText(fit.totalBytes) + " (" + describeFit(fit) + "), " +
                    byteText(std::max<std::int64_t>(0, fit.freeBytes)) + " are free; " +
                    fit.advice);
}

/// Tells progress and remembers whether it was cancelled.
class ProgressReporter {
public:
    explicit ProgressReporter(const std::function<bool(const LoadProgress&)>& progress)
        : m_progress(progress) {}
    [[nodiscard]] bool report(LoadStage stage, double fraction) {
        m_isCancelled =
            m_isCancelled || (m_progress && !m_progress({.stage = stage, .fraction = fraction}));
        return !m_isCancelled;
    }
    [[nodiscard]] bool isCancelled() const { return m_isCancelled; }

private:
    const std::function<bool(const LoadProgress&)>& m_progress;
    bool m_isCancelled = false;
};

tl::unexpected<Error> cancelled(const std::string& name) {
    return fail(ErrorCode::kCancelled, "loading " + name + " was cancelled");
}

bool hasQuantizedWeights(Runner& runner) {
    return std::ranges::any_of(runner.program().ops().weights, [](const kernels::Weight& weight) {
        return kernels::traits(weight.type).isQuantized;
    });
}

/// A sentence for each type that is computed with in another one.
void tellRepacked(const ModelInfo& info, std::vector<std::string>& notes) {
    std::map<kernels::DType, std::int64_t> bytes;
    for (const TensorSummary& tensor : info.tensors) {
        if (tensor.shape.size() > 1) {
            bytes[tensor.type] += tensor.bytes;
        }
    }
    for (const Rewritten& part : info.rewritten) {
        bytes[part.from] -= part.fileBytes;
        notes.push_back(std::string(kernels::traits(part.from).name) + " " + part.why + ": " +
                        byteText(part.fileBytes) + " of it are rewritten, as F32 at most, " +
                        byteText(part.bytes));
    }
    for (const auto& [type, inFile] : bytes) {
        const auto held = kernels::heldAs(type);
        if (held && inFile > 0) {
            notes.push_back(std::string(kernels::traits(type).name) +
                            " has no fast kernel of its own: " + byteText(inFile) +
                            " of it are held, without loss, as " + std::string(held->name) + ", " +
                            std::to_string(held->bits) + " bits a weight");
        }
    }
}

/// Resolves the model's options, estimates what it takes, and promises that to it if it is there.
Status admit(LoadedModel& model, MemoryLedger& ledger, std::int64_t freeBytes) {
    if (Status status = resolveAll(model.info, model.options, model.notes); !status) {
        return status;
    }
    auto estimate = estimateFit(model.info, model.options, freeBytes);
    if (!estimate) {
        return forward(estimate);
    }
    if (estimate->fit == Fit::kDoesNotFit) {
        return doesNotFit(model.name, *estimate);
    }
    if (estimate->fit == Fit::kTight) {
        model.notes.push_back("memory is tight: " + estimate->advice);
    }
    model.estimate = std::move(*estimate);
    ledger.set(model.name, model.estimate.totalBytes - itemBytes(model.estimate, "margin") -
                               itemBytes(model.estimate, "adapters"));
    return {};
}

constexpr double kReadShare = 0.02;
constexpr double kWeightsShare = 0.95;

Result<std::unique_ptr<Runner>> makeRunner(OpenedModel& opened, const LoadOptions& options,
                                           ProgressReporter& reporter) {
    RunnerOptions runnerOptions{.kvType = options.kvType,
                                .compile = {.activations = options.activations,
                                            .maxTokens = options.stepTokens,
                                            .maxOutputs = options.maxRunning,
                                            .maxSequences = options.maxRunning},
                                .contextTokens = options.contextTokens,
                                .pooling = options.pooling};
    runnerOptions.compile.progress = [&](double share) {
        return reporter.report(LoadStage::kWeights,
                               kReadShare + (kWeightsShare - kReadShare) * share);
    };
    return opened.makeRunner(runnerOptions);
}

}  // namespace

Status checkLoadOptions(const ModelInfo& info, const LoadOptions& options) {
    if (!info.isSupported) {
        return fail(ErrorCode::kUnsupported, info.whyNot);
    }
    ModelInfo pooled = info;
    LoadOptions resolved = options;
    std::vector<std::string> notes;
    return resolveAll(pooled, resolved, notes);
}

std::string nameOfPath(const std::filesystem::path& path) {
    std::filesystem::path clean = path.lexically_normal();
    if (!clean.has_filename()) {
        clean = clean.parent_path();
    }
    return (clean.extension() == ".gguf" ? clean.stem() : clean.filename()).string();
}

std::string_view stageName(LoadStage stage) {
    switch (stage) {
        case LoadStage::kReading:
            return "reading";
        case LoadStage::kWeights:
            return "weights";
        case LoadStage::kCache:
            return "KV cache";
        case LoadStage::kReady:
            return "ready";
    }
    return {};
}

std::int64_t MemoryLedger::available(const MemoryFacts& facts, std::int64_t residentBytes) const {
    const std::lock_guard lock(m_mutex);
    std::int64_t promised = 0;
    for (const auto& [model, bytes] : m_bytes) {
        promised += bytes;
    }
    const std::int64_t untouched = std::max<std::int64_t>(0, promised - residentBytes);
    const std::int64_t free = facts.freeBytes - untouched;
    return m_limitBytes > 0 ? std::min(free, m_limitBytes - promised) : free;
}

void MemoryLedger::set(const std::string& model, std::int64_t bytes) {
    const std::lock_guard lock(m_mutex);
    if (bytes == 0) {
        m_bytes.erase(model);
    } else {
        m_bytes[model] = bytes;
    }
}

Result<LoadResult> loadModel(ModelFactory& factory, MemoryLedger& ledger, const LoadOptions& asked,
                             const std::function<bool(const LoadProgress&)>& progress,
                             std::atomic<std::size_t>* queued) {
    const auto begin = std::chrono::steady_clock::now();
    const std::int64_t residentBefore = residentBytes();
    ProgressReporter reporter(progress);
    if (!reporter.report(LoadStage::kReading, 0.0)) {
        return cancelled(asked.name);
    }
    const CutWatch watch;
    const FileTimes written = modelFileTimes(asked.path);
    auto model = std::make_shared<LoadedModel>();
    model->name = asked.name;
    model->options = asked;
    auto opened = factory.open(asked.path, [&](const ModelInfo& info) {
        model->info = info;
        return admit(*model, ledger, ledger.available(factory.memory(), residentBefore));
    });
    if (!opened) {
        return forward(opened);
    }
    model->tokenizer = (*opened)->tokenizer;
    model->templates = (*opened)->templates;
    model->defaults = (*opened)->defaults;
    std::ranges::copy((*opened)->notes, std::back_inserter(model->notes));
    if (!model->templates.recognizedAs.empty()) {
        model->notes.push_back("chat template: " + model->templates.recognizedAs);
    }
    const LoadOptions& options = model->options;
    if (!reporter.report(LoadStage::kWeights, kReadShare)) {
        return cancelled(model->name);
    }
    auto runner = makeRunner(**opened, options, reporter);
    if (!runner) {
        return reporter.isCancelled() ? cancelled(model->name) : forward(runner);
    }
    if (Status status = watch.check(asked.path); !status) {
        return forward(status);
    }
    if (modelFileTimes(asked.path) != written) {
        return fail(ErrorCode::kIo, asked.path.string() +
                                        " was written while it was loaded; try again when whatever "
                                        "writes it has finished");
    }
    tellRepacked(model->info, model->notes);
    if (!hasQuantizedWeights(**runner)) {
        model->options.activations = kernels::ActivationType::kF32;
    }

    if (!reporter.report(LoadStage::kCache, kWeightsShare)) {
        return cancelled(model->name);
    }
    const KvDemand demand{.contextTokens = options.contextTokens,
                          .stepTokens = options.stepTokens,
                          .maxRunning = options.maxRunning};
    const kernels::KvLayout& layout = (*runner)->kvLayout();
    const KvSize size =
        kvSizeWithin(layout, (*runner)->groups(), demand, itemBytes(model->estimate, "KV cache"));
    if (Status status = (*runner)->allocateKv(size.blocks); !status) {
        return forward(status);
    }
    model->options.kvBytes = (*runner)->kvBytes();
    model->notes.push_back("KV cache " + byteText(model->options.kvBytes) + ": " +
                           std::to_string(size.tokens) + " tokens over all requests");
    ledger.set(model->name, (*runner)->program().weightBytes() +
                                (*runner)->program().scratchBytes() + model->options.kvBytes);

    ModelRuntime::Config config{.scheduler = {.stepTokens = options.stepTokens,
                                              .maxOutputs = options.maxRunning,
                                              .maxRunning = options.maxRunning,
                                              .maxChunk = 0,
                                              .takesWhole = takesWhole(model->info)},
                                .device = factory.deviceName(),
                                .queued = queued};
    for (std::size_t g = 0; g < size.blocks.size(); ++g) {
        const KvGroupSpec& group = (*runner)->groups()[g];
        config.groups.push_back(
            {.blocks = size.blocks[g], .window = group.window, .isState = group.isState});
    }
    model->measuredBytes = std::max<std::int64_t>(0, residentBytes() - residentBefore);
    model->loadSeconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    config.model = model;
    config.runner = std::move(*runner);
    auto adapters = config.runner->adapterMaker();
    LoadResult result{.model = model,
                      .runtime = std::make_unique<ModelRuntime>(std::move(config)),
                      .adapters = std::move(adapters)};
    if (!reporter.report(LoadStage::kReady, 1.0)) {
        return cancelled(model->name);
    }
    return result;
}

}  // namespace quern::engine
