#include "engine/text/tokenizer_trie.h"

#include <algorithm>

namespace quern::engine::text {

void ByteTrie::build(std::vector<std::pair<std::string_view, std::int32_t>> entries) {
    std::erase_if(entries, [](const auto& entry) { return entry.first.empty(); });
    std::sort(entries.begin(), entries.end());

    // Level by level: a node stands for the entries that share its first `depth` bytes, so that the
    // children of each node lie side by side.
    struct Range {
        std::size_t begin;
        std::size_t end;
    };
    m_nodes.assign(1, Entry{});
    m_labels.assign(1, 0);
    std::vector<Range> level{{0, entries.size()}};
    std::size_t levelStart = 0;
    for (std::size_t depth = 0; !level.empty(); ++depth) {
        std::vector<Range> next;
        const std::size_t nextStart = m_nodes.size();
        for (std::size_t n = 0; n < level.size(); ++n) {
            auto [begin, end] = level[n];
            if (begin < end && entries[begin].first.size() == depth) {
                m_nodes[levelStart + n].value = entries[begin].second;
                ++begin;
            }
            m_nodes[levelStart + n].firstChild = static_cast<std::uint32_t>(m_nodes.size());
            while (begin < end) {
                const char label = entries[begin].first[depth];
                std::size_t stop = begin;
                while (stop < end && entries[stop].first[depth] == label) {
                    ++stop;
                }
                m_nodes.emplace_back();
                m_labels.push_back(static_cast<unsigned char>(label));
                ++m_nodes[levelStart + n].children;
                next.push_back({begin, stop});
                begin = stop;
            }
        }
        levelStart = nextStart;
        level = std::move(next);
    }
    for (int byte = 0; byte < 256; ++byte) {
        m_first[static_cast<std::size_t>(byte)] = child(kRoot, static_cast<unsigned char>(byte));
    }
}

}  // namespace quern::engine::text
