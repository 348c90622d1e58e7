#include "app/cli/model_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "app/cli/standard_streams.h"

namespace quern::cli {

Result<ModelSession> ModelSession::open(const app::ModelLibrary& library,
                                        const std::string& nameOrPath, const ModelFlags& flags,
                                        bool isQuiet, std::optional<engine::Pooling> pooling,
                                        const LoraFlags& lora) {
    if (lora.specs.size() > 1) {
        return failField("--lora", "--lora: a reply takes one adapter; serve takes several");
    }
    auto path = library.resolve(nameOrPath);
    if (!path) {
        return forward(path);
    }
    auto options = flags.loadOptions(*path);
    if (!options) {
        return forward(options);
    }
    options->pooling = pooling;
    const auto adapterBytes = lora.fileBytes();
    if (!adapterBytes) {
        return tl::unexpected<Error>(adapterBytes.error());
    }
    options->adapterBytes = *adapterBytes;
    ModelSession session;
    auto engine = engine::makeEngine(flags.engineOptions());
    if (!engine) {
        return forward(engine);
    }
    session.engine = std::move(*engine);
    const bool showsProgress = !isQuiet && ::isatty(STDERR_FILENO) != 0;
    int lastPercent = -1;
    auto model = session.engine->load(*options, [&](const engine::LoadProgress& progress) {
        const int percent = static_cast<int>(progress.fraction * 100.0);
        if (showsProgress && std::exchange(lastPercent, percent) != percent) {
            std::fprintf(stderr, "\r%s %3d %%\033[K",
                         std::string(engine::stageName(progress.stage)).c_str(), percent);
        }
        return true;
    });
    if (showsProgress) {
        std::fputs("\r\033[K", stderr);
    }
    if (!model) {
        return forward(model);
    }
    session.model = std::move(*model);
    if (!isQuiet) {
        for (const std::string& note : session.model->notes) {
            tellUser(note);
        }
    }
    auto adapters = lora.load(*session.engine, isQuiet);
    if (!adapters) {
        return forward(adapters);
    }
    session.name = adapters->empty() ? session.model->name : adapters->front()->name;
    return session;
}

}  // namespace quern::cli
