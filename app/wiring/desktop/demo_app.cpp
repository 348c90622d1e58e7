#include "app/wiring/desktop/demo_app.h"

#include <QGuiApplication>
#include <QStyleHints>
#include <QTemporaryDir>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>

#include "app/wiring/desktop/demo_store.h"
#include "app/wiring/desktop/stored_conversations.h"
#include "app/wiring/desktop/written_replies.h"
#include "ui/demo/demo_conversations.h"
#include "ui/demo/demo_ports.h"
#include "ui/demo/scenes.h"
#include "ui/desktop.h"
#include "ui/session.h"

namespace quern::app {
namespace {

constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kPatienceMs = 60000;

std::atomic<int> warnings{0};

void countWarnings(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type != QtDebugMsg && type != QtInfoMsg) {
        ++warnings;
    }
    std::fprintf(stderr, "%s\n", qPrintable(message));
}

const ui::DemoScene* findScene(const QString& name) {
    const QList<ui::DemoScene>& scenes = ui::demoScenes();
    const auto at = std::find_if(scenes.begin(), scenes.end(), [&name](const ui::DemoScene& scene) {
        return scene.name == name;
    });
    if (at != scenes.end()) {
        return &*at;
    }
    QStringList names;
    for (const ui::DemoScene& scene : scenes) {
        names += scene.name;
    }
    std::fprintf(stderr, "no scene \"%s\"; there are: %s\n", qPrintable(name),
                 qPrintable(names.join(u' ')));
    return nullptr;
}

int complain(const Error& error) {
    std::fprintf(stderr, "%s\n", error.message.c_str());
    return kFailed;
}

}  // namespace

int runDemo(QGuiApplication& app, const DemoOptions& options) {
    const ui::DemoScene* scene = findScene(options.scene);
    if (scene == nullptr) {
        return kUsage;
    }
    const bool isShot = !options.shot.isEmpty();
    if (isShot) {
        qInstallMessageHandler(countWarnings);
        app.styleHints()->setCursorFlashTime(0);
    }
    const QTemporaryDir folder;
    std::int64_t clockMs = 0;
    auto store =
        ConversationStore::open(std::filesystem::path(folder.path().toStdString()) / "quern.db",
                                [&clockMs] { return clockMs; });
    if (!store) {
        return complain(store.error());
    }
    const auto conversation = fillDemoStore(**store, scene->isLong, clockMs);
    if (!conversation) {
        return complain(conversation.error());
    }
    ui::DemoEngine engine(scene->engine);
    ChatService chat(engine, **store);
    StoredConversations conversations(**store);
    WrittenReplies replies(chat);
    ui::MemorySettings settings;
    ui::DemoLibrary library(scene->isShelfEmpty);
    ui::DemoServer server;
    ui::Desktop desktop({.engine = engine,
                         .conversations = conversations,
                         .replies = replies,
                         .library = library,
                         .server = server,
                         .settings = settings},
                        {});
    ui::Session& session = desktop.session();
    session.chat()->conversations()->setClock([] { return ui::kDemoNow; });
    session.setAppearance(options.theme);
    session.setTextScale(options.textScale);
    session.setStill(isShot);
    scene->arrange(session, *conversation);
    if (!desktop.show()) {
        return kFailed;
    }
    if (!isShot) {
        return QGuiApplication::exec();
    }
    if (!desktop.shoot(options.shot, options.size, kPatienceMs)) {
        return complain({.message = "cannot write " + options.shot.toStdString()});
    }
    return warnings == 0 ? 0 : kFailed;
}

}  // namespace quern::app
