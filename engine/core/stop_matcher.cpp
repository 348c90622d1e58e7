#include "engine/core/stop_matcher.h"

#include <algorithm>
#include <utility>

namespace quern::engine {

namespace {

/// Bytes at the end of `text` that are a proper beginning of `stop`.
std::size_t overlap(std::string_view text, std::string_view stop) {
    std::size_t length = std::min(text.size(), stop.size() - 1);
    while (length > 0 && !text.ends_with(stop.substr(0, length))) {
        --length;
    }
    return length;
}

}  // namespace

StopMatcher::StopMatcher(std::vector<std::string> stops, bool includeStopText)
    : m_stops(std::move(stops)), m_includeStopText(includeStopText) {}

StopMatcher::Result StopMatcher::feed(std::string_view text) {
    m_held += text;
    const std::string* found = nullptr;
    std::size_t foundAt = 0;
    for (const std::string& stop : m_stops) {
        const std::size_t at = m_held.find(stop);
        if (at == std::string::npos) {
            continue;
        }
        const std::size_t end = at + stop.size();
        if (found == nullptr || end < foundAt + found->size() ||
            (end == foundAt + found->size() && at < foundAt)) {
            found = &stop;
            foundAt = at;
        }
    }
    if (found != nullptr) {
        std::string certain = m_held.substr(0, foundAt + (m_includeStopText ? found->size() : 0));
        m_held.clear();
        return Result{.text = std::move(certain), .stop = *found};
    }
    std::size_t held = 0;
    for (const std::string& stop : m_stops) {
        held = std::max(held, overlap(m_held, stop));
    }
    std::string certain = m_held.substr(0, m_held.size() - held);
    m_held.erase(0, certain.size());
    return Result{.text = std::move(certain), .stop = std::nullopt};
}

std::string StopMatcher::takeHeld() {
    return std::exchange(m_held, {});
}

}  // namespace quern::engine
