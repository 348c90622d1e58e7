#include "app/cli/models_command.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "app/cli/exit_codes.h"
#include "app/cli/standard_streams.h"
#include "app/cli/terminal_text.h"
#include "app/library/disk_space.h"
#include "engine/model_info.h"

namespace quern::cli {

namespace {

using Json = nlohmann::ordered_json;

void printJson(const Json& json) {
    std::printf("%s\n", json.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Json asJson(const app::LibraryModel& model) {
    return {{"name", model.name},
            {"path", model.path.string()},
            {"origin", model.origin},
            {"bytes", model.bytes},
            {"linked", model.isLinked}};
}

/// How far a pull is: a line that changes in a terminal, else a line a stage.
class PullProgress {
public:
    explicit PullProgress(bool isVerbose) : m_isVerbose(isVerbose) {}
    void show(const app::TransferProgress& progress) {
        if (!progress.note.empty()) {
            clear();
            tellUser(progress.note);
        }
        if (m_isVerbose && !progress.detail.empty()) {
            clear();
            std::fputs(withoutTerminalControls(progress.detail).c_str(), stderr);
        }
        const std::string stage = withoutTerminalControls(progress.stage);
        if (m_isTerminal) {
            const std::string total =
                progress.totalBytes > 0 ? " of " + app::humanBytes(progress.totalBytes) : "";
            std::fprintf(stderr, "\r%s: %s%s\033[K", stage.c_str(),
                         app::humanBytes(progress.doneBytes).c_str(), total.c_str());
        } else if (stage != m_stage) {
            std::fprintf(stderr, "%s\n", stage.c_str());
        }
        m_stage = stage;
    }
    void clear() const {
        if (m_isTerminal && !m_stage.empty()) {
            std::fputs("\r\033[K", stderr);
        }
    }

private:
    bool m_isVerbose;
    bool m_isTerminal = ::isatty(STDERR_FILENO) != 0;
    std::string m_stage;  // that was shown last
};

}  // namespace

int runModelsList(const app::ModelLibrary& library, bool looksElsewhere, bool asJsonText) {
    auto models = library.list();
    if (!models) {
        return reportError(models.error());
    }
    if (const Status sound = library.checkLinks(); !sound) {
        tellUser(sound.error().message);
    }
    const auto elsewhere =
        looksElsewhere ? library.findElsewhere() : std::vector<app::LibraryModel>();
    if (asJsonText) {
        Json json{{"models", Json::array()}, {"elsewhere", Json::array()}};
        for (const auto& model : *models) {
            json["models"].push_back(asJson(model));
        }
        for (const auto& model : elsewhere) {
            json["elsewhere"].push_back(asJson(model));
        }
        printJson(json);
        return kExitOk;
    }
    if (models->empty()) {
        std::fputs("no models yet; try: quern models pull starter\n", stderr);
    }
    for (const auto& model : *models) {
        std::printf("%-44s %10s  %s\n", withoutTerminalControls(model.name).c_str(),
                    app::humanBytes(model.bytes).c_str(),
                    model.isLinked ? withoutTerminalControls(model.path.string()).c_str() : "");
    }
    if (!elsewhere.empty()) {
        std::printf("\nfound elsewhere (quern models link PATH adds one in place):\n");
        for (const auto& model : elsewhere) {
            std::printf("%-12s %10s  %s\n", model.origin.c_str(),
                        app::humanBytes(model.bytes).c_str(),
                        withoutTerminalControls(model.path.string()).c_str());
        }
    }
    return kExitOk;
}

int runModelsPull(app::ModelLibrary& library, const std::string& source, bool isVerbose,
                  InterruptWatcher& interrupts) {
    std::atomic<bool> isCancelled = false;
    interrupts.setHandler([&] { isCancelled = true; });
    PullProgress shown(isVerbose);
    auto path = library.pull(source, [&](const app::TransferProgress& progress) {
        shown.show(progress);
        return !isCancelled.load();
    });
    interrupts.setHandler({});
    shown.clear();
    if (!path) {
        return reportError(path.error());
    }
    std::printf("%s\n", path->c_str());
    return kExitOk;
}

int runModelsRemove(app::ModelLibrary& library, const std::string& model) {
    const auto removed = library.remove(model);
    if (!removed) {
        return reportError(removed.error());
    }
    tellUser(model + " is removed");
    return kExitOk;
}

int runModelsLink(app::ModelLibrary& library, const std::string& path) {
    // What is no model, or a broken one, is told now and not when it is asked for.
    if (const auto info = engine::inspectModel(path); !info) {
        return reportError(info.error());
    }
    const auto linked = library.link(path);
    if (!linked) {
        return reportError(linked.error());
    }
    tellUser("the model is called " + *linked + " here; its file stays where it is");
    return kExitOk;
}

}  // namespace quern::cli
