#include "ui/chat/chat.h"

#include <QClipboard>
#include <QGuiApplication>
#include <algorithm>

#include "ui/text/format.h"

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
    connect(&host, &ModelHost::changed, this, [this] {
        measure();
        emit settingsChanged();
    });
}

void Chat::newConversation() {
    m_conversation = 0;
    m_settings = {};
    m_transcript.setPath({}, 0);
    dismissRefusal();
    measure();
    emit opened();
    emit titleChanged();
    emit phaseChanged();
    emit settingsChanged();
}

void Chat::open(qint64 conversation) {
    if (conversation == 0 || conversation == m_conversation) {
        return;
    }
    m_conversation = conversation;
    dismissRefusal();
    emit opened();
    reload();
}

void Chat::openNeighbour(int step) {
    open(m_conversations.neighbour(m_conversation, step));
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
    m_settings = content.settings;
    if (const Turn* live = m_writer.writing(m_conversation);
        live != nullptr && !content.path.empty() && content.path.back().id == live->id) {
        content.path.back().text = live->text;
        content.path.back().state = TurnState::kWriting;
    }
    m_transcript.setPath(std::move(content.path), m_settings.firstTurn);
    measure();
    emit titleChanged();
    emit phaseChanged();
    emit settingsChanged();
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
                     .settings = m_settings,
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

void Chat::send() {
    const QString text = m_draft.trimmed();
    if (text.isEmpty() || isBusy() || !m_host.hasModel()) {
        return;
    }
    dismissRefusal();
    const auto& path = m_transcript.path();
    ReplyOrder order = orderBefore(path.empty() ? 0 : path.back().id);
    order.message = text.toStdString();
    m_writer.start(std::move(order));
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
    m_writer.start(orderBefore(reply->parent));
}

void Chat::editTurn(qint64 turn, const QString& text) {
    const Turn* old = m_transcript.find(turn);
    if (old == nullptr || text.trimmed().isEmpty() || isBusy() || !m_host.hasModel()) {
        return;
    }
    dismissRefusal();
    ReplyOrder order = orderBefore(old->parent);
    order.message = text.trimmed().toStdString();
    m_writer.start(std::move(order));
}

void Chat::selectBranch(qint64 turn, int step) {
    const Turn* at = m_transcript.find(turn);
    if (at == nullptr || isBusy() || at->branch + step < 1 || at->branch + step > at->branches) {
        return;
    }
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
    if (added.front().role == "user" && m_draft.trimmed().toStdString() == added.front().text) {
        setDraft({});
    }
    m_transcript.setPath(std::move(path), m_settings.firstTurn);
    m_promptText = promptText;
    measure();
    emit promptTextChanged();
    emit grew();
    // Brings the branch counts of what was added.
    reload();
}

void Chat::finished(qint64 conversation, const Turn& turn) {
    m_conversations.refresh();
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
    std::vector<Turn> path = m_transcript.path();
    Turn draft;
    draft.role = "user";
    draft.text = m_draft.trimmed().toStdString();
    draft.parent = path.empty() ? 0 : path.back().id;
    path.push_back(std::move(draft));
    const std::int64_t context = m_host.current()->options.contextTokens;
    m_engineWorker.ask(
        this,
        [model = m_host.current(), settings = m_settings, path, context] {
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
            m_settings.firstTurn = *first;
            m_transcript.setPath(m_transcript.path(), *first);
            saveSettings();
            send();
        });
}

void Chat::takeBackLeftOut() {
    m_settings.firstTurn = 0;
    m_transcript.setPath(m_transcript.path(), 0);
    saveSettings();
}

void Chat::measure() {
    m_meter.setSubject(m_host.current(), m_settings, m_transcript.path());
}

bool Chat::isBusy() const {
    return m_writer.phase(m_conversation) != ReplyWriter::Phase::kIdle;
}

QString Chat::phase() const {
    switch (m_writer.phase(m_conversation)) {
        case ReplyWriter::Phase::kPreparing:
            return QStringLiteral("preparing");
        case ReplyWriter::Phase::kQueued:
            return QStringLiteral("queued");
        case ReplyWriter::Phase::kPrefill:
            return QStringLiteral("prefill");
        case ReplyWriter::Phase::kWriting:
            return QStringLiteral("writing");
        default:
            return QStringLiteral("idle");
    }
}

QString Chat::phaseText() const {
    const ReplyWriter::Phase phase = m_writer.phase(m_conversation);
    if (phase == ReplyWriter::Phase::kPreparing) {
        return tr("Preparing");
    }
    const engine::RequestId id = m_writer.request(m_conversation);
    int place = 0;
    for (const engine::ModelSnapshot& model : m_feed.snapshot().models) {
        place = 0;
        for (const engine::RequestSnapshot& request : model.requests) {
            const bool isWaiting = request.state == engine::RequestState::kWaiting ||
                                   request.state == engine::RequestState::kPreempted;
            place += isWaiting ? 1 : 0;
            if (request.id != id) {
                continue;
            }
            if (isWaiting) {
                return tr("Queued: %1 in line").arg(place);
            }
            if (request.state == engine::RequestState::kPrefill && request.promptTokens > 0) {
                return tr("Reading the prompt: %1\u00A0%")
                    .arg(formatPercent(static_cast<double>(request.computedTokens) /
                                       request.promptTokens));
            }
            return tr("Writing: %1 tok/s").arg(formatRate(request.tokensPerSecond));
        }
    }
    return phase == ReplyWriter::Phase::kWriting ? tr("Writing") : tr("Queued");
}

QString Chat::systemPrompt() const {
    return QString::fromStdString(m_settings.systemPrompt);
}

void Chat::setSystemPrompt(const QString& prompt) {
    if (prompt != systemPrompt()) {
        m_settings.systemPrompt = prompt.toStdString();
        saveSettings();
    }
}

QVariantMap Chat::sampling() const {
    const engine::SamplingParams p = m_settings.usesModelDefaults && m_host.hasModel()
                                         ? chatSampling(*m_host.current())
                                         : m_settings.sampling;
    const auto number = [](float value) {
        return static_cast<double>(qRound(value * 1000)) / 1000;
    };
    return {{QStringLiteral("temperature"), number(p.temperature)},
            {QStringLiteral("topP"), number(p.topP)},
            {QStringLiteral("topK"), p.topK},
            {QStringLiteral("minP"), number(p.minP)},
            {QStringLiteral("repetitionPenalty"), number(p.repetitionPenalty)},
            {QStringLiteral("seed"), p.seed ? QString::number(*p.seed) : QString()},
            {QStringLiteral("maxTokens"), m_settings.maxTokens},
            {QStringLiteral("usesModelDefaults"), m_settings.usesModelDefaults}};
}

void Chat::setSampling(const QString& name, const QString& value) {
    if (m_settings.usesModelDefaults && m_host.hasModel()) {
        m_settings.sampling = chatSampling(*m_host.current());
    }
    engine::SamplingParams& p = m_settings.sampling;
    bool isNumber = false;
    const double number = value.trimmed().toDouble(&isNumber);
    const auto real = static_cast<float>(number);
    if (name == QLatin1String("seed")) {
        const quint64 seed = value.trimmed().toULongLong(&isNumber);
        p.seed = isNumber ? std::optional<std::uint64_t>(seed) : std::nullopt;
        isNumber = isNumber || value.trimmed().isEmpty();
    } else if (isNumber && name == QLatin1String("maxTokens")) {
        m_settings.maxTokens = static_cast<std::int32_t>(std::clamp(number, 0.0, 1e9));
    } else if (isNumber && name == QLatin1String("temperature")) {
        p.temperature = real;
    } else if (isNumber && name == QLatin1String("topP")) {
        p.topP = real;
    } else if (isNumber && name == QLatin1String("topK")) {
        p.topK = static_cast<std::int32_t>(std::clamp(number, 0.0, 1e9));
    } else if (isNumber && name == QLatin1String("minP")) {
        p.minP = real;
    } else if (isNumber && name == QLatin1String("repetitionPenalty")) {
        p.repetitionPenalty = real;
    }
    if (isNumber) {
        m_settings.usesModelDefaults = false;
        saveSettings();
    } else {
        emit settingsChanged();
    }
}

void Chat::useModelDefaults() {
    m_settings.usesModelDefaults = true;
    saveSettings();
}

void Chat::saveSettings() {
    measure();
    emit settingsChanged();
    if (m_conversation == 0) {
        return;  // saved with the first message
    }
    m_storeWorker.ask(
        this,
        [this, id = m_conversation, settings = m_settings] {
            return m_store.saveSettings(id, settings);
        },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The settings of this conversation could not be saved."),
                               result.error());
            }
        });
}

}  // namespace quern::ui
