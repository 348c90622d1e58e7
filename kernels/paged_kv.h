#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/tensor.h"

namespace quern::kernels {

/// Tokens in a block of every group.
inline constexpr std::int32_t kBlockTokens = 16;
/// Attention works in spans of this many keys, from absolute multiples of it.
inline constexpr std::int32_t kSpanTokens = 256;

/// The cache of one attention layer.
struct KvLayer {
    std::int32_t group = 0;  // which block tables serve it
    std::int64_t kvHeads = 0;
    std::int64_t keyDim = 0;
    std::int64_t valueDim = 0;
    bool isValueInKey = false;  // a value is what its key ends with, and is not kept again
};

/// What one op keeps of a sequence instead of keys and values: so many float32 numbers, whatever
/// the sequence's length.
struct StateLayer {
    std::int32_t group = 0;
    std::int64_t floats = 0;
    bool operator==(const StateLayer&) const = default;
};

/// What a model's cache looks like. A group is a set of layers that share block tables: layers that
/// see everything are one, layers that see a window another. A block of a group holds 16 tokens of
/// all its layers. The layout inside a block belongs to the backend.
///
/// A group of states holds states and no layers of attention. Its block is the state of all of them
/// after one token: block i of a sequence is the state after its latest token of 16·i … 16·i+15. It
/// is written in place until token 16·i+15, then never again: from there on it is a snapshot.
struct KvLayout {
    std::vector<KvLayer> layers;     // indexed by kvLayer of the ops
    std::vector<StateLayer> states;  // indexed by stateLayer of the ops
    std::int32_t groups = 1;
    DType type = DType::kF16;  // of keys and values: kF16 or kF32 (kI8 later)
};

/// True for a group of states.
[[nodiscard]] bool holdsStates(const KvLayout& layout, std::int32_t group);

/// Bytes of one block of a group, over all its layers: 16 tokens · Σ kvHeads · (keyDim + valueDim)
/// · size of the type, without valueDim where isValueInKey; of a group of states Σ floats · 4. A
/// backend may pad; KvCache::blockBytes says what it really takes.
[[nodiscard]] std::int64_t kvBlockBytes(const KvLayout& layout, std::int32_t group);

/// The block tables of one group in one step. Entry [s, i] is the physical block that holds tokens
/// 16·i … 16·i+15 of sequence s; −1 where no block is held (behind a window) or needed.
///
/// In a group of states a step that computes tokens p … q needs the blocks of tokens p − 1 (unless
/// p is 0) and q. Those between may be −1; where one is given, it gets the state after its last
/// token.
struct BlockTables {
    std::span<const std::int32_t> blocks;  // [sequences, stride]
    std::int64_t stride = 0;
};

}  // namespace quern::kernels
