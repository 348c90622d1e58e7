#include "app/cli/render_command.h"

#include <cstdio>
#include <ctime>
#include <nlohmann/json.hpp>

#include "app/cli/exit_codes.h"
#include "app/cli/input_text.h"
#include "app/cli/terminal_text.h"
#include "engine/text.h"

namespace quern::cli {

namespace {

/// A JSON file whose top must be of one kind; its text is passed on as it is.
Result<std::string> readJson(const std::filesystem::path& path, bool mustBeList) {
    auto text = readInputFile(path);
    if (!text) {
        return text;
    }
    const auto json = nlohmann::json::parse(*text, nullptr, false);
    if (json.is_discarded() || json.is_array() != mustBeList) {
        return fail(ErrorCode::kInvalidArgument,
                    path.string() + " must hold a JSON " + (mustBeList ? "list" : "object"));
    }
    return text;
}

Result<std::int64_t> parseTime(const std::string& text) {
    std::tm time{};
    const char* end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%S", &time);
    if (end == nullptr || *end != '\0') {
        return fail(ErrorCode::kInvalidArgument,
                    "--now: '" + text + "' is not like 2026-01-15T12:00:00");
    }
    return ::timegm(&time);
}

/// The template to run, and the spellings that its model gives to BOS and EOS.
struct Source {
    std::shared_ptr<const engine::ChatTemplate> standard;
    std::shared_ptr<const engine::ChatTemplate> toolUse;
    std::string bos;
    std::string eos;
};

Result<Source> openSource(const std::filesystem::path& path) {
    Source source;
    if (path.extension() == ".jinja") {
        auto text = readInputFile(path);
        if (!text) {
            return forward(text);
        }
        auto parsed = engine::ChatTemplate::create(std::move(*text));
        if (!parsed) {
            return forward(parsed);
        }
        source.standard = std::move(*parsed);
        return source;
    }
    auto templates = engine::loadChatTemplates(path);
    if (!templates) {
        return forward(templates);
    }
    if (templates->standard == nullptr) {
        return fail(ErrorCode::kNotFound, path.string() + " has no chat template");
    }
    source.standard = templates->standard;
    source.toolUse = templates->toolUse;
    if (auto tokenizer = engine::loadTokenizer(path)) {
        const engine::SpecialTokens& special = (*tokenizer)->special();
        const auto spelling = [&](std::optional<engine::TokenId> id) {
            return id ? std::string((*tokenizer)->tokenBytes(*id)) : std::string();
        };
        source.bos = spelling(special.bos);
        source.eos = spelling(special.eos);
    }
    return source;
}

int usageError(const Error& error) {
    reportError(error);
    return kExitUsage;
}

}  // namespace

int runRender(const RenderOptions& options) {
    auto source = openSource(options.source);
    if (!source) {
        return usageError(source.error());
    }
    engine::TemplateInput input;
    input.bos = options.bos.value_or(source->bos);
    input.eos = options.eos.value_or(source->eos);
    input.kwargs = options.kwargs;
    auto messages = readJson(options.messages, true);
    if (!messages) {
        return usageError(messages.error());
    }
    input.messages = std::move(*messages);
    if (!options.tools.empty()) {
        auto tools = readJson(options.tools, true);
        if (!tools) {
            return usageError(tools.error());
        }
        input.tools = std::move(*tools);
    }
    if (!options.kwargs.empty() &&
        !nlohmann::json::parse(options.kwargs, nullptr, false).is_object()) {
        return usageError({ErrorCode::kInvalidArgument, "--kwargs must be a JSON object"});
    }
    if (!options.now.empty()) {
        auto now = parseTime(options.now);
        if (!now) {
            return usageError(now.error());
        }
        input.now = *now;
    }
    const bool usesTools = !input.tools.empty() && source->toolUse != nullptr;
    auto text = (usesTools ? source->toolUse : source->standard)->render(input);
    if (!text) {
        std::fprintf(stderr, "%s\n", withoutTerminalControls(text.error().message).c_str());
        return kExitFailed;
    }
    std::fwrite(text->data(), 1, text->size(), stdout);
    return kExitOk;
}

}  // namespace quern::cli
