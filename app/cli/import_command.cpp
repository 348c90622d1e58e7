#include "app/cli/import_command.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/exit_codes.h"
#include "app/cli/standard_streams.h"
#include "app/library/disk_space.h"
#include "engine/model_file.h"

namespace quern::cli {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](char c) {
        return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    });
    return text;
}

// "…/Qwen3-0.6B/" → "Qwen3-0.6B", "…/model.gguf" → "model".
std::string stemOf(const fs::path& source) {
    std::error_code ignored;
    fs::path path = fs::absolute(source, ignored).lexically_normal();
    if (!path.has_filename()) {
        path = path.parent_path();
    }
    return fs::is_directory(path, ignored) ? path.filename().string() : path.stem().string();
}

fs::path targetOf(const ImportCommandOptions& options, const app::DataFolders& folders) {
    if (!options.output.empty()) {
        return options.output;
    }
    std::string stem = options.name.empty() ? stemOf(options.source) : options.name;
    std::replace(stem.begin(), stem.end(), '/', '-');
    return folders.models() / (stem + "-" + upper(options.quantization) + ".gguf");
}

// "3.2 GB of 4.1 GB, blk.12.ffn_down.weight", once a percent.
class ProgressLine {
public:
    void show(const engine::ImportProgress& progress) {
        const std::int64_t percent =
            progress.totalBytes > 0 ? progress.doneBytes * 100 / progress.totalBytes : 0;
        // Without a terminal a line for each tenth.
        const std::int64_t step = m_isTerminal ? percent : percent / 10 * 10;
        if (step == m_shown) {
            return;
        }
        m_shown = step;
        std::fprintf(stderr,
                     m_isTerminal ? "\r%3lld %% (%s of %s) %s\033[K" : "%lld %% (%s of %s) %s\n",
                     static_cast<long long>(step), app::humanBytes(progress.doneBytes).c_str(),
                     app::humanBytes(progress.totalBytes).c_str(), progress.tensor.c_str());
    }
    void clear() const {
        if (m_isTerminal && m_shown >= 0) {
            std::fputs("\r\033[K", stderr);
        }
    }

private:
    bool m_isTerminal = ::isatty(STDERR_FILENO) != 0;
    std::int64_t m_shown = -1;
};

void printReport(const engine::ImportReport& report, const fs::path& target, bool asJson) {
    if (asJson) {
        Json types = Json::object();
        for (const auto& [type, bytes] : report.types) {
            types[type] = bytes;
        }
        const Json json{{"path", target.string()},
                        {"bytes", report.fileBytes},
                        {"types", types},
                        {"notes", report.notes}};
        std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
        return;
    }
    std::string types;
    for (const auto& [type, bytes] : report.types) {
        types += (types.empty() ? "" : ", ") + type + " " + app::humanBytes(bytes);
    }
    std::fprintf(stderr, "%s: %s\n", app::humanBytes(report.fileBytes).c_str(), types.c_str());
    for (const std::string& note : report.notes) {
        tellUser("note: " + note);
    }
    std::printf("%s\n", target.c_str());
}

}  // namespace

int runModelsImport(const ImportCommandOptions& options, const app::DataFolders& folders,
                    InterruptWatcher& interrupts) {
    std::atomic<bool> isCancelled = false;
    interrupts.setHandler([&] { isCancelled = true; });
    ProgressLine line;
    const fs::path target = targetOf(options, folders);
    const auto report =
        engine::importModel({.source = options.source,
                             .target = target,
                             .quantization = options.quantization,
                             .name = options.name,
                             .progress = [&](const engine::ImportProgress& progress) {
                                 line.show(progress);
                                 return !isCancelled.load();
                             }});
    interrupts.setHandler({});
    line.clear();
    if (!report) {
        return reportError(report.error());
    }
    printReport(*report, target, options.asJson);
    return kExitOk;
}

}  // namespace quern::cli
