#include "app/cli/serve_command.h"

#include <semaphore>

#include "app/cli/exit_codes.h"
#include "app/cli/standard_streams.h"

namespace quern::cli {

namespace {

constexpr auto kGrace = std::chrono::seconds(30);

// A model is served under the name it was asked for; a path under its file's stem.
Result<std::shared_ptr<const engine::LoadedModel>> loadNamed(engine::Engine& engine,
                                                             const app::ModelLibrary& library,
                                                             const std::string& name,
                                                             const ModelFlags& flags,
                                                             std::int64_t adapterBytes) {
    auto path = library.resolve(name);
    if (!path) {
        return forward(path);
    }
    auto options = flags.loadOptions(*path);
    if (!options) {
        return forward(options);
    }
    options->adapterBytes = adapterBytes;
    if (name.find('/') == std::string::npos && !name.ends_with(".gguf")) {
        options->name = name;
    }
    return engine.load(*options, [](const engine::LoadProgress&) { return true; });
}

}  // namespace

int runServe(const ServeOptions& options, const app::ModelLibrary& library,
             InterruptWatcher& interrupts) {
    auto engine = engine::makeEngine(options.modelFlags.engineOptions());
    if (!engine) {
        return reportError(engine.error());
    }
    app::ServerOptions serverOptions;
    serverOptions.host = options.host;
    serverOptions.port = options.port;
    if (options.apiKey) {
        serverOptions.apiKeys.push_back(*options.apiKey);
    }
    if (options.adminKey) {
        serverOptions.adminKeys.push_back(*options.adminKey);
    }
    const auto adapterBytes = options.lora.fileBytes();
    if (!adapterBytes) {
        return reportError(adapterBytes.error());
    }
    // The port first: that it is taken should not cost a model's loading time.
    auto server = app::Server::start(**engine, serverOptions);
    if (!server) {
        return reportError(server.error());
    }
    for (const std::string& name : options.models) {
        auto model = loadNamed(**engine, library, name, options.modelFlags, *adapterBytes);
        if (!model) {
            return reportError(model.error());
        }
        tellUser("serving " + (*model)->name);
        for (const std::string& note : (*model)->notes) {
            tellUser("  " + note);
        }
    }
    if (const auto adapters = options.lora.load(**engine, false); !adapters) {
        return reportError(adapters.error());
    }
    tellUser("ready on " + (*server)->url() + "/v1");

    std::binary_semaphore ending{0};
    interrupts.setHandler([&] {
        interrupts.setHandler({});  // a second one ends the program at once
        ending.release();
    });
    ending.acquire();
    tellUser("ending; running requests have " + std::to_string(kGrace.count()) + " s");
    (*server)->stop(kGrace);
    (*engine)->shutdown(std::chrono::milliseconds(0));
    return kExitOk;
}

}  // namespace quern::cli
