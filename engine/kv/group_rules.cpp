#include "engine/kv/group_rules.h"

#include <algorithm>

#include "kernels/paged_kv.h"

namespace quern::engine {

namespace {

// Prompts that begin alike share snapshots at multiples of so many tokens. A state is large, and
// between two of them is computed what a step computes anyway.
constexpr std::int64_t kSnapshotTokens = 256;

}  // namespace

std::int64_t blocksFor(std::int64_t tokens) {
    return (tokens + kernels::kBlockTokens - 1) / kernels::kBlockTokens;
}

std::int64_t firstVisibleBlock(const KvGroupConfig& group, std::int64_t position) {
    if (group.isState) {
        return std::max<std::int64_t>(0, position - 1) / kernels::kBlockTokens;
    }
    if (group.window == 0) {
        return 0;
    }
    return std::max<std::int64_t>(0, position - group.window + 1) / kernels::kBlockTokens;
}

std::int64_t wantedBlocks(const KvGroupConfig& group, const KvRoom& room) {
    const bool isWhole = group.window == 0 && !group.isState;
    return blocksFor(isWhole ? room.knownEnd : room.stepEnd);
}

std::int64_t missingBlocks(const KvGroupConfig& group, std::int64_t have, const KvRoom& room) {
    const std::int64_t missing = std::max<std::int64_t>(0, wantedBlocks(group, room) - have);
    return group.isState ? std::min<std::int64_t>(missing, 1) : missing;
}

bool isSnapshotWanted(std::int64_t block, const KvRoom& room) {
    const std::int64_t border = (block + 1) * kernels::kBlockTokens;
    // The last border before a prompt's last token: where the same prompt, or one that continues
    // it, goes on. When the prompt ends at a border that state is kept as well, for it is the one
    // the sequence goes on in.
    const bool isLastBorder =
        room.stepEnd == room.knownEnd &&
        border == (room.stepEnd - 1) / kernels::kBlockTokens * kernels::kBlockTokens;
    return isLastBorder || border % kSnapshotTokens == 0;
}

}  // namespace quern::engine
