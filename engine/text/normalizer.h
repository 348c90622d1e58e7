#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/text/pretokenizer_regex.h"
#include "kernels/result.h"

namespace quern::engine::text {

/// How long a tokenizer's rules may make a text: far longer than any real one does, and too short
/// for those of a hostile file to fill the memory.
[[nodiscard]] constexpr std::size_t mostGrownBytes(std::size_t bytes) {
    return bytes * 32 + 4096;
}
/// The error of rules that go beyond it: kCorrupt, naming them.
[[nodiscard]] tl::unexpected<Error> growsTooLong(std::string_view rules, std::size_t bytes);

/// Rewrites text before it is cut. Immutable; any thread.
class Normalizer {
public:
    virtual ~Normalizer() = default;
    /// `text` is valid UTF-8, and so is the result. Its only error is growsTooLong.
    [[nodiscard]] virtual Result<std::string> apply(std::string_view text) const = 0;
};
using NormalizerPtr = std::unique_ptr<const Normalizer>;

enum class UnicodeForm { kNfc, kNfd, kNfkc, kNfkd };

struct BertNormalizerOptions {
    bool cleansText = true;  // drops controls, makes all white space a space
    bool spacesCjk = true;   // spaces around ideographs
    bool stripsAccents = true;
    bool lowercases = true;
};

[[nodiscard]] NormalizerPtr makeNormalizerSequence(std::vector<NormalizerPtr> steps);
[[nodiscard]] NormalizerPtr makeUnicodeForm(UnicodeForm form);
[[nodiscard]] NormalizerPtr makeLowercase();
[[nodiscard]] NormalizerPtr makeStripAccents();
/// Trims white space.
[[nodiscard]] NormalizerPtr makeStrip(bool left, bool right);
[[nodiscard]] NormalizerPtr makeReplaceString(std::string pattern, std::string content);
[[nodiscard]] NormalizerPtr makeReplaceRegex(Regex pattern, std::string content);
/// Before any text that is not empty.
[[nodiscard]] NormalizerPtr makePrepend(std::string prefix);
[[nodiscard]] NormalizerPtr makeBertNormalizer(BertNormalizerOptions options);
/// The clean-up of NMT models: some controls go, others become spaces.
[[nodiscard]] NormalizerPtr makeNmt();
/// Every byte as GPT-2's character for it.
[[nodiscard]] NormalizerPtr makeByteLevelNormalizer();

}  // namespace quern::engine::text
