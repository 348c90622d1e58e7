#include "app/wiring/desktop/desktop_app.h"

#include <chrono>
#include <optional>

#include "app/chat/opened_conversations.h"
#include "app/wiring/desktop/file_settings.h"
#include "app/wiring/desktop/hosted_server.h"
#include "app/wiring/desktop/shelved_models.h"
#include "app/wiring/desktop/stored_conversations.h"
#include "app/wiring/desktop/written_replies.h"

namespace quern::app {
namespace {

constexpr std::chrono::milliseconds kShutdownGrace{500};

std::optional<std::filesystem::path> pathOf(const std::string& dataFolder) {
    return dataFolder.empty() ? std::nullopt : std::optional<std::filesystem::path>(dataFolder);
}

ui::StartTrouble::Outcome outcomeOf(FileTrouble::Outcome outcome) {
    switch (outcome) {
        case FileTrouble::Outcome::kSetAside:
            return ui::StartTrouble::Outcome::kSetAside;
        case FileTrouble::Outcome::kReadOnly:
            return ui::StartTrouble::Outcome::kReadOnly;
        case FileTrouble::Outcome::kUnread:
            break;
    }
    return ui::StartTrouble::Outcome::kUnread;
}

void add(const std::optional<FileTrouble>& trouble, ui::StartTrouble::File file,
         std::vector<ui::StartTrouble>& out) {
    if (trouble) {
        const Error& error = trouble->error;
        out.push_back(
            {.file = file,
             .outcome = outcomeOf(trouble->outcome),
             .kept = trouble->kept.string(),
             .reason = error.cause.empty() ? error.message : error.message + ": " + error.cause});
    }
}

}  // namespace

struct DesktopApp::Parts {
    std::unique_ptr<SettingsFile> settingsFile;
    std::unique_ptr<ConversationStore> store;
    std::unique_ptr<engine::Engine> engine;
    std::optional<FileSettings> settings;
    std::optional<ChatService> chat;
    std::optional<StoredConversations> conversations;
    std::optional<WrittenReplies> replies;
    std::optional<ShelvedModels> library;
    std::optional<HostedServer> server;
    std::optional<ui::Desktop> desktop;
};

DesktopApp::DesktopApp(std::unique_ptr<Parts> parts) : m_parts(std::move(parts)) {}

DesktopApp::~DesktopApp() {
    m_parts->desktop.reset();
    m_parts->chat.reset();  // saves what running replies have shown
    m_parts->server->stop();
    m_parts->engine->shutdown(kShutdownGrace);
}

ui::Desktop& DesktopApp::desktop() {
    return *m_parts->desktop;
}

Result<std::unique_ptr<DesktopApp>> DesktopApp::create(const DesktopStart& start) {
    auto parts = std::make_unique<Parts>();
    Result<DataFolders> folders = openDataFolders(pathOf(start.dataFolder));
    if (!folders) {
        return forward(folders);
    }
    parts->settingsFile = SettingsFile::open(folders->settingsFile);
    Result<OpenedConversations> conversations = openConversations(folders->database());
    if (!conversations) {
        return forward(conversations);
    }
    parts->store = std::move(conversations->store);
    std::vector<ui::StartTrouble> troubles;
    add(parts->settingsFile->trouble(), ui::StartTrouble::File::kSettings, troubles);
    add(conversations->trouble, ui::StartTrouble::File::kConversations, troubles);
    Result<std::unique_ptr<engine::Engine>> engine = engine::makeEngine({});
    if (!engine) {
        return forward(engine);
    }
    parts->engine = std::move(*engine);
    parts->settings.emplace(*parts->settingsFile);
    parts->chat.emplace(*parts->engine, *parts->store);
    parts->conversations.emplace(*parts->store);
    parts->replies.emplace(*parts->chat);
    parts->library.emplace(*folders, *parts->engine);
    parts->server.emplace(*parts->engine);

    QString model;
    if (!start.model.isEmpty()) {
        Result<std::filesystem::path> found =
            ModelLibrary(*folders).resolve(start.model.toStdString());
        if (!found) {
            return forward(found);
        }
        model = QString::fromStdString(found->string());
    }
    parts->desktop.emplace(
        ui::DesktopPorts{.engine = *parts->engine,
                         .conversations = *parts->conversations,
                         .replies = *parts->replies,
                         .library = *parts->library,
                         .server = *parts->server,
                         .settings = *parts->settings},
        ui::DesktopOptions{.openFile = start.file,
                           .loadModel = model,
                           .startsServer = parts->settings->get("server.isOn") == "true",
                           .troubles = std::move(troubles)});
    return std::unique_ptr<DesktopApp>(new DesktopApp(std::move(parts)));
}

Result<QString> instanceKey(const std::string& dataFolder) {
    Result<DataFolders> folders = openDataFolders(pathOf(dataFolder));
    if (!folders) {
        return forward(folders);
    }
    return QString::fromStdString(folders->data.string());
}

}  // namespace quern::app
