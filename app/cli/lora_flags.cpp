#include "app/cli/lora_flags.h"

#include <fmt/format.h>

#include <filesystem>

#include "app/cli/names.h"
#include "app/cli/standard_streams.h"

namespace quern::cli {

namespace {

// A path may have an equals sign too, but a name no slash.
engine::AdapterOptions parseSpec(const std::string& spec) {
    std::error_code ignored;
    const std::size_t equals = spec.find('=');
    const bool isNamed = equals != std::string::npos && equals > 0 && spec.find('/') >= equals &&
                         !std::filesystem::exists(spec, ignored);
    if (!isNamed) {
        return {.path = spec, .name = engine::nameOfPath(spec), .model = {}};
    }
    return {.path = spec.substr(equals + 1), .name = spec.substr(0, equals), .model = {}};
}

Result<std::shared_ptr<const engine::LoadedAdapter>> loadForAny(engine::Engine& engine,
                                                                engine::AdapterOptions options) {
    Result<std::shared_ptr<const engine::LoadedAdapter>> adapter =
        fail(ErrorCode::kNotFound, "no model is loaded");
    for (const auto& model : engine.models()) {
        options.model = model->name;
        adapter = engine.loadAdapter(options);
        if (adapter) {
            return adapter;
        }
    }
    engine.withdraw(options.name);
    return adapter;
}

}  // namespace

void LoraFlags::addTo(CLI::App& command, const std::string& description) {
    // One text each: a prompt may stand behind it.
    addName(command, "--lora", specs, description)
        ->type_name("[NAME=]PATH")
        ->allow_extra_args(false);
}

std::vector<engine::AdapterOptions> LoraFlags::adapters() const {
    std::vector<engine::AdapterOptions> adapters;
    for (const std::string& spec : specs) {
        adapters.push_back(parseSpec(spec));
    }
    return adapters;
}

Result<std::int64_t> LoraFlags::fileBytes() const {
    std::int64_t bytes = 0;
    for (const engine::AdapterOptions& adapter : adapters()) {
        auto info = engine::inspectAdapter(adapter.path);
        if (!info) {
            info.error().message = "--lora: " + info.error().message;
            return forward(info);
        }
        bytes += info->bytes;
    }
    return bytes;
}

Result<std::vector<std::shared_ptr<const engine::LoadedAdapter>>> LoraFlags::load(
    engine::Engine& engine, bool isQuiet) const {
    std::vector<std::shared_ptr<const engine::LoadedAdapter>> loaded;
    for (const engine::AdapterOptions& options : adapters()) {
        auto adapter = loadForAny(engine, options);
        if (!adapter) {
            adapter.error().message = "--lora: " + adapter.error().message;
            return forward(adapter);
        }
        if (!isQuiet) {
            const engine::LoadedAdapter& one = **adapter;
            tellUser(fmt::format("adapter {} of {}: rank {}, {} matrices, {:.1f} MiB", one.name,
                                 one.model, one.info.rank, one.info.matrices,
                                 static_cast<double>(one.heldBytes) / 1048576.0));
        }
        loaded.push_back(std::move(*adapter));
    }
    return loaded;
}

}  // namespace quern::cli
