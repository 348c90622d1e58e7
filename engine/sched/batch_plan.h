#pragma once

#include <cstdint>
#include <vector>

#include "kernels/kernels.h"

namespace quern::engine {

using SequenceId = std::uint64_t;

struct GroupTable {
    std::vector<std::int32_t> blocks;  // [sequences, stride], −1 where none is held
    std::int64_t stride = 0;
};

/// A block to be copied before the step (a branch that parts inside a block).
struct BlockCopy {
    std::int32_t group = 0;
    std::int32_t from = 0;
    std::int32_t to = 0;
};

/// What one step computes: the value between scheduler and runner. No pointers, nothing shared.
struct BatchPlan {
    std::vector<std::int32_t> tokens;            // [T]
    std::vector<std::int32_t> positions;         // [T]
    std::vector<std::int32_t> tokenTypes;        // [T]
    std::vector<kernels::SequenceSlice> slices;  // [S]
    std::vector<SequenceId> sequences;           // [S]
    std::vector<std::int32_t> adapters;          // [S] slot of the runner's; −1: none
    std::vector<GroupTable> tables;              // [groups]
    std::vector<std::int32_t> outputRows;        // [R] indices into tokens
    std::vector<std::int32_t> outputSlice;       // [R] index into slices
    std::vector<BlockCopy> copies;

    [[nodiscard]] bool isEmpty() const { return tokens.empty(); }
};

}  // namespace quern::engine
