#include "engine/text/jinja/value.h"

#include <algorithm>

#include "engine/text/jinja/compare.h"
#include "engine/text/jinja/failure.h"
#include "engine/text/jinja/unicode.h"

namespace quern::engine::jinja {

void MemoryCount::take(std::size_t bytes) {
    if (bytes > limit - std::min(used, limit)) {
        raise("MemoryError", "the template's values need more than " +
                                 std::to_string(limit / (1024 * 1024)) + " MiB");
    }
    used += bytes;
}

Text::Text(std::string text, bool markup, MemoryCount* count)
    : bytes(std::move(text)), length(countCodePoints(bytes)), isMarkup(markup), memory(count) {
    if (memory != nullptr) {
        memory->take(bytes.size());
    }
}

Text::~Text() {
    if (memory != nullptr) {
        memory->give(bytes.size());
    }
}

Kind Value::kind() const {
    switch (m_data.index()) {
        case 0:
            return Kind::kNone;
        case 1:
            return Kind::kBool;
        case 2:
            return Kind::kInt;
        case 3:
            return Kind::kFloat;
        case 4:
            return Kind::kText;
        default:
            return std::get<Object*>(m_data)->kind;
    }
}

const void* Value::address() const {
    if (const auto* text = std::get_if<std::shared_ptr<const Text>>(&m_data)) {
        return text->get();
    }
    if (const auto* object = std::get_if<Object*>(&m_data)) {
        return *object;
    }
    return nullptr;
}

// Below this size a scan is quicker than hashing, and most dicts of a chat are smaller.
constexpr std::size_t kScanLimit = 8;
constexpr std::size_t kNowhere = static_cast<std::size_t>(-1);

std::size_t Dict::indexOf(const Value& key, std::size_t hash) const {
    if (m_entries.size() <= kScanLimit) {
        for (std::size_t i = 0; i < m_entries.size(); ++i) {
            if (isEqual(m_entries[i].first, key)) {
                return i;
            }
        }
        return kNowhere;
    }
    const auto [first, last] = m_index.equal_range(hash);
    for (auto it = first; it != last; ++it) {
        if (isEqual(m_entries[it->second].first, key)) {
            return it->second;
        }
    }
    return kNowhere;
}

Value* Dict::find(const Value& key) {
    const std::size_t at = indexOf(key, hashOf(key));
    return at == kNowhere ? nullptr : &m_entries[at].second;
}

Value* Dict::find(std::string_view key) {
    if (m_entries.size() <= kScanLimit) {
        for (Entry& entry : m_entries) {
            if (entry.first.isText() && entry.first.text() == key) {
                return &entry.second;
            }
        }
        return nullptr;
    }
    const auto [first, last] = m_index.equal_range(hashOf(key));
    for (auto it = first; it != last; ++it) {
        Entry& entry = m_entries[it->second];
        if (entry.first.isText() && entry.first.text() == key) {
            return &entry.second;
        }
    }
    return nullptr;
}

void Dict::set(const Value& key, Value value) {
    const std::size_t hash = hashOf(key);
    const std::size_t at = indexOf(key, hash);
    if (at != kNowhere) {
        m_entries[at].second = std::move(value);
        return;
    }
    m_entries.emplace_back(key, std::move(value));
    if (m_entries.size() == kScanLimit + 1) {
        rebuildIndex();
    } else if (m_entries.size() > kScanLimit) {
        m_index.emplace(hash, m_entries.size() - 1);
    }
}

bool Dict::erase(const Value& key) {
    const std::size_t at = indexOf(key, hashOf(key));
    if (at == kNowhere) {
        return false;
    }
    m_entries.erase(m_entries.begin() + static_cast<std::ptrdiff_t>(at));
    rebuildIndex();
    return true;
}

void Dict::clear() {
    m_entries.clear();
    m_index.clear();
}

void Dict::rebuildIndex() {
    m_index.clear();
    if (m_entries.size() > kScanLimit) {
        for (std::size_t i = 0; i < m_entries.size(); ++i) {
            m_index.emplace(hashOf(m_entries[i].first), i);
        }
    }
}

std::int64_t Range::length() const {
    if (step > 0) {
        return start < stop ? (stop - start - 1) / step + 1 : 0;
    }
    return start > stop ? (start - stop - 1) / -step + 1 : 0;
}

Value Heap::text(std::string bytes, bool isMarkup) {
    return Value(std::make_shared<const Text>(std::move(bytes), isMarkup, &m_memory));
}

Value Heap::list(std::vector<Value> items) {
    take(items.size() * sizeof(Value));
    return Value(&make<Sequence>(Kind::kList, std::move(items)));
}

Value Heap::tuple(std::vector<Value> items) {
    take(items.size() * sizeof(Value));
    return Value(&make<Sequence>(Kind::kTuple, std::move(items)));
}

Value Heap::undefined(std::string message, std::string errorType) {
    take(message.size());
    return Value(&make<Undefined>(std::move(message), std::move(errorType)));
}

Value constantText(std::string bytes) {
    return Value(std::make_shared<const Text>(std::move(bytes), false, nullptr));
}

}  // namespace quern::engine::jinja
