#include "ui/chat/open_conversation.h"

#include <algorithm>
#include <utility>

namespace quern::ui {

OpenConversation::OpenConversation(const ReplyService& service, ConversationStore& store,
                                   Worker& worker, ModelHost& host, Notices& notices,
                                   const Theme& theme, Live live, QObject* parent)
    : QObject(parent),
      m_store(store),
      m_worker(worker),
      m_notices(notices),
      m_live(std::move(live)),
      m_transcript(theme),
      m_settings(service, store, worker, host, notices) {}

void OpenConversation::begin() {
    m_id = 0;
    m_settings.show(0, {});
    m_transcript.setPath({}, 0);
    emit opened();
    emit shown();
}

void OpenConversation::open(qint64 conversation) {
    m_id = conversation;
    emit opened();
    read();
}

void OpenConversation::read() {
    m_worker.ask(
        this, [this, id = m_id] { return m_store.open(id); },
        [this, id = m_id](Result<ConversationContent> content) {
            if (id != m_id) {
                return;
            }
            if (!content) {
                m_notices.show(tr("The conversation could not be opened."), content.error());
                begin();
                return;
            }
            show(std::move(*content));
        });
}

void OpenConversation::show(ConversationContent content) {
    m_settings.show(m_id, content.settings);
    showPath(std::move(content.path), content.settings.firstTurn);
}

void OpenConversation::showPath(std::vector<Turn> path, std::int64_t firstTurn) {
    const ReplyView* live = m_live(m_id);
    if (live != nullptr && live->place) {
        // Another program may have gone on below it.
        for (Turn& turn : path) {
            if (turn.id == live->reply.id) {
                const Turn stored = std::exchange(turn, live->reply);
                turn.branch = stored.branch;
                turn.branches = stored.branches;
            }
        }
    }
    m_ends.putInto(path);
    m_transcript.setPath(std::move(path), firstTurn);
    emit shown();
}

void OpenConversation::refresh() {
    if (m_id == 0 || m_transcript.path().empty()) {
        return;
    }
    const std::int64_t last = m_transcript.path().back().id;
    m_worker.ask(
        this, [this, id = m_id, last] { return m_store.openThrough(id, last); },
        [this, id = m_id, last](Result<ConversationContent> content) {
            const auto& path = m_transcript.path();
            // What is shown may be another path by now, and what cannot be read may be next time.
            if (content && id == m_id && !path.empty() && path.back().id == last) {
                // The settings may be under somebody's hands.
                showPath(std::move(content->path), m_settings.values().firstTurn);
            }
        });
}

void OpenConversation::place(const ReplyPlace& place) {
    const std::int64_t parent = place.added.front().parent;
    if (m_id == 0 && parent == 0) {
        m_id = place.conversation;
        m_settings.setConversation(m_id);
        emit opened();
    }
    if (place.conversation != m_id) {
        return;
    }
    std::vector<Turn> path = m_transcript.path();
    const auto below = std::find_if(path.begin(), path.end(),
                                    [parent](const Turn& turn) { return turn.id == parent; });
    path.erase(below == path.end() ? path.begin() : below + 1, path.end());
    path.insert(path.end(), place.added.begin(), place.added.end());
    m_transcript.setPath(std::move(path), m_settings.values().firstTurn);
    emit shown();
    // Brings the branch counts of what was added.
    refresh();
}

void OpenConversation::selectBranch(qint64 turn, int step) {
    const Turn* at = m_transcript.find(turn);
    if (at == nullptr || at->branch + step < 1 || at->branch + step > at->branches) {
        return;
    }
    m_worker.ask(
        this, [this, id = m_id, turn, step] { return m_store.selectSibling(id, turn, step); },
        [this](Status result) {
            if (!result) {
                m_notices.show(tr("The other branch could not be opened."), result.error());
                return;
            }
            read();
        });
}

void OpenConversation::setFirstTurn(std::int64_t turn) {
    m_settings.setFirstTurn(turn);
    m_transcript.setPath(m_transcript.path(), turn);
}

qint64 OpenConversation::lastUserTurn() const {
    const auto& path = m_transcript.path();
    const auto at = std::find_if(path.rbegin(), path.rend(),
                                 [](const Turn& turn) { return turn.role == "user"; });
    return at == path.rend() ? 0 : at->id;
}

qint64 OpenConversation::lastReply() const {
    const auto& path = m_transcript.path();
    return path.empty() || path.back().role == "user" ? 0 : path.back().id;
}

}  // namespace quern::ui
