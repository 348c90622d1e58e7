#include "ui/demo/scenes.h"

#include <cmath>

#include "ui/demo/demo_texts.h"
#include "ui/session.h"

namespace quern::ui {
namespace {

QList<qreal> wave(double base, double slow, double fast, double phase) {
    QList<qreal> values;
    for (int i = 0; i < Monitor::kHistory; ++i) {
        const double t = i / 10.0;
        values.append(base + slow * std::sin(t / 8.0 + phase) + fast * std::sin(t * 1.9 + phase));
    }
    return values;
}

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

}  // namespace

const QList<DemoScene>& demoScenes() {
    static const QList<DemoScene> kScenes{
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
        {QStringLiteral("chat-thinking"),
         {.reply = DemoReply::kKeepWriting, .text = std::string("<think>\n") + kDemoThought},
         false,
         false,
         sendSomething},
        {QStringLiteral("chat-thought"),
         {},
         false,
         false,
         [](Session& session, std::int64_t conversation) {
             openChat(session, conversation);
             QObject::connect(session.chat()->transcript(), &Transcript::countChanged,
                              session.chat(), [&session] {
                                  QObject::disconnect(session.chat()->transcript(), nullptr,
                                                      session.chat(), nullptr);
                                  session.chat()->transcript()->fold(session.chat()->lastReply(),
                                                                     false);
                              });
         }},
        {QStringLiteral("chat-call"), {.text = kDemoCall}, false, false, sendSomething},
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
        {QStringLiteral("chat-full"),
         {.reply = DemoReply::kFillContext, .text = std::string(kDemoAnswer).substr(0, 640)},
         false,
         false,
         sendSomething},
        {QStringLiteral("chat-not-saved"),
         {},
         false,
         false,
         [](Session& session, std::int64_t conversation) {
             openChat(session, conversation);
             session.tell({{.file = StartTrouble::File::kSettings,
                            .outcome = StartTrouble::Outcome::kSetAside,
                            .kept = "/home/ada/.config/quern/settings.json.broken",
                            .reason = "/home/ada/.config/quern/settings.json is not a JSON object"},
                           {.file = StartTrouble::File::kConversations,
                            .outcome = StartTrouble::Outcome::kReadOnly,
                            .kept = {},
                            .reason = "/home/ada/.local/share/quern cannot be written: Read-only "
                                      "file system"}});
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

}  // namespace quern::ui
