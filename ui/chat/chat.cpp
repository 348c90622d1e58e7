#include "ui/chat/chat.h"

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>
#include <utility>

#include "ui/chat/reply_phase.h"

namespace quern::ui {

Chat::Chat(engine::Engine& engine, Worker& engineWorker, ConversationStore& store,
           Worker& storeWorker, ModelHost& host, EngineFeed& feed, Notices& notices,
           const Theme& theme, QObject* parent)
    : QObject(parent),
      m_engine(engine),
      m_engineWorker(engineWorker),
      m_store(store),
      m_storeWorker(storeWorker),
      m_host(host),
      m_feed(feed),
      m_notices(notices),
      m_conversations(store, storeWorker, notices),
      m_transcript(theme),
      m_settings(store, storeWorker, host, notices),
      m_meter(engineWorker),
      m_writer(engine, engineWorker, store, storeWorker, notices) {
    m_conversations.setWritingTest([this](qint64 conversation) {
        return m_writer.phase(conversation) != ReplyWriter::Phase::kIdle;
    });
    connect(&m_conversations, &ConversationList::listed, this, &Chat::titleChanged);
    connect(&m_conversations, &ConversationList::removed, this, [this](qint64 conversation) {
        m_writer.stop(conversation);
        if (conversation == m_conversation) {
            newConversation();
        }
    });
    connect(&m_writer, &ReplyWriter::began, this, &Chat::began);
    connect(&m_writer, &ReplyWriter::finished, this, &Chat::finished);
    connect(&m_writer, &ReplyWriter::grew, this, [this](qint64 conversation, const QString& text) {
        if (conversation == m_conversation) {
            m_transcript.appendText(text);
            m_meter.setWritten(m_writer.writtenTokens(conversation));
            emit grew();
        }
    });
    connect(&m_writer, &ReplyWriter::phaseChanged, this, [this](qint64) {
        m_conversations.refreshWriting();
        emit phaseChanged();
    });
    connect(&m_writer, &ReplyWriter::refused, this,
            [this](qint64 conversation, const QString& reason, bool isTooLong) {
                if (conversation == m_conversation) {
                    refuse(reason, isTooLong);
                }
            });
    connect(&feed, &EngineFeed::updated, this, [this] {
        if (isBusy()) {
            emit phaseChanged();
        }
    });
    connect(&host, &ModelHost::changed, this, &Chat::measure);
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
    if (const Turn* live = m_writer.writing(m_conversation);
        live != nullptr && !content.path.empty() && content.path.back().id == live->id) {
        content.path.back().text = live->text;
        content.path.back().state = TurnState::kWriting;
    }
    takeEnds(content.path);
    m_transcript.setPath(std::move(content.path), content.settings.firstTurn);
    measure();
    emit titleChanged();
    emit phaseChanged();
}

void Chat::takeEnds(std::vector<Turn>& path) {
    for (Turn& turn : path) {
        const auto ended = m_ended.find(turn.id);
        if (ended == m_ended.end()) {
            continue;
        }
        if (turn.state != TurnState::kWriting) {
            m_ended.erase(ended);  // saved
            continue;
        }
        ended->second.branch = turn.branch;
        ended->second.branches = turn.branches;
        turn = ended->second;
    }
}

QString Chat::title() const {
    return m_conversation == 0 ? QString() : m_conversations.titleOf(m_conversation);
}

void Chat::setDraft(const QString& draft) {
    if (m_draft != draft) {
        m_draft = draft;
        m_meter.setDraft(draft);
        dismissRefusal();
        emit draftChanged();
    }
}

ReplyOrder Chat::orderBefore(std::int64_t parent) const {
    ReplyOrder order{.conversation = m_conversation,
                     .settings = m_settings.values(),
                     .path = {},
                     .message = {},
                     .model = m_host.current()};
    if (parent != 0) {
        for (const Turn& turn : m_transcript.path()) {
            order.path.push_back(turn);
            if (turn.id == parent) {
                break;
            }
        }
    }
    return order;
}

ReplyOrder Chat::orderOfDraft() const {
    const auto& path = m_transcript.path();
    const Turn* edited = m_transcript.find(m_editing);
    ReplyOrder order = orderBefore(edited != nullptr ? edited->parent
                                   : path.empty()    ? 0
                                                     : path.back().id);
    order.message = m_draft.trimmed().toStdString();
    return order;
}

void Chat::send() {
    if (m_draft.trimmed().isEmpty() || isBusy() || !m_host.hasModel()) {
        return;
    }
    dismissRefusal();
    saveRepliesAgain();
    m_writer.start(orderOfDraft());
}

void Chat::beginEdit(qint64 turn) {
    const Turn* edited = m_transcript.find(turn);
    if (edited == nullptr || edited->role != "user" || isBusy()) {
        return;
    }
    if (m_editing == 0) {
        m_keptDraft = m_draft;
    }
    m_editing = turn;
    setDraft(QString::fromStdString(edited->text));
    emit editingChanged();
}

void Chat::endEdit() {
    if (m_editing != 0) {
        m_editing = 0;
        setDraft(std::exchange(m_keptDraft, {}));
        emit editingChanged();
    }
}

void Chat::stop() {
    m_writer.stop(m_conversation);
}

void Chat::regenerate(qint64 turn) {
    const Turn* reply = m_transcript.find(turn == 0 ? lastReply() : turn);
    if (reply == nullptr || reply->role == "user" || isBusy() || !m_host.hasModel()) {
        return;
    }
    dismissRefusal();
    saveRepliesAgain();
    m_writer.start(orderBefore(reply->parent));
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

void Chat::began(qint64 conversation, const std::vector<Turn>& added, const QString& promptText) {
    m_conversations.refresh();
    // A new conversation is opened by its first message, unless another was opened meanwhile.
    const bool isNew = m_conversation == 0 && added.front().parent == 0;
    if (isNew) {
        m_conversation = conversation;
        m_settings.setConversation(conversation);
        emit opened();
    }
    if (conversation != m_conversation) {
        return;
    }
    std::vector<Turn> path;
    for (const Turn& turn : m_transcript.path()) {
        if (added.front().parent == 0) {
            break;
        }
        path.push_back(turn);
        if (turn.id == added.front().parent) {
            break;
        }
    }
    path.insert(path.end(), added.begin(), added.end());
    // What was sent is no draft any more; what was typed since then is.
    if (added.front().role == "user" && m_draft.trimmed().toStdString() == added.front().text) {
        setDraft({});
        endEdit();
    }
    m_transcript.setPath(std::move(path), m_settings.values().firstTurn);
    m_promptText = promptText;
    measure();
    emit promptTextChanged();
    emit grew();
    // Brings the branch counts of what was added.
    reload();
}

void Chat::finished(qint64 conversation, const Turn& turn) {
    m_conversations.refresh();
    m_ended[turn.id] = turn;
    if (conversation == m_conversation) {
        m_transcript.finishLast(turn);
        measure();
        emit grew();
    }
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
    const ReplyOrder order = orderOfDraft();
    std::vector<Turn> path = order.path;
    Turn draft;
    draft.role = "user";
    draft.text = *order.message;
    draft.parent = path.empty() ? 0 : path.back().id;
    path.push_back(std::move(draft));
    const std::int64_t context = m_host.current()->options.contextTokens;
    m_engineWorker.ask(
        this,
        [model = order.model, settings = order.settings, path, context] {
            // A quarter of the context is kept for the reply.
            return firstTurnThatFits(*model, settings, path, context - context / 4);
        },
        [this](Result<std::int64_t> first) {
            if (!first || *first < 0) {
                refuse(first ? tr("Even alone, this message does not fit the context.")
                             : QString::fromStdString(first.error().message),
                       false);
                return;
            }
            m_settings.setFirstTurn(*first);
            m_transcript.setPath(m_transcript.path(), *first);
            send();
        });
}

void Chat::takeBackLeftOut() {
    m_settings.setFirstTurn(0);
    m_transcript.setPath(m_transcript.path(), 0);
}

void Chat::measure() {
    m_meter.setSubject(m_host.current(), m_settings.values(), m_transcript.path());
}

bool Chat::isBusy() const {
    return m_writer.phase(m_conversation) != ReplyWriter::Phase::kIdle;
}

QString Chat::phase() const {
    return phaseName(m_writer.phase(m_conversation));
}

QString Chat::phaseText() const {
    return describePhase(m_writer.phase(m_conversation), m_writer.request(m_conversation),
                         m_feed.snapshot());
}

}  // namespace quern::ui
