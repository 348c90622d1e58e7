#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/result.h"

namespace quern::engine::text {

/// Whose rules a pattern was written for; they differ in what `^` and `$` mean and in shorthands.
enum class RegexDialect {
    kGguf,       // the splitters of `tokenizer.ggml.pre`
    kOniguruma,  // the patterns of tokenizer.json
};

struct RegexMatch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// A pattern, compiled. Immutable; any thread.
class Regex {
public:
    /// kUnsupported, naming the pattern, where it does not compile.
    [[nodiscard]] static Result<Regex> create(std::string_view pattern, RegexDialect dialect);
    Regex(Regex&&) noexcept;
    Regex& operator=(Regex&&) noexcept;
    ~Regex();

    /// The matches in `text` (valid UTF-8), left to right. None overlap; empty ones are kept, save
    /// right at the end of another. Where a pattern needs more steps or memory than is sane, the
    /// rest of the text is searched in windows of 32 KiB, and what cannot be decided in one counts
    /// as no match. Patterns that look far ahead see 768 bytes from where their match begins.
    void findAll(std::string_view text, std::vector<RegexMatch>& matches) const;

private:
    struct Compiled;
    explicit Regex(std::unique_ptr<Compiled> compiled);
    std::unique_ptr<Compiled> m_compiled;
};

/// Whether the pattern looks ahead without a bound, as those that group digits from the right do.
[[nodiscard]] bool looksFarAhead(std::string_view pattern);

/// The pattern in PCRE2's language: shorthands that mean something else there are written out,
/// class intersections become look-aheads.
[[nodiscard]] std::string translateRegex(std::string_view pattern, RegexDialect dialect);

}  // namespace quern::engine::text
