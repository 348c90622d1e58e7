#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::engine::text {

/// Byte strings with a number each, walked byte by byte. Built once, then read by any thread.
class ByteTrie {
public:
    using Node = std::uint32_t;
    static constexpr Node kRoot = 0;
    static constexpr Node kNone = 0xFFFFFFFF;

    /// The strings must be distinct; empty ones are left out. Values are not negative.
    void build(std::vector<std::pair<std::string_view, std::int32_t>> entries);

    [[nodiscard]] bool isEmpty() const { return m_nodes.size() <= 1; }
    [[nodiscard]] Node child(Node parent, unsigned char byte) const {
        const Entry& entry = m_nodes[parent];
        for (std::uint32_t i = 0; i < entry.children; ++i) {
            if (m_labels[entry.firstChild + i] == byte) {
                return entry.firstChild + i;
            }
        }
        return kNone;
    }
    /// The number of the string that ends here, or -1.
    [[nodiscard]] std::int32_t value(Node node) const { return m_nodes[node].value; }
    /// As `child(kRoot, byte)`, without a search.
    [[nodiscard]] Node first(unsigned char byte) const { return m_first[byte]; }

private:
    struct Entry {
        std::uint32_t firstChild = 0;
        std::uint32_t children = 0;
        std::int32_t value = -1;
    };
    std::vector<Entry> m_nodes{Entry{}};
    std::vector<unsigned char> m_labels{0};  // of each node: the byte that leads to it
    std::vector<Node> m_first = std::vector<Node>(256, kNone);
};

}  // namespace quern::engine::text
