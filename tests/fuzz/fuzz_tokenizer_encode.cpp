// Any text through a tokenizer of each kind. The first byte chooses it, and whether special tokens
// are parsed. Every id is one of the vocabulary's; byte-level ones give the text back.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text.h"
#include "tests/fuzz/justified_memory.h"

namespace {

using quern::engine::Tokenizer;

struct Known {
    std::shared_ptr<const Tokenizer> tokenizer;
    bool givesBack = false;
};

const std::vector<Known>& tokenizers() {
    static const std::vector<Known> known = [] {
        std::vector<Known> loaded;
        const std::filesystem::path root = QUERN_SOURCE_DIR "/tests/data/golden/tokenizers-hf";
        for (const char* name : {"bpe-bytelevel-gpt2", "bpe-split-regex-llama3",
                                 "bpe-spm-byte-fallback", "unigram-metaspace", "wordpiece-bert"}) {
            auto tokenizer = quern::engine::loadTokenizer(root / name);
            if (!tokenizer) {
                std::abort();
            }
            const std::string_view spelled(name);
            loaded.push_back({std::move(*tokenizer),
                              spelled.find("bpe-b") == 0 || spelled.find("bpe-split") == 0});
        }
        return loaded;
    }();
    return known;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) {
        return 0;
    }
    const Known& known = tokenizers()[data[0] % tokenizers().size()];
    const bool parsesSpecial = (data[0] & 0x80U) != 0;
    const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
    const quern::test::JustifiedMemory memory((std::size_t{1} << 20U) + 512 * size);
    const auto ids = known.tokenizer->encode(text, {.parseSpecial = parsesSpecial});
    if (!ids) {
        return 0;
    }
    for (const auto id : *ids) {
        if (id < 0 || id >= known.tokenizer->vocabSize()) {
            std::abort();
        }
    }
    const std::string back = known.tokenizer->decode(*ids, false);
    if (known.givesBack && back != text) {
        std::abort();
    }
    return 0;
}
