#include "ui/chat/reply_writer.h"

#include <algorithm>
#include <utility>

namespace quern::ui {
namespace {

constexpr int kFrameMs = 33;
constexpr int kSaveMs = 400;
constexpr std::size_t kTitleChars = 48;

engine::Request requestFor(const ReplyOrder& order) {
    std::vector<Turn> path = order.path;
    if (order.message) {
        Turn turn;
        turn.role = "user";
        turn.text = *order.message;
        path.push_back(std::move(turn));
    }
    engine::Request request;
    request.model = order.model->name;
    request.prompt = engine::ChatPrompt{.messages = promptMessages(order.settings, path)};
    request.sampling =
        order.settings.usesModelDefaults ? chatSampling(*order.model) : order.settings.sampling;
    if (order.settings.maxTokens > 0) {
        request.output.maxTokens = order.settings.maxTokens;
    }
    request.clientId = "window";
    return request;
}

/// The first words of a message, as a conversation's name.
std::string titleFrom(const std::string& message) {
    QString title = QString::fromStdString(message).simplified();
    if (title.size() > static_cast<qsizetype>(kTitleChars)) {
        title.truncate(static_cast<qsizetype>(kTitleChars));
        const qsizetype word = title.lastIndexOf(u' ');
        if (word > static_cast<qsizetype>(kTitleChars / 2)) {
            title.truncate(word);
        }
        title += QStringLiteral("…");
    }
    return title.toStdString();
}

std::string stopName(const engine::FinishInfo& info) {
    switch (info.reason) {
        case engine::FinishReason::kStop:
            return info.stopToken || info.stopReason.empty() ? "eos" : info.stopReason;
        case engine::FinishReason::kLength:
            return "length";
        case engine::FinishReason::kContext:
            return "context full";
        case engine::FinishReason::kCancelled:
            return "stopped";
        case engine::FinishReason::kDeadline:
            return "deadline";
        default:
            return "error";
    }
}

TurnFigures figuresFrom(const engine::FinishInfo& info) {
    const engine::Usage& usage = info.usage;
    return {.tokensPerSecond = usage.decodeSeconds > 0 && usage.completionTokens > 1
                                   ? (usage.completionTokens - 1) / usage.decodeSeconds
                                   : 0,
            .ttftMs = usage.ttftSeconds * 1000,
            .promptTokens = usage.promptTokens,
            .cachedTokens = usage.cachedTokens,
            .completionTokens = usage.completionTokens,
            .stop = stopName(info)};
}

}  // namespace

struct ReplyWriter::Prepared {
    Result<engine::PreparedRequest> request;
    bool isTooLong = false;
};

ReplyWriter::ReplyWriter(engine::Engine& engine, Worker& engineWorker, ConversationStore& store,
                         Worker& storeWorker, Notices& notices, QObject* parent)
    : QObject(parent),
      m_engine(engine),
      m_engineWorker(engineWorker),
      m_store(store),
      m_storeWorker(storeWorker),
      m_notices(notices) {
    m_frame.setInterval(kFrameMs);
    connect(&m_frame, &QTimer::timeout, this, &ReplyWriter::drain);
}

void ReplyWriter::close() {
    m_frame.stop();
    for (auto& [conversation, run] : m_runs) {
        if (run.request != 0) {
            m_engine.cancel(run.request);
        }
        run.turn.text += run.feed->take().text;
        run.turn.state = TurnState::kInterrupted;
        m_storeWorker.post([&store = m_store, conversation = conversation, turn = run.turn] {
            // Nobody is left to tell; the store marks a reply it could not finish by itself.
            (void)store.updateTurn(conversation, turn);
        });
    }
    m_runs.clear();
}

void ReplyWriter::start(ReplyOrder order) {
    if (m_preparing || m_runs.contains(order.conversation) || !order.model) {
        return;
    }
    m_preparing = order.conversation;
    m_isPreparingStopped = false;
    emit phaseChanged(order.conversation);
    m_engineWorker.ask(
        this,
        [this, order] {
            Prepared prepared{.request = m_engine.prepare(requestFor(order))};
            if (!prepared.request) {
                std::vector<Turn> path = order.path;
                if (order.message) {
                    Turn turn;
                    turn.role = "user";
                    turn.text = *order.message;
                    path.push_back(std::move(turn));
                }
                const auto tokens =
                    countPromptTokens(*order.model, promptMessages(order.settings, path), true);
                prepared.isTooLong = tokens && *tokens >= order.model->options.contextTokens;
            }
            return prepared;
        },
        [this, order](Prepared prepared) {
            if (!prepared.request || m_isPreparingStopped) {
                m_preparing.reset();
                emit phaseChanged(order.conversation);
                if (!prepared.request) {
                    emit refused(order.conversation,
                                 QString::fromStdString(prepared.request.error().message),
                                 prepared.isTooLong);
                }
                return;
            }
            save(order, std::move(*prepared.request));
        });
}

void ReplyWriter::save(ReplyOrder order, engine::PreparedRequest prepared) {
    struct Saved {
        std::int64_t conversation = 0;
        std::vector<Turn> added;
    };
    m_storeWorker.ask(
        this,
        [this, order]() -> Result<Saved> {
            Saved saved{.conversation = order.conversation, .added = {}};
            if (saved.conversation == 0) {
                Result<std::int64_t> made =
                    m_store.create(titleFrom(order.message.value_or("")), order.settings);
                if (!made) {
                    return forward(made);
                }
                saved.conversation = *made;
            }
            std::int64_t parent = order.path.empty() ? 0 : order.path.back().id;
            const auto add = [&](Turn turn) -> Status {
                turn.parent = parent;
                Result<std::int64_t> id = m_store.addTurn(saved.conversation, turn);
                if (!id) {
                    return forward(id);
                }
                turn.id = parent = *id;
                saved.added.push_back(std::move(turn));
                return {};
            };
            if (order.message) {
                Turn turn;
                turn.role = "user";
                turn.text = *order.message;
                if (Status added = add(std::move(turn)); !added) {
                    return forward(added);
                }
            }
            Turn reply;
            reply.role = "assistant";
            reply.model = order.model->name;
            reply.state = TurnState::kWriting;
            if (Status added = add(std::move(reply)); !added) {
                return forward(added);
            }
            return saved;
        },
        [this, order, prepared = std::move(prepared)](Result<Saved> saved) mutable {
            m_preparing.reset();
            if (!saved) {
                m_notices.show(tr("Your message could not be saved, so it was not sent."),
                               saved.error());
                emit phaseChanged(order.conversation);
                return;
            }
            const QString promptText = QString::fromStdString(prepared.promptText);
            const Turn reply = saved->added.back();
            m_runs[saved->conversation].turn = reply;
            emit began(saved->conversation, saved->added, promptText);
            submit(saved->conversation, reply, std::move(prepared));
        });
}

void ReplyWriter::submit(std::int64_t conversation, Turn reply, engine::PreparedRequest prepared) {
    Run& run = m_runs[conversation];
    run.turn = std::move(reply);
    run.isStopping = m_isPreparingStopped;
    run.sinceSave.start();
    m_frame.start();
    emit phaseChanged(conversation);
    // std::function wants a copyable task.
    auto request = std::make_shared<engine::PreparedRequest>(std::move(prepared));
    m_engineWorker.ask(
        this,
        [this, request, feed = run.feed] { return m_engine.submit(std::move(*request), feed); },
        [this, conversation](Result<engine::RequestId> id) {
            const auto at = m_runs.find(conversation);
            if (at == m_runs.end()) {
                return;
            }
            if (!id) {
                engine::FinishInfo info;
                info.reason = engine::FinishReason::kError;
                info.error = id.error();
                finish(conversation, at->second, info);
                return;
            }
            at->second.request = *id;
            if (at->second.isStopping) {
                stop(conversation);
            }
        });
}

void ReplyWriter::stop(std::int64_t conversation) {
    if (m_preparing == conversation) {
        m_isPreparingStopped = true;
    }
    const auto at = m_runs.find(conversation);
    if (at == m_runs.end()) {
        return;
    }
    at->second.isStopping = true;
    if (at->second.request != 0) {
        m_engineWorker.post([this, id = at->second.request] { m_engine.cancel(id); });
    }
}

void ReplyWriter::drain() {
    std::vector<std::int64_t> conversations;
    for (const auto& [conversation, run] : m_runs) {
        conversations.push_back(conversation);
    }
    for (const std::int64_t conversation : conversations) {
        if (const auto at = m_runs.find(conversation); at != m_runs.end()) {
            take(conversation, at->second);
        }
    }
    if (m_runs.empty()) {
        m_frame.stop();
    }
}

void ReplyWriter::take(std::int64_t conversation, Run& run) {
    const ReplyFeed::News news = run.feed->take();
    if (news.isEmpty()) {
        return;
    }
    run.tokens += news.tokens;
    const Phase phase = run.tokens > 0 || !news.text.empty() ? Phase::kWriting : Phase::kPrefill;
    if (!news.text.empty()) {
        run.turn.text += news.text;
        emit grew(conversation, QString::fromStdString(news.text));
    }
    if (news.finish) {
        finish(conversation, run, *news.finish);
        return;
    }
    if (phase != run.phase) {
        run.phase = phase;
        emit phaseChanged(conversation);
    }
    if (run.sinceSave.elapsed() >= kSaveMs) {
        run.sinceSave.restart();
        store(conversation, run.turn, false);
    }
}

void ReplyWriter::finish(std::int64_t conversation, Run& run, const engine::FinishInfo& info) {
    Turn turn = std::move(run.turn);
    m_runs.erase(conversation);
    turn.figures = figuresFrom(info);
    if (info.reason == engine::FinishReason::kError) {
        turn.state = TurnState::kFailed;
        turn.failure = info.error ? info.error->message : "the engine gave no reason";
    } else if (info.reason == engine::FinishReason::kCancelled ||
               info.reason == engine::FinishReason::kDeadline) {
        turn.state = TurnState::kInterrupted;
    } else {
        turn.state = TurnState::kComplete;
    }
    store(conversation, turn, true);
    emit finished(conversation, turn);
    emit phaseChanged(conversation);
}

void ReplyWriter::store(std::int64_t conversation, const Turn& turn, bool isLast) {
    m_storeWorker.ask(
        this, [this, conversation, turn] { return m_store.updateTurn(conversation, turn); },
        [this, conversation, turn, isLast](Status result) {
            if (result) {
                m_unsaved.erase(turn.id);
                return;
            }
            // While it grows the next save may do better; the last one must not be lost.
            if (isLast) {
                m_unsaved[turn.id] = {conversation, turn};
                m_notices.show(tr("The reply is shown but could not be saved."), result.error(),
                               tr("Save again"), QStringLiteral("saveReplies"));
            }
        });
}

void ReplyWriter::saveAgain() {
    const auto unsaved = m_unsaved;
    for (const auto& [id, reply] : unsaved) {
        store(reply.first, reply.second, true);
    }
}

ReplyWriter::Phase ReplyWriter::phase(std::int64_t conversation) const {
    if (m_preparing == conversation) {
        return Phase::kPreparing;
    }
    const auto at = m_runs.find(conversation);
    return at == m_runs.end() ? Phase::kIdle : at->second.phase;
}

const Turn* ReplyWriter::writing(std::int64_t conversation) const {
    const auto at = m_runs.find(conversation);
    return at == m_runs.end() ? nullptr : &at->second.turn;
}

engine::RequestId ReplyWriter::request(std::int64_t conversation) const {
    const auto at = m_runs.find(conversation);
    return at == m_runs.end() ? 0 : at->second.request;
}

std::int32_t ReplyWriter::writtenTokens(std::int64_t conversation) const {
    const auto at = m_runs.find(conversation);
    return at == m_runs.end() ? 0 : at->second.tokens;
}

}  // namespace quern::ui
