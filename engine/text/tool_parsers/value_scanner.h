#pragma once

namespace quern::engine::tool_parsers {

/// White space as JSON has it.
[[nodiscard]] inline bool isJsonBlank(char c) {
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Follows one JSON value to its end, without a look at more than its brackets and quotes.
class ValueScanner {
public:
    /// True when `c` is still part of the value. A number or word ends before the byte that is
    /// refused.
    bool take(char c) {
        if (m_isDone) {
            return false;
        }
        if (m_inText) {
            if (m_isEscaped) {
                m_isEscaped = false;
            } else if (c == '\\') {
                m_isEscaped = true;
            } else if (c == '"') {
                m_inText = false;
                m_isDone = m_depth == 0;
            }
            return true;
        }
        if (c == '"') {
            m_inText = true;
        } else if (c == '{' || c == '[') {
            ++m_depth;
        } else if (c == '}' || c == ']') {
            if (m_depth == 0) {
                m_isDone = true;
                return false;
            }
            m_isDone = --m_depth == 0;
        } else if (m_depth == 0 && (c == ',' || isJsonBlank(c))) {
            m_isDone = true;
            return false;
        }
        return true;
    }
    [[nodiscard]] bool isDone() const { return m_isDone; }

private:
    int m_depth = 0;
    bool m_inText = false;
    bool m_isEscaped = false;
    bool m_isDone = false;
};

}  // namespace quern::engine::tool_parsers
