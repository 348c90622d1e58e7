#include "ui/chat/chat.h"

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>
#include <utility>

#include "ui/chat/reply_phase.h"

namespace quern::ui {

Chat::Chat(ReplyService& service, Worker& countWorker, ConversationStore& store,
           Worker& storeWorker, ModelHost& host, EngineFeed& feed, Notices& notices,
           const Theme& theme, QObject* parent)
    : QObject(parent),
      m_service(service),
      m_countWorker(countWorker),
      m_store(store),
      m_storeWorker(storeWorker),
      m_host(host),
      m_feed(feed),
      m_notices(notices),
      m_conversations(store, storeWorker, notices),
      m_transcript(theme),
      m_settings(service, store, storeWorker, host, notices),
      m_meter(service, countWorker),
      m_replies(service) {
    follow();
}

void Chat::follow() {
    m_conversations.setWritingTest(
        [this](qint64 conversation) { return m_replies.in(conversation) != nullptr; });
    connect(&m_conversations, &ConversationList::listed, this, &Chat::titleChanged);
    connect(&m_conversations, &ConversationList::removed, this, [this](qint64 conversation) {
        m_replies.stop(conversation);
        if (conversation == m_conversation) {
            newConversation();
        }
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
    connect(&m_settings, &ChatSettings::edited, this, &Chat::measure);
}

void Chat::newConversation() {
    endEdit();
    m_conversation = 0;
    m_settings.show(0, {});
    m_transcript.setPath({}, 0);
    dismissRefusal();
    measure();
    emit opened();
    emit titleChanged();
    emit phaseChanged();
}

void Chat::open(qint64 conversation) {
    if (conversation == 0 || conversation == m_conversation) {
        return;
    }
    endEdit();
    m_conversation = conversation;
    dismissRefusal();
    emit opened();
    reload();
}

void Chat::reload() {
    m_storeWorker.ask(
        this, [this, id = m_conversation] { return m_store.open(id); },
        [this, id = m_conversation](Result<ConversationContent> content) {
            if (id != m_conversation) {
                return;
            }
            if (!content) {
                m_notices.show(tr("The conversation could not be opened."), content.error());
                newConversation();
                return;
            }
            show(std::move(*content));
        });
}

void Chat::show(ConversationContent content) {
    m_settings.show(m_conversation, content.settings);
    const ReplyView* live = m_replies.in(m_conversation);
    if (live != nullptr && live->place && !content.path.empty() &&
        content.path.back().id == live->reply.id) {
        Turn& last = content.path.back();
        const Turn stored = std::exchange(last, live->reply);
        last.branch = stored.branch;
        last.branches = stored.branches;
    }
    m_ends.putInto(content.path);
    m_transcript.setPath(std::move(content.path), content.settings.firstTurn);
    measure();
    emit titleChanged();
    emit phaseChanged();
}

QString Chat::title() const {
    return m_conversation == 0 ? QString() : m_conversations.titleOf(m_conversation);
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
    return {.conversation = m_conversation,
            .parent = parent,
            .message = {},
            .settings = m_settings.values(),
            .model = m_host.currentName().toStdString()};
}

ReplyOrder Chat::orderOfDraft() const {
    const auto& path = m_transcript.path();
    const Turn* edited = m_transcript.find(m_draft.editing());
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
    const Turn* edited = m_transcript.find(turn);
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
    m_replies.stop(m_conversation);
}

void Chat::regenerate(qint64 turn) {
    const Turn* reply = m_transcript.find(turn == 0 ? lastReply() : turn);
    if (reply == nullptr || reply->role == "user" || isBusy() || !m_host.hasModel()) {
        return;
    }
    dismissRefusal();
    m_replies.order(orderBelow(reply->parent));
}

void Chat::selectBranch(qint64 turn, int step) {
    const Turn* at = m_transcript.find(turn);
    if (at == nullptr || isBusy() || at->branch + step < 1 || at->branch + step > at->branches) {
        return;
    }
    endEdit();
    m_storeWorker.ask(
        this,
        [this, id = m_conversation, turn, step] { return m_store.selectSibling(id, turn, step); },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The other branch could not be opened."), result.error());
                return;
            }
            reload();
        });
}

void Chat::copy(const QString& text) const {
    QGuiApplication::clipboard()->setText(text);
}

void Chat::copyTurn(qint64 turn) const {
    copy(textOf(turn));
}

QString Chat::textOf(qint64 turn) const {
    const Turn* found = m_transcript.find(turn);
    return found != nullptr ? QString::fromStdString(found->text) : QString();
}

qint64 Chat::lastUserTurn() const {
    const auto& path = m_transcript.path();
    const auto at = std::find_if(path.rbegin(), path.rend(),
                                 [](const Turn& turn) { return turn.role == "user"; });
    return at == path.rend() ? 0 : at->id;
}

qint64 Chat::lastReply() const {
    const auto& path = m_transcript.path();
    return path.empty() || path.back().role == "user" ? 0 : path.back().id;
}

void Chat::onPlaced(const ReplyView& view) {
    m_conversations.refresh();
    const std::vector<Turn>& added = view.place->added;
    const std::int64_t parent = added.front().parent;
    // A new conversation is opened by its first message, unless another was opened meanwhile.
    const bool isNew = m_conversation == 0 && parent == 0;
    if (isNew) {
        m_conversation = view.place->conversation;
        m_settings.setConversation(m_conversation);
        emit opened();
    }
    if (view.place->conversation != m_conversation) {
        return;
    }
    std::vector<Turn> path = m_transcript.path();
    const auto below = std::find_if(path.begin(), path.end(),
                                    [parent](const Turn& turn) { return turn.id == parent; });
    path.erase(below == path.end() ? path.begin() : below + 1, path.end());
    path.insert(path.end(), added.begin(), added.end());
    // What was sent is no draft any more; what was typed since then is.
    if (added.front().role == "user" && m_draft.message() == added.front().text) {
        setDraft({});
        endEdit();
    }
    m_transcript.setPath(std::move(path), m_settings.values().firstTurn);
    m_promptText = QString::fromStdString(view.place->promptText);
    measure();
    emit promptTextChanged();
    // Brings the branch counts of what was added.
    reload();
}

void Chat::onGrew(const ReplyView& view) {
    if (view.place->conversation == m_conversation) {
        m_transcript.showLast(view.reply);
        m_meter.setWritten(view.tokens);
        emit grew();
    }
}

void Chat::onEnded(const ReplyView& view) {
    m_conversations.refresh();
    m_ends.keep(view.reply);
    if (view.place->conversation == m_conversation) {
        measure();
        emit grew();
    }
    if (view.error) {
        m_notices.show(tr("The reply is shown but could not be saved."), *view.error,
                       tr("Save again"), QStringLiteral("saveReplies"));
    }
}

void Chat::onRefused(qint64 conversation, const ReplyView& view) {
    if (view.phase == ReplyPhase::kUnsaved) {
        m_notices.show(tr("Your message could not be saved, so it was not sent."), *view.error);
    } else if (view.error->code != ErrorCode::kCancelled && conversation == m_conversation) {
        refuse(QString::fromStdString(view.error->message),
               view.error->code == ErrorCode::kContextLength);
    }
}

void Chat::saveRepliesAgain() {
    m_storeWorker.ask(
        this, [this] { return m_service.saveAgain(); },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The reply is shown but could not be saved."), result.error(),
                               tr("Save again"), QStringLiteral("saveReplies"));
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
            m_settings.setFirstTurn(**first);
            m_transcript.setPath(m_transcript.path(), **first);
            send();
        });
}

void Chat::takeBackLeftOut() {
    m_settings.setFirstTurn(0);
    m_transcript.setPath(m_transcript.path(), 0);
}

void Chat::measure() {
    const auto& path = m_transcript.path();
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
    const ReplyView* live = m_replies.in(m_conversation);
    return live != nullptr ? std::optional(live->phase) : std::nullopt;
}

QString Chat::phaseText() const {
    const ReplyView* live = m_replies.in(m_conversation);
    return live != nullptr ? describePhase(*live, m_feed.snapshot()) : QString();
}

}  // namespace quern::ui
