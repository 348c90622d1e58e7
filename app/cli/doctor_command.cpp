#include "app/cli/doctor_command.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "app/chat/opened_conversations.h"
#include "app/cli/exit_codes.h"
#include "app/library/disk_space.h"
#include "app/storage/settings_file.h"
#include "kernels/kernels.h"

namespace quern::cli {

namespace {

namespace fs = std::filesystem;

enum class Verdict : std::uint8_t { kGood, kNote, kBad };

struct Finding {
    Verdict verdict = Verdict::kGood;
    std::string topic;
    std::string text;
};

std::string firstLine(const fs::path& path) {
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    return line;
}

void examineDevices(std::vector<Finding>& findings) {
    for (const auto& device : kernels::devices()) {
        if (!device.isAvailable) {
            findings.push_back({Verdict::kNote, device.id, "not used: " + device.whyNot});
            continue;
        }
        findings.push_back(
            {Verdict::kGood, device.id,
             fmt::format("{}, {}, {} threads", device.name, device.tier, device.threads)});
        const bool isScarce = device.memoryFreeBytes < std::int64_t{1} << 30;
        findings.push_back({isScarce ? Verdict::kNote : Verdict::kGood, device.id + " memory",
                            fmt::format("{} free of {}", app::humanBytes(device.memoryFreeBytes),
                                        app::humanBytes(device.memoryTotalBytes))});
    }
    std::string tiers;
    for (const auto tier : kernels::availableCpuTiers()) {
        tiers += (tiers.empty() ? "" : ", ") + std::string(kernels::tierName(tier));
    }
    findings.push_back({Verdict::kGood, "cpu tiers", tiers});
}

void examineHugePages(std::vector<Finding>& findings) {
    const std::string setting = firstLine("/sys/kernel/mm/transparent_hugepage/enabled");
    const bool isOff = setting.find("[never]") != std::string::npos;
    findings.push_back({isOff ? Verdict::kNote : Verdict::kGood, "huge pages",
                        setting.empty() ? "not known"
                        : isOff         ? setting + ": decoding is a little slower without"
                                        : setting});
}

std::string inWords(const Error& error) {
    return error.cause.empty() ? error.message : error.message + " (" + error.cause + ")";
}

void examineFolder(const app::DataFolders& folders, std::vector<Finding>& findings) {
    if (folders.trouble) {
        findings.push_back({Verdict::kBad, "folders", inWords(*folders.trouble)});
    }
    if (const Status writable = app::checkWritable(folders.data); !writable) {
        findings.push_back({Verdict::kBad, "data folder",
                            inWords(writable.error()) + ": nothing can be saved or downloaded"});
        return;
    }
    std::error_code error;
    const auto space = fs::space(folders.data, error);
    const auto available = static_cast<std::int64_t>(space.available);
    findings.push_back(
        {error || available < std::int64_t{1} << 30 ? Verdict::kNote : Verdict::kGood,
         "data folder",
         fmt::format("{}, {} free", folders.data.string(),
                     error ? "?" : app::humanBytes(available))});
}

void examineSettings(const app::DataFolders& folders, std::vector<Finding>& findings) {
    const Status sound = app::SettingsFile::examine(folders.settingsFile);
    if (sound) {
        findings.push_back({Verdict::kGood, "settings", folders.settingsFile.string()});
        return;
    }
    findings.push_back(
        {Verdict::kBad, "settings",
         inWords(sound.error()) +
             (sound.error().code == ErrorCode::kCorrupt
                  ? ": mend it, or the window keeps it as settings.json.broken and starts with the "
                    "defaults"
                  : "")});
}

void examineChats(const app::DataFolders& folders, std::vector<Finding>& findings) {
    const fs::path file = folders.database();
    const auto count = app::examineConversations(file);
    if (!count) {
        findings.push_back(
            {Verdict::kBad, "conversations",
             inWords(count.error()) +
                 (count.error().code == ErrorCode::kCorrupt
                      ? ": put a copy of it back, or rename it and a new one is begun"
                      : "")});
        return;
    }
    findings.push_back(
        {Verdict::kGood, "conversations", fmt::format("{} in {}", *count, file.string())});
}

// Files that were damaged once and kept: somebody may have forgotten them.
void examineKept(const app::DataFolders& folders, std::vector<Finding>& findings) {
    const auto look = [&](const fs::path& file, std::string_view suffix) {
        std::error_code error;
        const std::string prefix = file.filename().string() + std::string(suffix);
        for (const auto& entry : fs::directory_iterator(file.parent_path(), error)) {
            const std::string name = entry.path().filename().string();
            if (name.starts_with(prefix) && !name.ends_with("-wal") && !name.ends_with("-shm")) {
                findings.push_back({Verdict::kNote, "kept file",
                                    entry.path().string() + " was damaged, and is not used"});
            }
        }
    };
    look(folders.database(), app::kDamagedSuffix);
    look(folders.settingsFile, app::kBrokenSuffix);
}

void examineModels(const app::ModelLibrary& library, std::vector<Finding>& findings) {
    const auto models = library.list();
    if (!models) {
        findings.push_back({Verdict::kBad, "models", models.error().message});
        return;
    }
    if (const Status sound = library.checkLinks(); !sound) {
        findings.push_back({Verdict::kBad, "linked models", sound.error().message});
    }
    std::int64_t bytes = 0;
    for (const auto& model : *models) {
        bytes += model.bytes;
    }
    findings.push_back({models->empty() ? Verdict::kNote : Verdict::kGood, "models",
                        models->empty()
                            ? "none yet; try: quern models pull starter"
                            : fmt::format("{}, {}", models->size(), app::humanBytes(bytes))});
    const auto elsewhere = library.findElsewhere();
    if (!elsewhere.empty()) {
        findings.push_back(
            {Verdict::kNote, "other programs",
             fmt::format("{} models that can be linked: quern models list --elsewhere",
                         elsewhere.size())});
    }
}

}  // namespace

int runDoctor(const app::DataFolders& folders, const app::ModelLibrary& library, bool asJson) {
    std::vector<Finding> findings;
    examineDevices(findings);
    examineHugePages(findings);
    examineFolder(folders, findings);
    examineSettings(folders, findings);
    examineChats(folders, findings);
    examineKept(folders, findings);
    examineModels(library, findings);
    bool isWell = true;
    auto json = nlohmann::ordered_json::array();
    for (const Finding& finding : findings) {
        isWell = isWell && finding.verdict != Verdict::kBad;
        const char* mark = finding.verdict == Verdict::kGood   ? "ok"
                           : finding.verdict == Verdict::kNote ? "note"
                                                               : "bad";
        if (asJson) {
            json.push_back({{"topic", finding.topic}, {"verdict", mark}, {"text", finding.text}});
        } else {
            std::printf("%-5s %-16s %s\n", mark, finding.topic.c_str(), finding.text.c_str());
        }
    }
    if (asJson) {
        std::printf("%s\n",
                    json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    }
    return isWell ? kExitOk : kExitFailed;
}

}  // namespace quern::cli
