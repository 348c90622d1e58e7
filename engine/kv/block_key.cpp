#include "engine/kv/block_key.h"

#include <algorithm>
#include <array>
#include <string>

#include "kernels/paged_kv.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace quern::engine {

BlockKey rootKey(std::string_view salt, std::string_view adapter) {
    // The length in front keeps ("a", "bc") and ("ab", "c") apart.
    const std::string text =
        std::to_string(salt.size()) + ":" + std::string(salt) + std::string(adapter);
    const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
    return BlockKey{.low = hash.low64, .high = hash.high64};
}

BlockKey childKey(const BlockKey& parent, std::span<const TokenId> tokens) {
    struct {
        BlockKey parent;
        std::array<TokenId, kernels::kBlockTokens> tokens;
    } bytes{.parent = parent, .tokens = {}};
    static_assert(sizeof(bytes) == sizeof(BlockKey) + sizeof(TokenId) * kernels::kBlockTokens,
                  "padding would be hashed");
    std::copy_n(tokens.begin(), kernels::kBlockTokens, bytes.tokens.begin());
    const XXH128_hash_t hash = XXH3_128bits(&bytes, sizeof(bytes));
    return BlockKey{.low = hash.low64, .high = hash.high64};
}

}  // namespace quern::engine
