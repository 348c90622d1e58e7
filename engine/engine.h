#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/adapter.h"
#include "engine/model_info.h"
#include "engine/request.h"
#include "engine/snapshot.h"
#include "engine/text.h"

namespace quern::engine {

enum class LoadStage : std::uint8_t { kReading, kWeights, kCache, kReady };

struct LoadProgress {
    LoadStage stage = LoadStage::kReading;
    double fraction = 0;  // of the whole load
};

/// "reading", "weights", "KV cache", "ready".
[[nodiscard]] std::string_view stageName(LoadStage stage);

/// A name that requests will be able to use soon.
struct LoadingModel {
    std::string name;
    std::optional<LoadProgress> progress;  // none: it is announced, its load has not begun
};

/// A model that is loaded: what front doors need to know to build requests for it.
struct LoadedModel {
    std::string name;
    ModelInfo info;
    LoadOptions options;             // as resolved
    FitEstimate estimate;            // made before loading
    std::int64_t measuredBytes = 0;  // resident memory the load really took
    double loadSeconds = 0;
    std::vector<std::string> notes;  // decisions worth telling: KV size, context cut to 8192 …
    std::shared_ptr<const Tokenizer> tokenizer;  // null: takes token ids only
    ChatTemplates templates;
    SamplingParams defaults;  // the model's own generation config, then 1/1/off
};

struct EngineOptions {
    std::int32_t threads = 0;  // 0: physical cores this process may use
    kernels::CpuTier tier = kernels::CpuTier::kAuto;
    std::size_t maxQueued = 1024;       // requests waiting; the next one is kBusy
    std::int64_t memoryLimitBytes = 0;  // 0: what is free, less a margin
};

/// In-process inference over many models. Every method may be called from any thread; none waits
/// for a step to end except unload and shutdown. A remote engine implements the same interface.
class Engine {
public:
    virtual ~Engine() = default;

    /// Reads, checks and takes over a model: seconds; call it from a worker. `progress` is called
    /// on the calling thread; returning false cancels, as shutdown does. kConflict when the name is
    /// taken, kOutOfMemory with the estimate in its message when it does not fit, kIo when the file
    /// is written meanwhile.
    [[nodiscard]] virtual Result<std::shared_ptr<const LoadedModel>> load(
        const LoadOptions& options, std::function<bool(const LoadProgress&)> progress) = 0;
    /// Keeps a name for a model or an adapter that will be loaded: until it is, or the name is
    /// withdrawn, requests for it are kUnavailable, also after a load that failed. kConflict when
    /// the name is taken.
    [[nodiscard]] virtual Status announce(const std::string& /*name*/) {
        return fail(ErrorCode::kUnsupported, "this engine takes no announcements");
    }
    /// Takes an announcement back; nothing happens to a name that is not announced, or is being
    /// loaded.
    virtual void withdraw(const std::string& /*name*/) {}
    /// What is announced and what is being loaded, models and adapters, by name.
    [[nodiscard]] virtual std::vector<LoadingModel> loading() const { return {}; }
    /// Cancels the model's requests, waits for the step in flight and frees it.
    [[nodiscard]] virtual Status unload(const std::string& model) = 0;
    [[nodiscard]] virtual std::vector<std::shared_ptr<const LoadedModel>> models() const = 0;
    /// The loaded model of that name, or the one that the adapter of that name adds to; the only
    /// one when the name is empty. kNotFound lists them, kUnavailable for one that is announced or
    /// being loaded.
    [[nodiscard]] virtual Result<std::shared_ptr<const LoadedModel>> find(
        const std::string& model) const = 0;

    /// Reads, checks and takes over an adapter of a loaded model, beside requests that run; call it
    /// from a worker. kConflict when a model or an adapter has the name, kNotFound, kCorrupt or
    /// kUnsupported as inspectAdapter, kInvalidArgument naming the tensor that does not fit the
    /// model, kOutOfMemory with the figures.
    [[nodiscard]] virtual Result<std::shared_ptr<const LoadedAdapter>> loadAdapter(
        const AdapterOptions& /*options*/) {
        return fail(ErrorCode::kUnsupported, "this engine takes no adapters");
    }
    /// From now on its name is free and requests for it are refused. Those that have it end with
    /// it; then its memory is given back. Does not wait for that.
    [[nodiscard]] virtual Status unloadAdapter(const std::string& name) {
        return fail(ErrorCode::kNotFound, "there is no adapter named " + name);
    }
    /// By name.
    [[nodiscard]] virtual std::vector<std::shared_ptr<const LoadedAdapter>> adapters() const {
        return {};
    }

    /// Template, tokens, limits: everything that can be refused is refused here, naming the field.
    /// Takes milliseconds on the calling thread: never the GUI's.
    [[nodiscard]] virtual Result<PreparedRequest> prepare(Request request) const = 0;
    /// The same on the engine's small worker pool; `done` is called there and may only enqueue.
    virtual void prepareAsync(Request request,
                              std::function<void(Result<PreparedRequest>)> done) const = 0;

    /// Queues a request. Its sink gets exactly one finish a choice. kBusy when the queue is full,
    /// kUnavailable once the engine shuts down.
    [[nodiscard]] virtual Result<RequestId> submit(PreparedRequest request,
                                                   std::shared_ptr<EventSink> sink) = 0;
    /// Honoured at the next step, at any state; unknown and finished ids are ignored.
    virtual void cancel(RequestId id) = 0;
    /// A client that does not read: its blocks stay, it computes nothing until resumed.
    virtual void setPaused(RequestId id, bool isPaused) = 0;

    [[nodiscard]] virtual EngineSnapshot snapshot() const = 0;
    /// Brings a reader's map up to date; cheap when little changed.
    [[nodiscard]] virtual Status foldKvMap(const std::string& model, std::int32_t group,
                                           KvMap& map) const = 0;
    /// Forgets cached (unheld) blocks of a model.
    [[nodiscard]] virtual Status resetPrefixCache(const std::string& model) = 0;

    /// Refuses new requests, lets running ones finish until the deadline, then cancels them.
    /// Returns when nothing runs and the engine thread has ended. Idempotent.
    virtual void shutdown(std::chrono::milliseconds grace) = 0;
};

/// The tokens of a chat in the model's own template, be they more than its context holds. Takes
/// milliseconds. kUnsupported without a tokenizer or a template; a refusal as of prepare().
[[nodiscard]] Result<std::int64_t> countPromptTokens(const LoadedModel& model,
                                                     const ChatPrompt& prompt);

[[nodiscard]] Result<std::unique_ptr<Engine>> makeEngine(const EngineOptions& options);

}  // namespace quern::engine
