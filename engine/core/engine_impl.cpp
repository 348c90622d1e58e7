#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/core/adapter_loader.h"
#include "engine/core/byte_text.h"
#include "engine/core/engine_thread.h"
#include "engine/core/make_engine.h"
#include "engine/core/model_directory.h"
#include "engine/core/model_loader.h"
#include "engine/core/prepare.h"
#include "engine/core/worker_pool.h"
#include "engine/metrics/process_memory.h"

namespace quern::engine {

namespace {

// Preparing takes milliseconds; two threads keep one long document from holding a chat up.
constexpr std::size_t kPrepareThreads = 2;
// Cells of the map that are copied under one hold of the lock: some tens of microseconds.
constexpr std::int64_t kCellsAtOnce = 16384;

/// The engine of this machine. Internally locked; see Engine for what may be called where.
class EngineImpl final : public Engine {
public:
    EngineImpl(std::unique_ptr<ModelFactory> factory, const EngineOptions& options)
        : m_factory(std::move(factory)),
          m_options(options),
          m_ledger(options.memoryLimitBytes),
          m_workers(kPrepareThreads, options.maxQueued) {}

    ~EngineImpl() override { shutdown(std::chrono::milliseconds(0)); }

    Result<std::shared_ptr<const LoadedModel>> load(
        const LoadOptions& asked, std::function<bool(const LoadProgress&)> progress) override;
    Status announce(const std::string& name) override;
    void withdraw(const std::string& name) override;
    std::vector<LoadingModel> loading() const override { return m_directory.loading(); }
    Status unload(const std::string& model) override;
    std::vector<std::shared_ptr<const LoadedModel>> models() const override;
    Result<std::shared_ptr<const LoadedModel>> find(const std::string& model) const override;
    Result<std::shared_ptr<const LoadedAdapter>> loadAdapter(const AdapterOptions& asked) override;
    Status unloadAdapter(const std::string& name) override;
    std::vector<std::shared_ptr<const LoadedAdapter>> adapters() const override;
    Result<PreparedRequest> prepare(Request request) const override;
    void prepareAsync(Request request,
                      std::function<void(Result<PreparedRequest>)> done) const override;
    Result<RequestId> submit(PreparedRequest request, std::shared_ptr<EventSink> sink) override;
    void cancel(RequestId id) override;
    void setPaused(RequestId id, bool isPaused) override;
    EngineSnapshot snapshot() const override;
    Status foldKvMap(const std::string& model, std::int32_t group, KvMap& map) const override;
    Status resetPrefixCache(const std::string& model) override;
    void shutdown(std::chrono::milliseconds grace) override;

private:
    [[nodiscard]] Status reserveName(const std::string& name, ModelDirectory::Use use);
    [[nodiscard]] Result<ModelDirectory::Entry> loadReserved(
        const LoadOptions& options, const std::function<bool(const LoadProgress&)>& progress);
    [[nodiscard]] Result<std::shared_ptr<const LoadedAdapter>> handOver(
        const std::shared_ptr<const LoadedModel>& base, AdapterHandover handover);
    /// What to say when memory is short and a model does nothing; empty when none idles.
    [[nodiscard]] std::string adviceToUnload() const;
    [[nodiscard]] static tl::unexpected<Error> shuttingDown() {
        return fail(ErrorCode::kUnavailable, "the engine is shutting down");
    }

    std::unique_ptr<ModelFactory> m_factory;
    EngineOptions m_options;
    MemoryLedger m_ledger;

    ModelDirectory m_directory;
    std::atomic<RequestId> m_nextId{1};
    std::atomic<std::uint64_t> m_nextAdapter{1};
    std::atomic<bool> m_isDraining{false};
    std::mutex m_shutdownMutex;

    EngineThread m_thread;
    mutable WorkerPool m_workers;  // last: its jobs use all of the above
};

Result<std::shared_ptr<const LoadedModel>> EngineImpl::load(
    const LoadOptions& asked, std::function<bool(const LoadProgress&)> progress) {
    LoadOptions options = asked;
    if (options.name.empty()) {
        options.name = nameOfPath(options.path);
    }
    if (options.name.empty()) {
        return failField("path", "no model was named");
    }
    if (Status status = reserveName(options.name, ModelDirectory::Use::kLoadsModel); !status) {
        return forward(status);
    }
    auto entry = loadReserved(options, [&](const LoadProgress& now) {
        m_directory.note(options.name, now);
        return !m_isDraining && (!progress || progress(now));
    });
    if (!entry && m_isDraining) {
        entry = shuttingDown();
    }
    if (!entry) {
        m_ledger.set(options.name, 0);
        if (entry.error().code == ErrorCode::kOutOfMemory) {
            entry.error().message += adviceToUnload();
        }
        m_directory.giveUpLoad(options.name);
        return forward(entry);
    }
    m_directory.add(*entry);
    m_directory.release(options.name);
    return entry->model;
}

std::string EngineImpl::adviceToUnload() const {
    const EngineSnapshot now = snapshot();
    const auto idlest = std::ranges::max_element(now.models, {}, [](const ModelSnapshot& model) {
        return model.requests.empty() ? model.lastUsedSecondsAgo : -1.0;
    });
    if (idlest == now.models.end() || !idlest->requests.empty()) {
        return {};
    }
    return "; unloading " + idlest->name + " would free " +
           byteText(idlest->weightBytes + idlest->kvBytes + idlest->scratchBytes);
}

Result<ModelDirectory::Entry> EngineImpl::loadReserved(
    const LoadOptions& options, const std::function<bool(const LoadProgress&)>& progress) {
    try {
        auto loaded = loadModel(*m_factory, m_ledger, options, progress, m_thread.queued());
        if (!loaded) {
            return forward(loaded);
        }
        AddModelCommand command{.runtime = std::move(loaded->runtime)};
        auto added = command.added.get_future();
        if (m_isDraining || !m_thread.post(std::move(command))) {
            return shuttingDown();
        }
        added.get();
        return ModelDirectory::Entry{.model = loaded->model,
                                     .adapters = std::move(loaded->adapters)};
    } catch (const std::bad_alloc&) {
        return fail(ErrorCode::kOutOfMemory, "memory ran out while " + options.name + " loaded");
    } catch (const std::exception& exception) {
        return fail(ErrorCode::kInternal, "loading " + options.name + " failed", exception.what());
    }
}

Status EngineImpl::reserveName(const std::string& name, ModelDirectory::Use use) {
    return m_isDraining ? shuttingDown() : m_directory.reserve(name, use);
}

Status EngineImpl::announce(const std::string& name) {
    if (name.empty()) {
        return failField("path", "no model was named");
    }
    return reserveName(name, ModelDirectory::Use::kAnnounced);
}

void EngineImpl::withdraw(const std::string& name) {
    m_directory.withdraw(name);
}

Status EngineImpl::unload(const std::string& name) {
    auto model = m_directory.take(name);
    if (!model) {
        return forward(model);
    }
    const std::string& found = (*model)->name;
    RemoveModelCommand command{.model = *model};
    auto removed = command.removed.get_future();
    if (m_thread.post(std::move(command))) {
        removed.get().reset();
    }
    m_ledger.set(found, 0);
    m_directory.release(found);
    return {};
}

std::vector<std::shared_ptr<const LoadedModel>> EngineImpl::models() const {
    return m_directory.models();
}

Result<std::shared_ptr<const LoadedModel>> EngineImpl::find(const std::string& name) const {
    auto entry = m_directory.find(name);
    if (!entry && m_isDraining) {
        return shuttingDown();
    }
    return entry ? entry->model : Result<std::shared_ptr<const LoadedModel>>(forward(entry));
}

Result<std::shared_ptr<const LoadedAdapter>> EngineImpl::loadAdapter(const AdapterOptions& asked) {
    AdapterOptions options = asked;
    if (options.name.empty()) {
        options.name = nameOfPath(options.path);
    }
    if (Status status = checkAdapterName(options.name); !status) {
        return forward(status);
    }
    auto base = m_directory.find(options.model);
    if (!base) {
        return forward(base);
    }
    options.model = base->model->name;
    if (!base->adapters) {
        return fail(ErrorCode::kUnsupported, "model " + options.model + " takes no adapters");
    }
    if (Status status = reserveName(options.name, ModelDirectory::Use::kLoadsAdapter); !status) {
        return forward(status);
    }
    auto made =
        makeAdapter(*base->adapters, options, m_nextAdapter.fetch_add(1), *m_factory, m_ledger);
    auto adapter = made ? handOver(base->model, std::move(*made))
                        : Result<std::shared_ptr<const LoadedAdapter>>(forward(made));
    if (!adapter && adapter.error().code == ErrorCode::kOutOfMemory) {
        adapter.error().message += adviceToUnload();
    }
    if (adapter) {
        m_directory.release(options.name);
    } else {
        m_directory.giveUpLoad(options.name);
    }
    return adapter;
}

Result<std::shared_ptr<const LoadedAdapter>> EngineImpl::handOver(
    const std::shared_ptr<const LoadedModel>& base, AdapterHandover handover) {
    std::shared_ptr<const LoadedAdapter> adapter = handover.adapter;
    AddAdapterCommand command{.model = base, .adapter = std::move(handover)};
    auto added = command.added.get_future();
    if (m_isDraining || !m_thread.post(std::move(command))) {
        return shuttingDown();
    }
    try {
        if (!added.get() || !m_directory.addAdapter(adapter, base)) {
            return fail(ErrorCode::kNotFound, "model " + base->name + " was unloaded");
        }
    } catch (const std::exception& exception) {
        return fail(ErrorCode::kInternal, "the engine could not take the adapter",
                    exception.what());
    }
    return adapter;
}

Status EngineImpl::unloadAdapter(const std::string& name) {
    const auto adapter = m_directory.takeAdapter(name);
    if (!adapter) {
        return failField("lora_name", "there is no adapter named " + name, ErrorCode::kNotFound);
    }
    (void)m_thread.post(RemoveAdapterCommand{.id = adapter->id});  // an ended engine has none
    return {};
}

std::vector<std::shared_ptr<const LoadedAdapter>> EngineImpl::adapters() const {
    return m_directory.adapters();
}

Result<PreparedRequest> EngineImpl::prepare(Request request) const {
    const auto adapterId = m_directory.resolveAdapter(request);
    if (!adapterId) {
        return tl::unexpected<Error>(adapterId.error());
    }
    auto model = find(request.model);
    if (!model) {
        return forward(model);
    }
    try {
        auto prepared = prepareRequest(**model, std::move(request));
        if (prepared) {
            prepared->adapterId = *adapterId;
        }
        return prepared;
    } catch (const std::exception& exception) {
        return fail(ErrorCode::kInternal, "the request could not be prepared", exception.what());
    }
}

void EngineImpl::prepareAsync(Request request,
                              std::function<void(Result<PreparedRequest>)> done) const {
    auto shared = std::make_shared<Request>(std::move(request));
    const bool isPosted = m_workers.post([this, shared, done](bool isOpen) {
        done(isOpen ? prepare(std::move(*shared)) : Result<PreparedRequest>(shuttingDown()));
    });
    if (!isPosted) {
        done(m_isDraining ? Result<PreparedRequest>(shuttingDown())
                          : Result<PreparedRequest>(
                                fail(ErrorCode::kBusy, "too many requests wait to be prepared")));
    }
}

Result<RequestId> EngineImpl::submit(PreparedRequest request, std::shared_ptr<EventSink> sink) {
    if (m_isDraining) {
        return shuttingDown();
    }
    auto model = find(request.request.model);
    if (!model) {
        return forward(model);
    }
    if (Status status = checkPrepared(**model, (*model)->info.vocabSize, request); !status) {
        return forward(status);
    }
    if (!m_thread.enterQueue(m_options.maxQueued)) {
        return fail(ErrorCode::kBusy, std::to_string(m_options.maxQueued) +
                                          " requests wait already; try again later");
    }
    const RequestId id = m_nextId.fetch_add(1);
    if (!m_thread.post(SubmitCommand{
            .id = id, .model = *model, .request = std::move(request), .sink = std::move(sink)})) {
        m_thread.leaveQueue();
        return shuttingDown();
    }
    return id;
}

void EngineImpl::cancel(RequestId id) {
    (void)m_thread.post(CancelCommand{.id = id});  // an ended engine has cancelled it
}

void EngineImpl::setPaused(RequestId id, bool isPaused) {
    (void)m_thread.post(PauseCommand{.id = id, .isPaused = isPaused});
}

EngineSnapshot EngineImpl::snapshot() const {
    EngineSnapshot snapshot;
    const MemoryFacts memory = m_factory->memory();
    snapshot.memory.totalBytes = memory.totalBytes;
    snapshot.memory.freeBytes = memory.freeBytes;
    snapshot.memory.processBytes = residentBytes();
    snapshot.isDraining = m_isDraining;
    m_thread.read([&](auto runtimes) {
        const auto now = std::chrono::steady_clock::now();
        for (const auto& runtime : runtimes) {
            snapshot.models.push_back(runtime->snapshot(now));
        }
    });
    for (const ModelSnapshot& model : snapshot.models) {
        snapshot.memory.weightBytes += model.weightBytes;
        snapshot.memory.kvBytes += model.kvBytes;
    }
    return snapshot;
}

Status EngineImpl::foldKvMap(const std::string& name, std::int32_t group, KvMap& map) const {
    auto model = find(name);
    if (!model) {
        return forward(model);
    }
    Status status;
    const auto withPool = [&](auto use) {
        m_thread.read([&](auto runtimes) {
            const auto runtime = std::ranges::find(runtimes, *model, &ModelRuntime::model);
            const BlockPool* pool = runtime == runtimes.end() ? nullptr : (*runtime)->pool(group);
            if (pool == nullptr) {
                status = failField(
                    "group",
                    "model " + (*model)->name + " has no cache group " + std::to_string(group),
                    ErrorCode::kNotFound);
                return;
            }
            map.step = (*runtime)->step();
            use(*pool);
        });
    };
    std::int64_t copied = 0;
    std::int64_t size = 0;
    withPool([&](const BlockPool& pool) {
        size = pool.size();
        if (static_cast<std::int64_t>(map.cells.size()) == size && pool.knowsSince(map.version)) {
            copied = size;
        } else {
            map.version = pool.version();
        }
    });
    if (status) {
        map.cells.resize(static_cast<std::size_t>(size));
    }
    // In pieces: what changes meanwhile is folded in afterwards.
    while (status && copied < size) {
        const std::int64_t count = std::min(kCellsAtOnce, size - copied);
        withPool([&](const BlockPool& pool) {
            pool.copyCells(copied, std::span(map.cells).subspan(static_cast<std::size_t>(copied),
                                                                static_cast<std::size_t>(count)));
        });
        copied += count;
    }
    if (status) {
        withPool([&](const BlockPool& pool) {
            if (pool.knowsSince(map.version)) {
                pool.fold(map);
            }
        });
    }
    return status;
}

Status EngineImpl::resetPrefixCache(const std::string& name) {
    auto model = find(name);
    if (!model) {
        return forward(model);
    }
    if (!m_thread.post(ResetCacheCommand{.model = *model})) {
        return shuttingDown();
    }
    return {};
}

void EngineImpl::shutdown(std::chrono::milliseconds grace) {
    m_isDraining = true;
    // Before the lock, so that a second, more impatient caller hurries the first one's wait.
    const bool isRunning =
        m_thread.post(DrainCommand{.deadline = std::chrono::steady_clock::now() + grace});
    const std::lock_guard lock(m_shutdownMutex);
    m_workers.close();
    if (isRunning) {
        m_thread.join();
    }
    m_directory.clear();
}

}  // namespace

std::unique_ptr<Engine> makeEngineWith(std::unique_ptr<ModelFactory> factory,
                                       const EngineOptions& options) {
    return std::make_unique<EngineImpl>(std::move(factory), options);
}

}  // namespace quern::engine
