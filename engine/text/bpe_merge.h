#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace quern::engine::text {

/// No merge: two symbols that stay apart.
inline constexpr std::uint32_t kNoMerge = 0xFFFFFFFF;

namespace detail {

/// For few symbols: looks for the best pair anew each time. `ranks[i]` belongs to symbols i, i+1.
template <class Symbol, class Rank, class Join>
void mergeShort(std::vector<Symbol>& symbols, std::vector<std::uint32_t>& ranks, const Rank& rank,
                const Join& join) {
    std::size_t count = symbols.size();
    ranks.resize(count);
    for (std::size_t i = 0; i + 1 < count; ++i) {
        ranks[i] = rank(symbols[i], symbols[i + 1]);
    }
    while (count > 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < count; ++i) {
            if (ranks[i] < ranks[best]) {
                best = i;
            }
        }
        if (ranks[best] == kNoMerge) {
            break;
        }
        symbols[best] = join(symbols[best], symbols[best + 1]);
        for (std::size_t i = best + 1; i + 1 < count; ++i) {
            symbols[i] = symbols[i + 1];
            ranks[i] = ranks[i + 1];
        }
        --count;
        if (best > 0) {
            ranks[best - 1] = rank(symbols[best - 1], symbols[best]);
        }
        if (best + 1 < count) {
            ranks[best] = rank(symbols[best], symbols[best + 1]);
        }
    }
    symbols.resize(count);
}

/// For many: a linked list of symbols and a heap of pairs. Entries of pairs that have changed since
/// are passed over.
template <class Symbol, class Rank, class Join>
void mergeLong(std::vector<Symbol>& symbols, const Rank& rank, const Join& join) {
    constexpr std::uint32_t kEnd = 0xFFFFFFFF;
    const auto count = static_cast<std::uint32_t>(symbols.size());
    std::vector<std::uint32_t> next(count);
    std::vector<std::uint32_t> previous(count);
    std::vector<std::uint32_t> ranks(count, kNoMerge);  // of the pair that begins here
    std::vector<std::uint64_t> entries;                 // rank, then position: the order of merging
    const auto entryOf = [](std::uint32_t value, std::uint32_t position) {
        return (static_cast<std::uint64_t>(value) << 32) | position;
    };
    for (std::uint32_t i = 0; i < count; ++i) {
        next[i] = i + 1 < count ? i + 1 : kEnd;
        previous[i] = i > 0 ? i - 1 : kEnd;
        if (i + 1 < count) {
            ranks[i] = rank(symbols[i], symbols[i + 1]);
            if (ranks[i] != kNoMerge) {
                entries.push_back(entryOf(ranks[i], i));
            }
        }
    }
    std::priority_queue<std::uint64_t, std::vector<std::uint64_t>, std::greater<>> heap(
        std::greater<>{}, std::move(entries));
    const auto refresh = [&](std::uint32_t i) {
        ranks[i] = next[i] == kEnd ? kNoMerge : rank(symbols[i], symbols[next[i]]);
        if (ranks[i] != kNoMerge) {
            heap.push(entryOf(ranks[i], i));
        }
    };
    while (!heap.empty()) {
        const std::uint64_t top = heap.top();
        heap.pop();
        const auto at = static_cast<std::uint32_t>(top);
        if (ranks[at] != static_cast<std::uint32_t>(top >> 32)) {
            continue;
        }
        const std::uint32_t gone = next[at];
        symbols[at] = join(symbols[at], symbols[gone]);
        ranks[gone] = kNoMerge;
        next[at] = next[gone];
        if (next[at] != kEnd) {
            previous[next[at]] = at;
        }
        refresh(at);
        if (previous[at] != kEnd) {
            refresh(previous[at]);
        }
    }
    std::size_t kept = 0;
    for (std::uint32_t i = 0; i != kEnd; i = next[i]) {
        symbols[kept++] = symbols[i];
    }
    symbols.resize(kept);
}

}  // namespace detail

/// Merges neighbours, always the pair with the lowest rank and of those the leftmost, until none is
/// left. `rank(a, b)` is kNoMerge or the rank of the pair; `join(a, b)` is what they become. Fewer
/// than 2^32 symbols; time n log n.
template <class Symbol, class Rank, class Join>
void mergeSymbols(std::vector<Symbol>& symbols, std::vector<std::uint32_t>& scratch,
                  const Rank& rank, const Join& join) {
    constexpr std::size_t kShort = 96;
    if (symbols.size() <= kShort) {
        detail::mergeShort(symbols, scratch, rank, join);
    } else {
        detail::mergeLong(symbols, rank, join);
    }
}

}  // namespace quern::engine::text
