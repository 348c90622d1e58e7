#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <map>
#include <memory>
#include <optional>

#include "engine/engine.h"
#include "ui/chat/prompt.h"
#include "ui/core/notices.h"
#include "ui/core/reply_feed.h"
#include "ui/core/worker.h"
#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// What a reply is written to.
struct ReplyOrder {
    std::int64_t conversation = 0;  // 0: a new one is made for it
    ConversationSettings settings;
    std::vector<Turn> path;              // the turns before the reply, without `message`
    std::optional<std::string> message;  // a user's turn to be added first
    std::shared_ptr<const engine::LoadedModel> model;
};

/// Carries replies from prepare over submit to the last token, at most one a conversation, and
/// saves them as they grow, so that a kill keeps what was shown. GUI thread; the engine and the
/// store are called on their workers.
class ReplyWriter : public QObject {
    Q_OBJECT

public:
    enum class Phase { kIdle, kPreparing, kQueued, kPrefill, kWriting };

    ReplyWriter(engine::Engine& engine, Worker& engineWorker, ConversationStore& store,
                Worker& storeWorker, Notices& notices, QObject* parent = nullptr);

    /// Ends running replies and saves what was shown of them as interrupted. The last call before
    /// the workers end.
    void close();

    void start(ReplyOrder order);
    void stop(std::int64_t conversation);
    /// Writes replies again whose last save failed.
    void saveAgain();

    [[nodiscard]] Phase phase(std::int64_t conversation) const;
    [[nodiscard]] bool isAnyRunning() const { return !m_runs.empty(); }
    /// The reply as it stands, or null.
    [[nodiscard]] const Turn* writing(std::int64_t conversation) const;
    [[nodiscard]] engine::RequestId request(std::int64_t conversation) const;
    [[nodiscard]] std::int32_t writtenTokens(std::int64_t conversation) const;

signals:
    /// The user's turn (if any) and the empty reply are saved. `promptText` is what was tokenized.
    void began(qint64 conversation, std::vector<quern::ui::Turn> added, const QString& promptText);
    void grew(qint64 conversation, const QString& text);
    void phaseChanged(qint64 conversation);
    void finished(qint64 conversation, const quern::ui::Turn& turn);
    /// Nothing was sent or saved. `conversation` as in the order.
    void refused(qint64 conversation, const QString& reason, bool isTooLong);

private:
    struct Run {
        Turn turn;
        Phase phase = Phase::kQueued;
        std::shared_ptr<ReplyFeed> feed = std::make_shared<ReplyFeed>();
        engine::RequestId request = 0;
        std::int32_t tokens = 0;
        bool isStopping = false;
        QElapsedTimer sinceSave;
    };
    struct Prepared;

    void save(ReplyOrder order, engine::PreparedRequest prepared);
    void submit(std::int64_t conversation, Turn reply, engine::PreparedRequest prepared);
    void drain();
    void take(std::int64_t conversation, Run& run);
    void finish(std::int64_t conversation, Run& run, const engine::FinishInfo& info);
    void store(std::int64_t conversation, const Turn& turn, bool isLast);

    engine::Engine& m_engine;
    Worker& m_engineWorker;
    ConversationStore& m_store;
    Worker& m_storeWorker;
    Notices& m_notices;
    QTimer m_frame;
    std::map<std::int64_t, Run> m_runs;
    std::optional<std::int64_t> m_preparing;  // conversation whose order is being prepared
    bool m_isPreparingStopped = false;
    std::map<std::int64_t, std::pair<std::int64_t, Turn>> m_unsaved;  // turn → conversation, turn
};

}  // namespace quern::ui
