#include "engine/text/normalizer_charsmap.h"

#include <utf8proc.h>

#include <cstring>
#include <utility>

#include "engine/text/spm.h"
#include "engine/text/tokenizer_utf8.h"

namespace quern::engine::text {
namespace {

// Units of a Darts double array.
constexpr bool hasLeaf(std::uint32_t unit) {
    return ((unit >> 8) & 1) != 0;
}
constexpr std::uint32_t valueOf(std::uint32_t unit) {
    return unit & 0x7FFFFFFF;
}
constexpr std::uint32_t labelOf(std::uint32_t unit) {
    return unit & 0x800000FF;
}
constexpr std::uint32_t offsetOf(std::uint32_t unit) {
    return (unit >> 10) << ((unit & (1U << 9)) >> 6);
}

constexpr bool isContinuation(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

class Precompiled final : public Normalizer {
public:
    explicit Precompiled(CharacterMap map) : m_map(std::move(map)) {}

    [[nodiscard]] Result<std::string> apply(std::string_view text) const override {
        // Longer clusters are never looked up whole; that is the reference's own bound.
        constexpr std::size_t kLongestCluster = 5;
        std::string out;
        out.reserve(text.size());
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = clusterEnd(text, begin);
            const std::string_view cluster = text.substr(begin, end - begin);
            begin = end;
            if (out.size() > mostGrownBytes(text.size())) {
                return growsTooLong("character map", text.size());
            }
            if (cluster.size() <= kLongestCluster) {
                if (const auto match = m_map.shortest(cluster)) {
                    out.append(match->replacement);
                    continue;
                }
            }
            for (std::size_t i = 0; i < cluster.size();) {
                const std::string_view c = cluster.substr(i, decodeValidUtf8(cluster, i).length);
                const auto match = m_map.shortest(c);
                out.append(match ? match->replacement : c);
                i += c.size();
            }
        }
        return out;
    }

private:
    static std::size_t clusterEnd(std::string_view text, std::size_t begin) {
        DecodedChar left = decodeValidUtf8(text, begin);
        std::size_t end = begin + left.length;
        utf8proc_int32_t state = 0;
        while (end < text.size()) {
            const DecodedChar right = decodeValidUtf8(text, end);
            if (utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(left.codepoint),
                                                 static_cast<utf8proc_int32_t>(right.codepoint),
                                                 &state)) {
                break;
            }
            left = right;
            end += right.length;
        }
        return end;
    }

    CharacterMap m_map;
};

class SentencePieceNormalizer final : public Normalizer {
public:
    explicit SentencePieceNormalizer(SentencePieceNormalizerOptions options)
        : m_options(std::move(options)) {}

    [[nodiscard]] Result<std::string> apply(std::string_view text) const override {
        std::string out;
        out.reserve(text.size() + text.size() / 4);
        bool isInWord = false;
        bool hasPrefix = !m_options.addsSpacePrefix;
        const auto put = [&](std::string_view part) {
            for (const char c : part) {
                if (c == ' ') {
                    isInWord = false;
                    if (!m_options.collapsesSpaces) {
                        out.append(kSpaceMark);
                    }
                    continue;
                }
                if (!isInWord) {
                    isInWord = true;
                    const bool isBetween = m_options.collapsesSpaces && !out.empty();
                    if (!hasPrefix || isBetween) {
                        out.append(kSpaceMark);
                        hasPrefix = true;
                    }
                }
                out.push_back(c);
            }
        };
        for (std::size_t i = 0; i < text.size();) {
            if (out.size() > mostGrownBytes(text.size())) {
                return growsTooLong("character map", text.size());
            }
            const auto match =
                m_options.map ? m_options.map->longest(text.substr(i)) : std::nullopt;
            if (match) {
                put(match->replacement);
                i += match->length;
            } else {
                const std::size_t length = decodeValidUtf8(text, i).length;
                put(text.substr(i, length));
                i += length;
            }
        }
        return out;
    }

private:
    SentencePieceNormalizerOptions m_options;
};

}  // namespace

Result<CharacterMap> CharacterMap::create(std::string_view blob) {
    std::uint32_t trieBytes = 0;
    if (blob.size() < sizeof(trieBytes)) {
        return fail(ErrorCode::kCorrupt, "the character map is " + std::to_string(blob.size()) +
                                             " bytes long; it needs at least 4");
    }
    std::memcpy(&trieBytes, blob.data(), sizeof(trieBytes));
    if (trieBytes % 4 != 0 || trieBytes == 0 || trieBytes > blob.size() - sizeof(trieBytes)) {
        return fail(ErrorCode::kCorrupt, "the character map of " + std::to_string(blob.size()) +
                                             " bytes states a trie of " +
                                             std::to_string(trieBytes) + " bytes");
    }
    CharacterMap map;
    map.m_units.resize(trieBytes / 4);
    std::memcpy(map.m_units.data(), blob.data() + sizeof(trieBytes), trieBytes);
    map.m_replacements = blob.substr(sizeof(trieBytes) + trieBytes);
    for (std::size_t i = 0; i < map.m_replacements.size();) {
        const DecodedChar c = decodeUtf8(map.m_replacements, i);
        if (c.length == 0) {
            return fail(ErrorCode::kCorrupt, "the character map's replacements are not UTF-8");
        }
        i += c.length;
    }
    return map;
}

std::optional<CharacterMap::Match> CharacterMap::walk(std::string_view text,
                                                      bool isShortest) const {
    std::optional<Match> found;
    std::size_t node = offsetOf(m_units[0]);
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        node ^= byte;
        if (byte == 0 || node >= m_units.size() || labelOf(m_units[node]) != byte) {
            break;
        }
        const std::uint32_t unit = m_units[node];
        node ^= offsetOf(unit);
        if (!hasLeaf(unit)) {
            continue;
        }
        if (node >= m_units.size()) {
            break;
        }
        if (!isShortest && i + 1 < text.size() && isContinuation(text[i + 1])) {
            continue;  // only a broken map ends inside a character
        }
        const std::size_t begin = valueOf(m_units[node]);
        if (begin >= m_replacements.size() || isContinuation(m_replacements[begin])) {
            break;
        }
        const std::size_t end = m_replacements.find('\0', begin);
        found =
            Match{.length = i + 1,
                  .replacement = std::string_view(m_replacements)
                                     .substr(begin, end == std::string::npos ? end : end - begin)};
        if (isShortest) {
            break;
        }
    }
    return found;
}

std::optional<CharacterMap::Match> CharacterMap::shortest(std::string_view text) const {
    return walk(text, true);
}

std::optional<CharacterMap::Match> CharacterMap::longest(std::string_view text) const {
    return walk(text, false);
}

NormalizerPtr makePrecompiled(CharacterMap map) {
    return std::make_unique<Precompiled>(std::move(map));
}

NormalizerPtr makeSentencePieceNormalizer(SentencePieceNormalizerOptions options) {
    return std::make_unique<SentencePieceNormalizer>(std::move(options));
}

}  // namespace quern::engine::text
