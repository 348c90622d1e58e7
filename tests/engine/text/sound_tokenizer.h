#pragma once

#include <nlohmann/json.hpp>

namespace quern::test {

/// A sound tokenizer.json to break: BPE over a few letters.
inline nlohmann::json soundTokenizer() {
    return nlohmann::json::parse(R"({
        "added_tokens": [{"id": 6, "content": "<s>", "special": true}],
        "normalizer": null, "pre_tokenizer": null, "post_processor": null,
        "decoder": {"type": "Fuse"},
        "model": {"type": "BPE", "unk_token": "?",
                  "vocab": {"?": 0, "a": 1, "b": 2, "ab": 3, "abb": 4, " ": 5},
                  "merges": ["a b", "ab b"]}})");
}

}  // namespace quern::test
