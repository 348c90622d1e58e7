#include "app/cli/serve_command.h"

#include <atomic>
#include <memory>
#include <semaphore>

#include "app/cli/exit_codes.h"
#include "app/cli/standard_streams.h"
#include "engine/model_info.h"

namespace quern::cli {

namespace {

constexpr auto kGrace = std::chrono::seconds(30);

/// Whether the program was asked to end, and a wait for that. The first signal asks; a second one
/// ends the program at once.
class EndingWatch {
public:
    explicit EndingWatch(InterruptWatcher& interrupts) : m_interrupts(interrupts) {
        interrupts.setHandler([&interrupts, asked = m_asked] {
            interrupts.setHandler({});
            asked->isEnding = true;
            asked->ending.release();
        });
    }
    ~EndingWatch() { m_interrupts.setHandler({}); }
    EndingWatch(const EndingWatch&) = delete;
    EndingWatch& operator=(const EndingWatch&) = delete;

    [[nodiscard]] bool isEnding() const { return m_asked->isEnding; }
    /// Once.
    void wait() { m_asked->ending.acquire(); }

private:
    // Shared: the watcher's thread may be in the handler when this is gone.
    struct Asked {
        std::atomic<bool> isEnding = false;
        std::binary_semaphore ending{0};
    };
    InterruptWatcher& m_interrupts;
    std::shared_ptr<Asked> m_asked = std::make_shared<Asked>();
};

app::ServerOptions serverOptionsOf(const ServeOptions& options) {
    app::ServerOptions server;
    server.host = options.host;
    server.port = options.port;
    if (options.apiKey) {
        server.apiKeys.push_back(*options.apiKey);
    }
    if (options.adminKey) {
        server.adminKeys.push_back(*options.adminKey);
    }
    return server;
}

// A model is served under the name it was asked for; a path under its file's stem.
Result<std::vector<engine::LoadOptions>> plannedLoads(const ServeOptions& options,
                                                      const app::ModelLibrary& library) {
    const auto adapterBytes = options.lora.fileBytes();
    if (!adapterBytes) {
        return tl::unexpected<Error>(adapterBytes.error());
    }
    std::vector<engine::LoadOptions> loads;
    for (const std::string& name : options.models) {
        auto path = library.resolve(name);
        if (!path) {
            return forward(path);
        }
        auto load = options.modelFlags.loadOptions(*path);
        if (!load) {
            return forward(load);
        }
        const bool isPath = name.find('/') != std::string::npos || name.ends_with(".gguf");
        load->name = isPath ? engine::nameOfPath(*path) : name;
        load->adapterBytes = *adapterBytes;
        loads.push_back(std::move(*load));
    }
    for (const engine::LoadOptions& load : loads) {
        auto info = engine::inspectModel(load.path);
        if (!info) {
            return forward(info);
        }
        if (Status status = engine::checkLoadOptions(*info, load); !status) {
            status.error().message = load.name + ": " + status.error().message;
            return forward(status);
        }
    }
    return loads;
}

// From now on clients that ask for what is not there yet are told to wait.
Status announceAll(engine::Engine& engine, const std::vector<engine::LoadOptions>& loads,
                   const LoraFlags& lora) {
    const auto adapters = lora.adapters();
    std::vector<std::string> names;
    names.reserve(loads.size() + adapters.size());
    for (const engine::LoadOptions& load : loads) {
        names.push_back(load.name);
    }
    for (const engine::AdapterOptions& adapter : adapters) {
        names.push_back(adapter.name);
    }
    for (const std::string& name : names) {
        if (Status status = engine.announce(name); !status) {
            if (status.error().code != ErrorCode::kConflict) {
                return status;
            }
            return failField("models", "'" + name +
                                           "' would be served twice; each model and adapter " +
                                           "needs a name of its own");
        }
    }
    return {};
}

Status loadAll(engine::Engine& engine, const std::vector<engine::LoadOptions>& loads,
               const LoraFlags& lora, const EndingWatch& watch) {
    for (const engine::LoadOptions& load : loads) {
        auto model =
            engine.load(load, [&watch](const engine::LoadProgress&) { return !watch.isEnding(); });
        if (!model) {
            return forward(model);
        }
        tellUser("serving " + (*model)->name);
        for (const std::string& note : (*model)->notes) {
            tellUser("  " + note);
        }
    }
    const auto adapters = lora.load(engine, false);
    return adapters ? Status() : tl::unexpected<Error>(adapters.error());
}

}  // namespace

int runServe(const ServeOptions& options, const app::ModelLibrary& library,
             InterruptWatcher& interrupts) {
    EndingWatch watch(interrupts);
    const app::ServerOptions serverOptions = serverOptionsOf(options);
    if (const Status status = app::checkServerOptions(serverOptions); !status) {
        return reportError(status.error());
    }
    const auto loads = plannedLoads(options, library);
    if (!loads) {
        return reportError(loads.error());
    }
    auto engine = engine::makeEngine(options.modelFlags.engineOptions());
    if (!engine) {
        return reportError(engine.error());
    }
    if (const Status status = announceAll(**engine, *loads, options.lora); !status) {
        return reportError(status.error());
    }
    // The port first: that it is taken should not cost a model's loading time.
    auto server = app::Server::start(**engine, serverOptions);
    if (!server) {
        return reportError(server.error());
    }
    tellUser("listening on " + (*server)->url() + ", loading");
    const Status loaded = loadAll(**engine, *loads, options.lora, watch);
    int exitCode = kExitOk;
    if (loaded) {
        tellUser("ready on " + (*server)->url() + "/v1");
        watch.wait();
    } else if (!watch.isEnding()) {
        exitCode = reportError(loaded.error());  // models that are loaded may be answering
    }
    tellUser("ending; running requests have " + std::to_string(kGrace.count()) + " s");
    (*server)->stop(kGrace);
    (*engine)->shutdown(std::chrono::milliseconds(0));
    return exitCode;
}

}  // namespace quern::cli
