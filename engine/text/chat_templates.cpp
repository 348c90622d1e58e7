#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "engine/formats/gguf.h"
#include "engine/text.h"
#include "engine/text/chat_templates_known.h"

namespace quern::engine {
namespace {

namespace fs = std::filesystem;

// The longest templates that are about have 20 kB; a tokenizer.json has some tens of MB.
constexpr std::uintmax_t kMaxTemplateBytes = std::uintmax_t{4} << 20U;
constexpr std::uintmax_t kMaxJsonBytes = std::uintmax_t{512} << 20U;
constexpr std::size_t kMaxTemplates = 64;

/// Template texts by name; the one without a name is "default".
using Sources = std::map<std::string, std::string, std::less<>>;

Result<std::string> readText(const fs::path& path, std::uintmax_t limit) {
    std::error_code error;
    const std::uintmax_t size = fs::file_size(path, error);
    if (error) {
        return fail(ErrorCode::kIo, "cannot read " + path.filename().string(), error.message());
    }
    if (size > limit) {
        return fail(ErrorCode::kCorrupt, path.filename().string() + " has " + std::to_string(size) +
                                             " bytes; at most " + std::to_string(limit) +
                                             " are read");
    }
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (file.bad()) {
        return fail(ErrorCode::kIo, "cannot read " + path.filename().string());
    }
    return text;
}

/// The JSON object in a file; an empty one when there is no such file.
Result<nlohmann::json> readObject(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
        return nlohmann::json::object();
    }
    auto text = readText(path, kMaxJsonBytes);
    if (!text) {
        return forward(text);
    }
    nlohmann::json parsed = nlohmann::json::parse(*text, nullptr, false);
    if (!parsed.is_object()) {
        return fail(ErrorCode::kCorrupt, path.filename().string() + " is not a JSON object");
    }
    return parsed;
}

std::string textMember(const nlohmann::json& object, const char* key) {
    return object.contains(key) && object.at(key).is_string() ? object.at(key).get<std::string>()
                                                              : "";
}

/// "chat_template" of a JSON file: a text, or a list of {name, template}, or texts by name.
Status addFromJson(const fs::path& path, Sources& sources) {
    const auto object = readObject(path);
    if (!object) {
        return tl::unexpected(object.error());
    }
    if (!object->contains("chat_template") || object->at("chat_template").is_null()) {
        return {};
    }
    const nlohmann::json& found = object->at("chat_template");
    if (found.is_string()) {
        sources["default"] = found.get<std::string>();
        return {};
    }
    const auto wrong = [&] {
        return fail(ErrorCode::kCorrupt, path.filename().string() +
                                             ": chat_template must be a text or a list of "
                                             "{name, template}");
    };
    if ((!found.is_array() && !found.is_object()) || found.size() > kMaxTemplates) {
        return wrong();
    }
    for (const auto& [key, value] : found.items()) {
        if (found.is_object() && value.is_string()) {
            sources[key] = value.get<std::string>();
        } else if (found.is_array() && value.is_object() && !textMember(value, "name").empty()) {
            sources[textMember(value, "name")] = textMember(value, "template");
        } else {
            return wrong();
        }
    }
    return {};
}

Status addFromFile(const fs::path& path, const std::string& name, Sources& sources) {
    std::error_code error;
    if (!fs::is_regular_file(path, error)) {
        return {};
    }
    auto text = readText(path, kMaxTemplateBytes);
    if (!text) {
        return tl::unexpected(text.error());
    }
    sources[name] = std::move(*text);
    return {};
}

/// Later ones win, as transformers has it: files of their own over the configuration.
Result<Sources> sourcesOfFolder(const fs::path& folder) {
    Sources sources;
    for (const char* name : {"tokenizer_config.json", "chat_template.json"}) {
        if (const Status status = addFromJson(folder / name, sources); !status) {
            return tl::unexpected(status.error());
        }
    }
    if (const Status status = addFromFile(folder / "chat_template.jinja", "default", sources);
        !status) {
        return tl::unexpected(status.error());
    }
    std::error_code error;
    for (fs::directory_iterator entry(folder / "additional_chat_templates", error), end;
         !error && entry != end && sources.size() < kMaxTemplates; entry.increment(error)) {
        if (entry->path().extension() == ".jinja") {
            const Status status =
                addFromFile(entry->path(), entry->path().stem().string(), sources);
            if (!status) {
                return tl::unexpected(status.error());
            }
        }
    }
    return sources;
}

Result<Sources> sourcesOfGguf(const GgufMetadata& metadata) {
    Sources sources;
    const std::string key = "tokenizer.chat_template";
    const auto add = [&](const std::string& name, const std::string& at) -> Status {
        if (metadata.has(at)) {
            const auto text = metadata.string(at);
            if (!text) {
                return tl::unexpected(text.error());
            }
            if (!text->empty()) {
                sources[name] = std::string(*text);
            }
        }
        return {};
    };
    if (metadata.has("tokenizer.chat_templates")) {
        const auto names = metadata.strings("tokenizer.chat_templates");
        if (!names) {
            return tl::unexpected(names.error());
        }
        std::size_t count = 0;
        for (const std::string_view name : *names) {
            if (++count > kMaxTemplates) {
                break;
            }
            const std::string text(name);
            if (const Status status = add(text, key + "." + text); !status) {
                return tl::unexpected(status.error());
            }
        }
    }
    if (const Status status = add("default", key); !status) {
        return tl::unexpected(status.error());
    }
    return sources;
}

Result<std::shared_ptr<const ChatTemplate>> make(const std::string& name,
                                                 const std::string& source) {
    auto made = ChatTemplate::create(source);
    if (!made && name != "default") {
        made.error().message = "template '" + name + "': " + made.error().message;
    }
    return made;
}

Result<ChatTemplates> fromSources(const Sources& sources, const ModelSigns& signs) {
    ChatTemplates templates;
    if (const auto found = sources.find("tool_use"); found != sources.end()) {
        auto made = make(found->first, found->second);
        if (!made) {
            return forward(made);
        }
        templates.toolUse = std::move(*made);
    }
    if (const auto found = sources.find("default"); found != sources.end()) {
        auto made = make(found->first, found->second);
        if (!made) {
            return forward(made);
        }
        templates.standard = std::move(*made);
        return templates;
    }
    if (const auto known = recognizeTemplate(signs)) {
        auto made = make("default", std::string(known->source));
        if (!made) {
            return forward(made);
        }
        templates.standard = std::move(*made);
        templates.recognizedAs = std::string(known->name);
    }
    return templates;
}

Result<ChatTemplates> loadFromGguf(const fs::path& path) {
    const auto file = GgufFile::open(path);
    if (!file) {
        return tl::unexpected(file.error());
    }
    const GgufMetadata& metadata = (*file)->metadata();
    const auto sources = sourcesOfGguf(metadata);
    if (!sources) {
        return tl::unexpected(sources.error());
    }
    std::set<std::string_view> tokens;
    if (const auto pieces = metadata.strings("tokenizer.ggml.tokens")) {
        for (const std::string_view piece : *pieces) {
            // All marks of chat formats begin with a bracket; the rest of a vocabulary does not.
            if (piece.size() > 2 && (piece[0] == '<' || piece[0] == '[')) {
                tokens.insert(piece);
            }
        }
    }
    const ModelSigns signs = {
        .name = std::string(metadata.stringOr("general.name", "").value_or("")),
        .hasToken = [&](std::string_view token) { return tokens.count(token) > 0; }};
    return fromSources(*sources, signs);
}

/// The tokens that a folder's tokenizer adds to its vocabulary.
std::set<std::string, std::less<>> addedTokens(const fs::path& folder) {
    std::set<std::string, std::less<>> tokens;
    if (const auto tokenizer = readObject(folder / "tokenizer.json")) {
        if (tokenizer->contains("added_tokens") && tokenizer->at("added_tokens").is_array()) {
            for (const nlohmann::json& token : tokenizer->at("added_tokens")) {
                if (token.is_object()) {
                    tokens.insert(textMember(token, "content"));
                }
            }
        }
    }
    return tokens;
}

Result<ChatTemplates> loadFromFolder(const fs::path& folder) {
    const auto sources = sourcesOfFolder(folder);
    if (!sources) {
        return tl::unexpected(sources.error());
    }
    std::set<std::string, std::less<>> tokens;
    ModelSigns signs = {
        .name = fs::absolute(folder).filename().string(),
        .hasToken = [&](std::string_view token) { return tokens.count(token) > 0; }};
    if (sources->find("default") == sources->end()) {
        tokens = addedTokens(folder);
        if (const auto config = readObject(folder / "config.json")) {
            const std::string name = textMember(*config, "_name_or_path");
            signs.name = name.empty() ? signs.name : name;
        }
    }
    return fromSources(*sources, signs);
}

}  // namespace

Result<ChatTemplates> loadChatTemplates(const std::filesystem::path& model) {
    std::error_code error;
    if (!fs::exists(model, error)) {
        return fail(ErrorCode::kNotFound, "there is no " + model.string());
    }
    try {
        if (fs::is_directory(model, error)) {
            return loadFromFolder(model);
        }
        if (model.filename() == "tokenizer.json") {
            return loadFromFolder(model.parent_path().empty() ? fs::path(".")
                                                              : model.parent_path());
        }
        return loadFromGguf(model);
    } catch (const std::exception& failure) {
        return fail(ErrorCode::kInternal,
                    "the chat templates of " + model.filename().string() + " could not be read",
                    failure.what());
    }
}

}  // namespace quern::engine
