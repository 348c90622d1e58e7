#pragma once

#include <cstdint>

namespace quern::engine {

/// A set of layers that share block tables.
struct KvGroupConfig {
    std::int64_t blocks = 0;
    std::int64_t window = 0;  // tokens a query sees, itself included; 0: all
    /// Its blocks are states after a token (see kernels::KvLayout), not tokens. A sequence holds
    /// the one it goes on in, the one before while a step needs it, and snapshots.
    bool isState = false;
};

/// Blocks of states that a sequence can use: the one it goes on in, the next one at a block's
/// border, and two snapshots to come back to.
inline constexpr std::int64_t kStatesPerSequence = 4;

/// How far blocks are asked for. Groups that see everything get theirs up to `knownEnd` at once, so
/// that a prompt that was begun can be finished; groups with a window only what the step needs, and
/// groups of states the block that the step ends in. Snapshots come on top while blocks are free.
struct KvRoom {
    std::int64_t begin = 0;     // first token of the step: what is cached before it
    std::int64_t stepEnd = 0;   // one past the last token of the step
    std::int64_t knownEnd = 0;  // one past the last token that is known
    std::int64_t spare = 0;     // blocks that must stay free in each group
};

/// Blocks that hold so many tokens.
[[nodiscard]] std::int64_t blocksFor(std::int64_t tokens);

/// The first block that token `position` needs of those before it.
[[nodiscard]] std::int64_t firstVisibleBlock(const KvGroupConfig& group, std::int64_t position);

/// Entries of the table once a step has its blocks.
[[nodiscard]] std::int64_t wantedBlocks(const KvGroupConfig& group, const KvRoom& room);

/// Blocks that a table of `have` entries cannot do without.
[[nodiscard]] std::int64_t missingBlocks(const KvGroupConfig& group, std::int64_t have,
                                         const KvRoom& room);

/// Whether the state after the last token of `block`, which the step passes, is worth keeping.
[[nodiscard]] bool isSnapshotWanted(std::int64_t block, const KvRoom& room);

}  // namespace quern::engine
