#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "engine/kv/block_pool.h"
#include "engine/kv/group_rules.h"

namespace quern::engine {

/// The blocks one sequence holds. Made and changed by a KvManager only; a value of the scheduler's.
struct SequenceKv {
    struct Group {
        std::vector<std::int32_t> table;  // [blocks so far], −1 where none is held
        std::int32_t firstHeld = 0;       // everything before lies behind the window
        std::int32_t held = 0;            // entries that are not −1
    };
    std::vector<Group> groups;
    BlockKey root;
    BlockHolder holder;
    std::vector<BlockKey> keys;  // of leading full blocks, as far as they were needed
    std::int32_t published = 0;  // leading blocks that were offered to the prefix index

    /// Blocks held over all groups.
    [[nodiscard]] std::int64_t heldBlocks() const;
};

/// What was missing when blocks were asked for.
struct KvShortage {
    std::int32_t group = 0;
    std::int64_t needed = 0;
    std::int64_t free = 0;
};

struct KvCopy {
    std::int32_t group = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
};

/// Block tables of all sequences of a model over all groups of its cache. Everything is all or
/// nothing over the groups. Ids only. Belongs to one thread at a time.
class KvManager {
public:
    /// `firstVersion`: see BlockPool.
    KvManager(std::span<const KvGroupConfig> groups, bool isPrefixCaching,
              std::uint64_t firstVersion = 1);

    [[nodiscard]] std::size_t groupCount() const { return m_groups.size(); }
    [[nodiscard]] const BlockPool& pool(std::size_t group) const { return m_groups[group].pool; }
    [[nodiscard]] std::int64_t window(std::size_t group) const {
        return m_groups[group].config.window;
    }
    [[nodiscard]] bool isState(std::size_t group) const { return m_groups[group].config.isState; }
    [[nodiscard]] bool isPrefixCaching() const { return m_isPrefixCaching; }
    [[nodiscard]] bool isIdle() const;
    [[nodiscard]] std::uint64_t evictions() const;

    /// A sequence that holds nothing yet.
    [[nodiscard]] SequenceKv open(std::string_view salt, std::string_view adapter,
                                  const BlockHolder& holder) const;

    /// Tokens at the start of `tokens` that are cached in every group, in whole blocks and at most
    /// `limit`: the longest prefix that a sequence could go on from. Fills keys of `sequence`.
    [[nodiscard]] std::int64_t findPrefix(SequenceKv& sequence, std::span<const TokenId> tokens,
                                          std::int64_t limit) const;

    /// Takes a prefix that findPrefix just found (room.begin tokens) and new blocks after it. The
    /// sequence must hold nothing. On a shortage nothing has changed.
    [[nodiscard]] std::optional<KvShortage> admit(SequenceKv& sequence, const KvRoom& room);
    /// Takes what the sequence lacks; frees what lies behind windows first. On a shortage nothing
    /// more has changed.
    [[nodiscard]] std::optional<KvShortage> extend(SequenceKv& sequence, const KvRoom& room);

    /// Notes that tokens [begin, end) were written by step `step`, and makes full blocks findable.
    void written(SequenceKv& sequence, std::span<const TokenId> tokens, std::int64_t begin,
                 std::int64_t end, std::uint32_t step);

    /// Gives `child` (which holds nothing) the first `tokens` tokens of `parent`: full blocks are
    /// shared, a last partial one is copied (appended to `copies`).
    [[nodiscard]] std::optional<KvShortage> fork(const SequenceKv& parent, SequenceKv& child,
                                                 std::int64_t tokens, std::vector<KvCopy>& copies);

    /// Gives all blocks back, deepest first; they stay findable until taken.
    void release(SequenceKv& sequence);

    void forgetCached();

private:
    struct Group {
        BlockPool pool;
        KvGroupConfig config;
    };

    void fillKeys(SequenceKv& sequence, std::span<const TokenId> tokens, std::int64_t blocks) const;
    /// The longest prefix of at most `blocks` blocks that this group alone could go on from.
    [[nodiscard]] std::int64_t longestIn(const Group& group, const SequenceKv& sequence,
                                         std::span<const TokenId> tokens,
                                         std::int64_t blocks) const;
    /// Takes what the sequence lacks in a group, which is there.
    void grow(std::size_t index, SequenceKv& sequence, const KvRoom& room);
    void freeBehindWindow(SequenceKv& sequence, std::int64_t position);

    std::vector<Group> m_groups;
    bool m_isPrefixCaching = true;
};

}  // namespace quern::engine
