#include "ui/demo/memory_conversations.h"

#include <algorithm>
#include <cctype>

namespace quern::ui {
namespace {

bool contains(const std::string& text, const std::string& part) {
    const auto same = [](unsigned char a, unsigned char b) {
        return std::tolower(a) == std::tolower(b);
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

}  // namespace

Status MemoryConversations::mayWrite() const {
    if (m_fails) {
        return fail(ErrorCode::kIo, "the disk is full: 0 bytes are free, 4096 are needed");
    }
    return {};
}

Result<MemoryConversations::Stored*> MemoryConversations::find(std::int64_t conversation) {
    const auto at = m_stored.find(conversation);
    if (at == m_stored.end()) {
        return fail(ErrorCode::kNotFound,
                    "there is no conversation " + std::to_string(conversation));
    }
    return &at->second;
}

Result<std::vector<ConversationSummary>> MemoryConversations::list(const std::string& search) {
    const std::lock_guard lock(m_mutex);
    std::vector<ConversationSummary> found;
    for (const auto& [id, stored] : m_stored) {
        if (stored.isRemoved) {
            continue;
        }
        ConversationSummary summary = stored.summary;
        const auto match =
            std::find_if(stored.turns.begin(), stored.turns.end(),
                         [&](const Turn& turn) { return contains(turn.text, search); });
        if (!search.empty()) {
            if (match != stored.turns.end()) {
                summary.snippet = match->text.substr(0, 80);
            } else if (!contains(summary.title, search)) {
                continue;
            }
        }
        found.push_back(std::move(summary));
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return std::pair(a.updatedAt, a.id) > std::pair(b.updatedAt, b.id);
    });
    return found;
}

Result<std::int64_t> MemoryConversations::create(const std::string& title,
                                                 const ConversationSettings& settings) {
    const std::lock_guard lock(m_mutex);
    if (Status may = mayWrite(); !may) {
        return forward(may);
    }
    const std::int64_t id = m_nextConversation++;
    m_stored[id].summary = {.id = id, .title = title, .updatedAt = m_time, .snippet = {}};
    m_stored[id].settings = settings;
    return id;
}

Status MemoryConversations::rename(std::int64_t conversation, const std::string& title) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([&](Stored* stored) { stored->summary.title = title; });
}

Status MemoryConversations::remove(std::int64_t conversation) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([](Stored* stored) { stored->isRemoved = true; });
}

Status MemoryConversations::restore(std::int64_t conversation) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([](Stored* stored) { stored->isRemoved = false; });
}

Result<ConversationContent> MemoryConversations::open(std::int64_t conversation) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([](Stored* stored) {
        ConversationContent content{
            .summary = stored->summary, .settings = stored->settings, .path = {}};
        for (std::int64_t at = stored->leaf; at != 0;) {
            const auto turn = std::find_if(stored->turns.begin(), stored->turns.end(),
                                           [at](const Turn& t) { return t.id == at; });
            content.path.push_back(*turn);
            content.path.back().branches = 0;
            for (const Turn& other : stored->turns) {
                if (other.parent == turn->parent) {
                    ++content.path.back().branches;
                    content.path.back().branch =
                        other.id == at ? content.path.back().branches : content.path.back().branch;
                }
            }
            at = turn->parent;
        }
        std::reverse(content.path.begin(), content.path.end());
        return content;
    });
}

Status MemoryConversations::saveSettings(std::int64_t conversation,
                                         const ConversationSettings& settings) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([&](Stored* stored) { stored->settings = settings; });
}

Result<std::int64_t> MemoryConversations::addTurn(std::int64_t conversation, const Turn& turn) {
    const std::lock_guard lock(m_mutex);
    if (Status may = mayWrite(); !may) {
        return forward(may);
    }
    return find(conversation).map([&](Stored* stored) {
        stored->turns.push_back(turn);
        stored->turns.back().id = m_nextTurn++;
        stored->leaf = stored->turns.back().id;
        stored->summary.updatedAt = std::max(stored->summary.updatedAt, m_time);
        return stored->leaf;
    });
}

Status MemoryConversations::updateTurn(std::int64_t conversation, const Turn& turn) {
    const std::lock_guard lock(m_mutex);
    if (Status may = mayWrite(); !may) {
        return may;
    }
    return find(conversation).map([&](Stored* stored) {
        for (Turn& old : stored->turns) {
            if (old.id == turn.id) {
                old.text = turn.text;
                old.state = turn.state;
                old.failure = turn.failure;
                old.figures = turn.figures;
            }
        }
    });
}

Status MemoryConversations::selectSibling(std::int64_t conversation, std::int64_t turn,
                                          int offset) {
    const std::lock_guard lock(m_mutex);
    return find(conversation).map([&](Stored* stored) {
        std::int64_t parent = 0;
        for (const Turn& other : stored->turns) {
            parent = other.id == turn ? other.parent : parent;
        }
        std::vector<std::int64_t> siblings;
        for (const Turn& other : stored->turns) {
            if (other.parent == parent) {
                siblings.push_back(other.id);
            }
        }
        const auto at = std::find(siblings.begin(), siblings.end(), turn);
        const std::ptrdiff_t wanted = at - siblings.begin() + offset;
        if (wanted < 0 || wanted >= static_cast<std::ptrdiff_t>(siblings.size())) {
            return;
        }
        stored->leaf = siblings[static_cast<std::size_t>(wanted)];
        for (bool isDeeper = true; isDeeper;) {
            const auto child =
                std::find_if(stored->turns.rbegin(), stored->turns.rend(),
                             [&](const Turn& other) { return other.parent == stored->leaf; });
            isDeeper = child != stored->turns.rend();
            stored->leaf = isDeeper ? child->id : stored->leaf;
        }
    });
}

void MemoryConversations::failWrites(bool fails) {
    const std::lock_guard lock(m_mutex);
    m_fails = fails;
}

void MemoryConversations::setTime(std::int64_t seconds) {
    const std::lock_guard lock(m_mutex);
    m_time = seconds;
}

}  // namespace quern::ui
