#include "ui/demo/demo.h"

#include <QDateTime>
#include <QGuiApplication>
#include <QStyleHints>
#include <atomic>
#include <cmath>
#include <cstdio>

#include "ui/core/session.h"
#include "ui/demo/demo_engine.h"
#include "ui/demo/demo_ports.h"
#include "ui/demo/demo_texts.h"
#include "ui/demo/memory_conversations.h"
#include "ui/desktop.h"

namespace quern::ui {
namespace {

constexpr std::int64_t kNow = 1768478400;  // 15 January 2026, noon UTC
constexpr std::int64_t kDay = 86400;
constexpr int kPatienceMs = 60000;

std::atomic<int> warnings{0};

void countWarnings(QtMsgType type, const QMessageLogContext&, const QString& message) {
    if (type != QtDebugMsg && type != QtInfoMsg) {
        ++warnings;
    }
    std::fprintf(stderr, "%s\n", qPrintable(message));
}

Turn userTurn(const char* text) {
    Turn turn;
    turn.role = "user";
    turn.text = text;
    return turn;
}

Turn replyTurn(const char* text) {
    Turn turn;
    turn.role = "assistant";
    turn.text = text;
    turn.model = "qwen3-8b";
    turn.figures = TurnFigures{.tokensPerSecond = 42.3,
                               .ttftMs = 212,
                               .promptTokens = 352,
                               .cachedTokens = 320,
                               .completionTokens = 318,
                               .stop = "eos"};
    return turn;
}

/// The port is in memory here: nothing can fail.
std::int64_t add(MemoryConversations& store, std::int64_t conversation, std::int64_t parent,
                 Turn turn) {
    turn.parent = parent;
    return store.addTurn(conversation, turn).value_or(0);
}

/// A handful of conversations; returns the one that scenes open.
std::int64_t fill(MemoryConversations& store, bool isLong) {
    static constexpr const char* kTitles[] = {
        "Stones for a travelling mill",     "Regular expressions that do not backtrack",
        "Names for a small bakery",         "Proof that √2 is irrational",
        "Letter to the landlord",           "Sourdough at 14 °C",
        "What a B-tree does on a full disk"};
    std::int64_t time = kNow - 6 * kDay;
    for (const char* title : kTitles) {
        store.setTime(time);
        time += kDay - kDay / 10;
        const std::int64_t id = store.create(title, {}).value_or(0);
        add(store, id, add(store, id, 0, userTurn(title)), replyTurn(kDemoShort));
    }
    store.setTime(kNow);
    const std::int64_t id = store.create("How to set a hand mill", {}).value_or(0);
    std::int64_t last = add(store, id, 0, userTurn("How do I set the gap of a hand mill?"));
    last = add(store, id, last, replyTurn(kDemoAnswer));
    for (int i = 0; isLong && i < 12; ++i) {
        last = add(store, id, last, userTurn("Tell me more about where they come from."));
        last = add(store, id, last, replyTurn(kDemoLong));
    }
    last = add(store, id, last,
               userTurn("Does it matter how sharp the stones are?\nMine are from 1911."));
    for (int branch = 0; branch < 3; ++branch) {
        add(store, id, last, replyTurn(kDemoShort));
    }
    return id;
}

QList<qreal> wave(double base, double slow, double fast, double phase) {
    QList<qreal> values;
    for (int i = 0; i < Monitor::kHistory; ++i) {
        const double t = i / 10.0;
        values.append(base + slow * std::sin(t / 8.0 + phase) + fast * std::sin(t * 1.9 + phase));
    }
    return values;
}

struct Scene {
    QString name;
    DemoEngineOptions engine;
    bool isShelfEmpty = false;
    bool isLong = false;
    void (*arrange)(Session& session, std::int64_t conversation) = nullptr;
};

void openChat(Session& session, std::int64_t conversation) {
    session.chat()->open(conversation);
}

void sendSomething(Session& session, std::int64_t) {
    session.chat()->setDraft(QStringLiteral("How do I set the gap of a hand mill?"));
    // The models are asked for first, on another worker: without one nothing is sent.
    QObject::connect(session.host(), &ModelHost::changed, session.chat(), &Chat::send);
    QObject::connect(session.chat(), &Chat::draftChanged, session.chat(), [&session] {
        QObject::disconnect(session.host(), nullptr, session.chat(), nullptr);
    });
}

void showModels(Session& session, std::int64_t) {
    session.setScreen(QStringLiteral("models"));
}

void showMonitor(Session& session, std::int64_t) {
    session.setScreen(QStringLiteral("monitor"));
    session.monitor()->setHistory(wave(1284, 260, 70, 1.2), wave(6900, 1700, 900, 4.0));
}

void showServer(Session& session, std::int64_t) {
    session.setScreen(QStringLiteral("server"));
    session.server()->turn(true);
}

const QList<Scene>& scenes() {
    static const QList<Scene> kScenes{
        {QStringLiteral("chat"), {}, false, false, openChat},
        {QStringLiteral("chat-empty"), {}, false, false, [](Session&, std::int64_t) {}},
        {QStringLiteral("chat-no-model"),
         {.hasModel = false, .text = {}},
         false,
         false,
         [](Session&, std::int64_t) {}},
        {QStringLiteral("chat-loading"),
         {.hasModel = false, .loadsForever = true, .text = {}},
         false,
         false,
         [](Session& session, std::int64_t) {
             session.shelf()->quickLoad(
                 QStringLiteral("/home/ada/.local/share/quern/models/qwen3-8b-q4_k_m.gguf"));
             session.chat()->setDraft(QStringLiteral("Already typing while it loads"));
         }},
        {QStringLiteral("chat-writing"),
         {.reply = DemoReply::kKeepWriting, .text = std::string(kDemoAnswer).substr(0, 640)},
         false,
         false,
         sendSomething},
        {QStringLiteral("chat-queued"),
         {.reply = DemoReply::kKeepWaiting, .text = {}},
         false,
         false,
         sendSomething},
        {QStringLiteral("chat-error"),
         {.reply = DemoReply::kFail, .text = "A hand mill grinds grain between two stones: "},
         false,
         false,
         [](Session& session, std::int64_t conversation) {
             sendSomething(session, conversation);
             session.notices()->show(
                 QObject::tr("The reply is shown but could not be saved."),
                 Error{.code = ErrorCode::kIo,
                       .message = "the disk is full: 0 bytes are free, 4096 are needed",
                       .cause = {}},
                 QObject::tr("Save again"), QStringLiteral("saveReplies"));
         }},
        {QStringLiteral("chat-long"),
         {.reply = DemoReply::kRefuse, .text = {}},
         false,
         true,
         [](Session& session, std::int64_t conversation) {
             openChat(session, conversation);
             session.setInspectorOpen(true);
             QString draft;
             while (draft.size() < 26000) {
                 draft += QStringLiteral("And one more question about the stones. ");
             }
             session.chat()->setDraft(draft);
             QObject::connect(session.chat()->meter(), &PromptMeter::changed, session.chat(),
                              [&session] {
                                  if (session.chat()->meter()->isOver()) {
                                      QObject::disconnect(session.chat()->meter(), nullptr,
                                                          session.chat(), nullptr);
                                      session.chat()->send();
                                  }
                              });
         }},
        {QStringLiteral("models"), {}, false, false, showModels},
        {QStringLiteral("models-empty"), {.hasModel = false, .text = {}}, true, false, showModels},
        {QStringLiteral("models-load"),
         {},
         false,
         false,
         [](Session& session, std::int64_t conversation) {
             showModels(session, conversation);
             QObject::connect(session.shelf(), &ModelShelf::listed, session.shelf(), [&session] {
                 session.shelf()->openSheet(QStringLiteral(
                     "/home/ada/.local/share/quern/models/llama-3.3-70b-q4_k_m.gguf"));
             });
         }},
        {QStringLiteral("monitor"), {}, false, false, showMonitor},
        {QStringLiteral("monitor-idle"),
         {.hasModel = false, .text = {}},
         false,
         false,
         [](Session& session, std::int64_t) { session.setScreen(QStringLiteral("monitor")); }},
        {QStringLiteral("server"), {}, false, false, showServer},
        {QStringLiteral("server-off"),
         {},
         false,
         false,
         [](Session& session, std::int64_t) { session.setScreen(QStringLiteral("server")); }},
        {QStringLiteral("settings"),
         {},
         false,
         false,
         [](Session& session, std::int64_t) { session.setScreen(QStringLiteral("settings")); }},
    };
    return kScenes;
}

}  // namespace

QStringList demoScenes() {
    QStringList names;
    for (const Scene& scene : scenes()) {
        names += scene.name;
    }
    return names;
}

int runDemo(QGuiApplication& app, const DemoOptions& options) {
    const Scene* scene = nullptr;
    for (const Scene& known : scenes()) {
        scene = known.name == options.scene ? &known : scene;
    }
    if (scene == nullptr) {
        std::fprintf(stderr, "no scene \"%s\"; there are: %s\n", qPrintable(options.scene),
                     qPrintable(demoScenes().join(QStringLiteral(" "))));
        return 2;
    }
    const bool isShot = !options.shot.isEmpty();
    if (isShot) {
        qInstallMessageHandler(countWarnings);
        app.styleHints()->setCursorFlashTime(0);
    }
    DemoEngine engine(scene->engine);
    MemoryConversations conversations;
    MemorySettings settings;
    DemoLibrary library(scene->isShelfEmpty);
    DemoServer server;
    const std::int64_t conversation = fill(conversations, scene->isLong);
    Desktop desktop({.engine = engine,
                     .conversations = conversations,
                     .library = library,
                     .server = server,
                     .settings = settings},
                    {});
    Session& session = desktop.session();
    session.chat()->conversations()->setClock([] { return kNow; });
    session.setAppearance(options.theme);
    session.setTextScale(options.textScale);
    session.setStill(isShot);
    scene->arrange(session, conversation);
    if (!desktop.show()) {
        return 1;
    }
    if (!isShot) {
        return app.exec();
    }
    return desktop.shoot(options.shot, options.size, kPatienceMs) && warnings == 0 ? 0 : 1;
}

}  // namespace quern::ui
