#include "ui/chat/chat.h"

#include <QClipboard>
#include <QGuiApplication>

#include "ui/chat/reply_phase.h"

namespace quern::ui {
namespace {

QString replyUnsaved() {
    return Chat::tr("The reply is shown but could not be saved.");
}

QString messageUnsaved() {
    return Chat::tr("Your message could not be saved, so it was not sent.");
}

}  // namespace

Chat::Chat(ReplyService& service, Worker& countWorker, ConversationStore& store,
           Worker& storeWorker, ModelHost& host, EngineFeed& feed, Notices& notices,
           const Theme& theme, QObject* parent)
    : QObject(parent),
      m_service(service),
      m_countWorker(countWorker),
      m_storeWorker(storeWorker),
      m_host(host),
      m_feed(feed),
      m_notices(notices),
      m_conversations(store, storeWorker, notices),
      m_foreignChanges(store, storeWorker),
      m_meter(service, countWorker),
      m_replies(service),
      m_open(service, store, storeWorker, host, notices, theme,
             [this](std::int64_t conversation) { return m_replies.in(conversation); }) {
    follow();
}

void Chat::follow() {
    m_conversations.setWritingTest(
        [this](qint64 conversation) { return m_replies.in(conversation) != nullptr; });
    connect(&m_conversations, &ConversationList::listed, this, &Chat::titleChanged);
    connect(&m_conversations, &ConversationList::removed, this, [this](qint64 conversation) {
        m_replies.stop(conversation);
        if (conversation == m_open.id()) {
            newConversation();
        }
    });
    connect(&m_foreignChanges, &ForeignChanges::found, this, [this] {
        m_conversations.refresh();
        m_open.refresh();
    });
    connect(&m_feed, &EngineFeed::watchedChanged, this,
            [this] { m_foreignChanges.setShown(m_feed.isShown()); });
    connect(&m_open, &OpenConversation::opened, this, &Chat::opened);
    connect(&m_open, &OpenConversation::shown, this, [this] {
        measure();
        emit titleChanged();
        emit phaseChanged();
    });
    connect(&m_replies, &Replies::placed, this, &Chat::onPlaced);
    connect(&m_replies, &Replies::grew, this, &Chat::onGrew);
    connect(&m_replies, &Replies::ended, this, &Chat::onEnded);
    connect(&m_replies, &Replies::refused, this, &Chat::onRefused);
    connect(&m_replies, &Replies::phaseChanged, this, [this] {
        m_conversations.refreshWriting();
        emit phaseChanged();
    });
    connect(&m_feed, &EngineFeed::updated, this, [this] {
        if (isBusy()) {
            emit phaseChanged();
        }
    });
    connect(&m_host, &ModelHost::changed, this, &Chat::measure);
    connect(&m_open.settings(), &ChatSettings::edited, this, &Chat::measure);
}

void Chat::newConversation() {
    endEdit();
    dismissRefusal();
    m_open.begin();
}

void Chat::open(qint64 conversation) {
    if (conversation != 0 && conversation != m_open.id()) {
        endEdit();
        dismissRefusal();
        m_open.open(conversation);
    }
}

QString Chat::title() const {
    return m_open.id() == 0 ? QString() : m_conversations.titleOf(m_open.id());
}

void Chat::setDraft(const QString& draft) {
    if (m_draft.text() != draft) {
        m_draft.setText(draft);
        m_meter.setDraft(draft);
        dismissRefusal();
        emit draftChanged();
    }
}

ReplyOrder Chat::orderBelow(std::int64_t parent) const {
    return {.conversation = m_open.id(),
            .parent = parent,
            .message = {},
            .settings = m_open.settings().values(),
            .model = m_host.currentName().toStdString()};
}

ReplyOrder Chat::orderOfDraft() const {
    const auto& path = m_open.transcript().path();
    const Turn* edited = m_open.transcript().find(m_draft.editing());
    ReplyOrder order = orderBelow(edited != nullptr ? edited->parent
                                  : path.empty()    ? 0
                                                    : path.back().id);
    order.message = m_draft.message();
    return order;
}

void Chat::send() {
    if (!m_draft.message().empty() && !isBusy() && m_host.hasModel()) {
        dismissRefusal();
        m_replies.order(orderOfDraft());
    }
}

void Chat::beginEdit(qint64 turn) {
    const Turn* edited = m_open.transcript().find(turn);
    if (edited == nullptr || edited->role != "user" || isBusy()) {
        return;
    }
    m_draft.beginEdit(turn, QString::fromStdString(edited->text));
    m_meter.setDraft(m_draft.text());
    dismissRefusal();
    emit draftChanged();
    emit editingChanged();
}

void Chat::endEdit() {
    if (m_draft.editing() != 0) {
        m_draft.endEdit();
        m_meter.setDraft(m_draft.text());
        dismissRefusal();
        emit draftChanged();
        emit editingChanged();
    }
}

void Chat::stop() {
    m_replies.stop(m_open.id());
}

void Chat::regenerate(qint64 turn) {
    const Turn* reply = m_open.transcript().find(turn == 0 ? lastReply() : turn);
    if (reply == nullptr || reply->role == "user" || isBusy() || !m_host.hasModel()) {
        return;
    }
    dismissRefusal();
    m_replies.order(orderBelow(reply->parent));
}

void Chat::selectBranch(qint64 turn, int step) {
    if (!isBusy()) {
        endEdit();
        m_open.selectBranch(turn, step);
    }
}

void Chat::copy(const QString& text) const {
    QGuiApplication::clipboard()->setText(text);
}

void Chat::copyTurn(qint64 turn) const {
    copy(textOf(turn));
}

QString Chat::textOf(qint64 turn) const {
    const Turn* found = m_open.transcript().find(turn);
    return found != nullptr ? QString::fromStdString(found->text) : QString();
}

void Chat::onPlaced(const ReplyView& view) {
    m_conversations.refresh();
    m_notices.withdraw(messageUnsaved());
    if (m_savedEnds != m_unsavedEnds) {
        saveRepliesAgain();  // the service has tried: this only asks how it went
    }
    const Turn& first = view.place->added.front();
    m_open.place(*view.place);
    if (view.place->conversation != m_open.id()) {
        return;
    }
    // What was sent is no draft any more; what was typed since then is.
    if (first.role == "user" && m_draft.message() == first.text) {
        setDraft({});
        endEdit();
    }
    m_promptText = QString::fromStdString(view.place->promptText);
    emit promptTextChanged();
}

void Chat::onGrew(const ReplyView& view) {
    if (view.place->conversation == m_open.id()) {
        m_open.transcript().showLast(view.reply);
        m_meter.setWritten(view.tokens);
        emit grew();
    }
}

void Chat::onEnded(const ReplyView& view) {
    m_conversations.refresh();
    m_open.keepEnd(view.reply);
    if (view.place->conversation == m_open.id()) {
        if (const auto& path = m_open.transcript().path();
            !path.empty() && path.back().id != view.reply.id) {
            m_open.refresh();  // only the last turn is shown as it grows
        }
        measure();
        emit grew();
    }
    if (view.error) {
        ++m_unsavedEnds;
        m_notices.show(replyUnsaved(), *view.error, tr("Save again"),
                       QStringLiteral("saveReplies"));
    }
}

void Chat::onRefused(qint64 conversation, const ReplyView& view) {
    if (view.phase == ReplyPhase::kUnsaved) {
        m_notices.show(messageUnsaved(), *view.error);
    } else if (view.error->code != ErrorCode::kCancelled && conversation == m_open.id()) {
        refuse(QString::fromStdString(view.error->message),
               view.error->code == ErrorCode::kContextLength);
    }
}

void Chat::saveRepliesAgain() {
    m_storeWorker.ask(
        this, [this] { return m_service.saveAgain(); },
        [this, ends = m_unsavedEnds](Status result) {
            if (!result) {
                m_notices.show(replyUnsaved(), result.error(), tr("Save again"),
                               QStringLiteral("saveReplies"));
                return;
            }
            m_savedEnds = ends;
            if (m_savedEnds == m_unsavedEnds) {  // else one came since the question
                m_notices.withdraw(replyUnsaved());
            }
        });
}

void Chat::refuse(const QString& reason, bool isTooLong) {
    m_refusal = reason;
    m_isTooLong = isTooLong;
    emit refusalChanged();
}

void Chat::dismissRefusal() {
    if (!m_refusal.isEmpty()) {
        refuse({}, false);
    }
}

void Chat::leaveOutOldest() {
    if (!m_host.hasModel()) {
        return;
    }
    const std::int64_t context = m_host.current()->options.contextTokens;
    m_countWorker.ask(
        this,
        [this, order = orderOfDraft(), context] {
            // A quarter of the context is kept for the reply.
            return m_service.firstThatFits(order, context - context / 4);
        },
        [this](Result<std::optional<std::int64_t>> first) {
            if (!first || !*first) {
                refuse(first ? tr("Even alone, this message does not fit the context.")
                             : QString::fromStdString(first.error().message),
                       false);
                return;
            }
            m_open.setFirstTurn(**first);
            send();
        });
}

void Chat::takeBackLeftOut() {
    m_open.setFirstTurn(0);
}

void Chat::measure() {
    const auto& path = m_open.transcript().path();
    if (!m_host.hasModel()) {
        m_meter.setSubject({}, 0);
        return;
    }
    // What is being written is counted by its tokens, and by the prompt once it has ended.
    const bool isGrowing = !path.empty() && path.back().state == TurnState::kWriting;
    const std::int64_t end = path.empty() ? 0 : isGrowing ? path.back().parent : path.back().id;
    m_meter.setSubject(orderBelow(end), m_host.current()->options.contextTokens);
}

std::optional<ReplyPhase> Chat::phase() const {
    const ReplyView* live = m_replies.in(m_open.id());
    return live != nullptr ? std::optional(live->phase) : std::nullopt;
}

QString Chat::phaseText() const {
    const ReplyView* live = m_replies.in(m_open.id());
    return live != nullptr ? describePhase(*live, m_feed.snapshot()) : QString();
}

}  // namespace quern::ui
