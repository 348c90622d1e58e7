#include "engine/formats/json_file.h"

#include <string>

#include "engine/formats/file_mapping.h"

namespace quern::engine {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;
// Bounds both the parser's stack and what a value may cost over its text.
constexpr int kMaxDepth = 64;

tl::unexpected<Error> tooDeep(std::string_view what) {
    return fail(ErrorCode::kCorrupt, std::string(what) + " is nested deeper than " +
                                         std::to_string(kMaxDepth) + " levels");
}

// Where the string that begins at `at` ends.
std::size_t stringEnd(std::string_view text, std::size_t at) {
    std::size_t end = at + 1;
    while (end < text.size() && text[end] != '"') {
        end += text[end] == '\\' ? 2 : 1;
    }
    return std::min(end + 1, text.size());
}

// Goes through the text outside of strings and quotes bare non-finite numbers.
class Preparation {
public:
    explicit Preparation(std::string_view text) : m_text(text) { m_out.reserve(text.size()); }

    std::string run() {
        while (m_at < m_text.size()) {
            step();
        }
        return std::move(m_out);
    }

private:
    void step() {
        const char c = m_text[m_at];
        if (c == '"') {
            const std::size_t end = stringEnd(m_text, m_at);
            m_out += m_text.substr(m_at, end - m_at);
            m_at = end;
            return;
        }
        for (const std::string_view word : {"-Infinity", "Infinity", "NaN"}) {
            if (m_text.substr(m_at).starts_with(word)) {
                m_out += '"';
                m_out += word;
                m_out += '"';
                m_at += word.size();
                return;
            }
        }
        m_out += c;
        ++m_at;
    }

    std::string_view m_text;
    std::string m_out;
    std::size_t m_at = 0;
};

}  // namespace

Status checkJsonDepth(std::string_view text, std::string_view what) {
    int depth = 0;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        if (c == '"') {
            at = stringEnd(text, at);
            continue;
        }
        if ((c == '[' || c == '{') && ++depth > kMaxDepth) {
            return tooDeep(what);
        }
        depth -= c == ']' || c == '}' ? 1 : 0;
        ++at;
    }
    return {};
}

Result<Json> parseJson(std::string_view text, std::string_view what) {
    if (text.size() > kMaxBytes) {
        return fail(ErrorCode::kCorrupt, std::string(what) + " is " + std::to_string(text.size()) +
                                             " bytes long; at most " + std::to_string(kMaxBytes) +
                                             " are read");
    }
    if (auto status = checkJsonDepth(text, what); !status) {
        return forward(status);
    }
    const std::string prepared = Preparation(text).run();
    try {
        return Json::parse(prepared);
    } catch (const nlohmann::json::exception& error) {
        return fail(ErrorCode::kCorrupt, std::string(what) + " is not JSON", error.what());
    }
}

Result<Json> readJsonFile(const std::filesystem::path& path) {
    auto mapping = FileMapping::open(path);
    if (!mapping) {
        return forward(mapping);
    }
    const auto bytes = (*mapping)->bytes();
    return parseJson({reinterpret_cast<const char*>(bytes.data()), bytes.size()},
                     path.filename().string());
}

}  // namespace quern::engine
