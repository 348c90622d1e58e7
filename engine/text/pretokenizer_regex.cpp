#include "engine/text/pretokenizer_regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <utility>

namespace quern::engine::text {
namespace {

constexpr std::size_t kWindow = 32 * 1024;
// Digits are grouped by three from the right: a multiple of three keeps the groups of longer runs
// whole.
constexpr std::size_t kFarWindow = 3 * 256;
constexpr std::uint32_t kMatchLimit = 20'000'000;
constexpr std::uint32_t kWindowMatchLimit = 500'000;
constexpr std::size_t kLargestStack = 64 * 1024 * 1024;

template <auto Free>
struct Deleter {
    template <class T>
    void operator()(T* pointer) const {
        Free(pointer);
    }
};
using Code = std::unique_ptr<pcre2_code, Deleter<pcre2_code_free>>;
using CompileContext = std::unique_ptr<pcre2_compile_context, Deleter<pcre2_compile_context_free>>;
using MatchContext = std::unique_ptr<pcre2_match_context, Deleter<pcre2_match_context_free>>;
using MatchData = std::unique_ptr<pcre2_match_data, Deleter<pcre2_match_data_free>>;
using JitStack = std::unique_ptr<pcre2_jit_stack, Deleter<pcre2_jit_stack_free>>;

/// What one search needs and no other may share.
class Searcher {
public:
    explicit Searcher(const pcre2_code* code, bool hasJit)
        : m_code(code), m_hasJit(hasJit), m_data(pcre2_match_data_create(1, nullptr)) {}

    /// PCRE2's answer: above -1 a match, -1 none, below an error.
    int match(std::string_view text, std::size_t from, std::uint32_t options) {
        if (!m_data) {
            return PCRE2_ERROR_NOMEMORY;
        }
        int answer = attempt(text, from, options);
        if (answer == PCRE2_ERROR_JIT_STACKLIMIT && !m_stack) {
            m_stack.reset(pcre2_jit_stack_create(32 * 1024, kLargestStack, nullptr));
            if (ensureContext() && m_stack) {
                pcre2_jit_stack_assign(m_context.get(), nullptr, m_stack.get());
                answer = attempt(text, from, options);
            }
        }
        return answer;
    }
    void setMatchLimit(std::uint32_t limit) {
        if (ensureContext()) {
            pcre2_set_match_limit(m_context.get(), limit);
        }
    }
    [[nodiscard]] RegexMatch found() const {
        const PCRE2_SIZE* offsets = pcre2_get_ovector_pointer(m_data.get());
        return {.begin = offsets[0], .end = offsets[1]};
    }

private:
    bool ensureContext() {
        if (!m_context) {
            m_context.reset(pcre2_match_context_create(nullptr));
            if (m_context) {
                pcre2_set_match_limit(m_context.get(), kMatchLimit);
            }
        }
        return m_context != nullptr;
    }
    int attempt(std::string_view text, std::size_t from, std::uint32_t options) {
        const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
        if (!ensureContext()) {
            return PCRE2_ERROR_NOMEMORY;
        }
        if (m_hasJit) {
            return pcre2_jit_match(m_code, subject, text.size(), from, options, m_data.get(),
                                   m_context.get());
        }
        return pcre2_match(m_code, subject, text.size(), from, options | PCRE2_NO_UTF_CHECK,
                           m_data.get(), m_context.get());
    }

    const pcre2_code* m_code;
    bool m_hasJit;
    MatchData m_data;
    MatchContext m_context;
    JitStack m_stack;
};

std::size_t charBoundary(std::string_view text, std::size_t position) {
    while (position < text.size() && (static_cast<unsigned char>(text[position]) & 0xC0) == 0x80) {
        ++position;
    }
    return position;
}

}  // namespace

struct Regex::Compiled {
    Code code;
    bool hasJit = false;
    bool looksFar = false;
};

Regex::Regex(std::unique_ptr<Compiled> compiled) : m_compiled(std::move(compiled)) {}
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;
Regex::~Regex() = default;

Result<Regex> Regex::create(std::string_view pattern, RegexDialect dialect) {
    const std::string translated = translateRegex(pattern, dialect);
    const CompileContext context(pcre2_compile_context_create(nullptr));
    if (!context) {
        return fail(ErrorCode::kOutOfMemory, "no memory to compile a splitting pattern");
    }
    pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
    pcre2_set_parens_nest_limit(context.get(), 100);
    const std::uint32_t anchors =
        dialect == RegexDialect::kOniguruma ? PCRE2_MULTILINE : PCRE2_DOLLAR_ENDONLY;
    int error = 0;
    PCRE2_SIZE offset = 0;
    auto compiled = std::make_unique<Compiled>();
    compiled->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()),
                                       translated.size(), PCRE2_UTF | PCRE2_UCP | anchors, &error,
                                       &offset, context.get()));
    if (!compiled->code) {
        PCRE2_UCHAR reason[200] = {};
        pcre2_get_error_message(error, reason, sizeof(reason));
        return fail(ErrorCode::kUnsupported,
                    "splitting pattern '" + std::string(pattern.substr(0, 200)) +
                        "' does not compile: " + reinterpret_cast<const char*>(reason));
    }
    compiled->looksFar = looksFarAhead(translated);
    compiled->hasJit = pcre2_jit_compile(compiled->code.get(), PCRE2_JIT_COMPLETE) == 0;
    return Regex(std::move(compiled));
}

void Regex::findAll(std::string_view text, std::vector<RegexMatch>& matches) const {
    Searcher searcher(m_compiled->code.get(), m_compiled->hasJit);
    std::size_t from = 0;
    bool afterMatch = false;
    // Else every match of a long run of digits would read the run to its end.
    const bool looksFar = m_compiled->looksFar && text.size() > kFarWindow;
    const std::size_t window = looksFar ? kFarWindow : kWindow;
    bool isWindowed = looksFar;
    while (from <= text.size()) {
        const std::size_t end =
            isWindowed ? charBoundary(text, from + std::min(window, text.size() - from))
                       : text.size();
        const std::uint32_t options =
            (afterMatch ? PCRE2_NOTEMPTY_ATSTART : 0U) | (end < text.size() ? PCRE2_NOTEOL : 0U);
        const int answer = searcher.match(text.substr(0, end), from, options);
        if (answer < PCRE2_ERROR_NOMATCH && !isWindowed) {
            isWindowed = true;
            searcher.setMatchLimit(kWindowMatchLimit);
            continue;
        }
        if (answer < 0) {
            if (end == text.size()) {
                return;
            }
            from = end;
            afterMatch = false;
            continue;
        }
        const RegexMatch match = searcher.found();
        // \K in a look-ahead could put a match anywhere.
        if (match.begin < from || match.end < match.begin) {
            return;
        }
        if (looksFar && match.begin > from && end < text.size()) {
            from = match.begin;  // once more, with the whole window ahead
            afterMatch = false;
            continue;
        }
        matches.push_back(match);
        from = match.end;
        afterMatch = true;
    }
}

}  // namespace quern::engine::text
