#include "engine/formats/json_file.h"

#include <string>

#include "engine/formats/file_mapping.h"

namespace quern::engine {

namespace {

constexpr std::size_t kMaxBytes = std::size_t{16} << 20U;
// Bounds both the parser's stack and what a value may cost over its text.
constexpr int kMaxDepth = 64;

// Goes through the text outside of strings: quotes bare non-finite numbers, measures the depth.
class Preparation {
public:
    explicit Preparation(std::string_view text) : m_text(text) { m_out.reserve(text.size()); }

    [[nodiscard]] bool isTooDeep() const { return m_isTooDeep; }
    std::string run() {
        while (m_at < m_text.size() && !m_isTooDeep) {
            step();
        }
        return std::move(m_out);
    }

private:
    void step() {
        const char c = m_text[m_at];
        if (c == '"') {
            copyString();
            return;
        }
        if (c == '[' || c == '{') {
            m_isTooDeep = ++m_depth > kMaxDepth;
        } else if (c == ']' || c == '}') {
            --m_depth;
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

    void copyString() {
        std::size_t end = m_at + 1;
        while (end < m_text.size() && m_text[end] != '"') {
            end += m_text[end] == '\\' ? 2 : 1;
        }
        end = std::min(end + 1, m_text.size());
        m_out += m_text.substr(m_at, end - m_at);
        m_at = end;
    }

    std::string_view m_text;
    std::string m_out;
    std::size_t m_at = 0;
    int m_depth = 0;
    bool m_isTooDeep = false;
};

}  // namespace

Result<Json> parseJson(std::string_view text, std::string_view what) {
    if (text.size() > kMaxBytes) {
        return fail(ErrorCode::kCorrupt, std::string(what) + " is " + std::to_string(text.size()) +
                                             " bytes long; at most " + std::to_string(kMaxBytes) +
                                             " are read");
    }
    Preparation preparation(text);
    const std::string prepared = preparation.run();
    if (preparation.isTooDeep()) {
        return fail(ErrorCode::kCorrupt, std::string(what) + " is nested deeper than " +
                                             std::to_string(kMaxDepth) + " levels");
    }
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
