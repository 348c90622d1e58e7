#include "ui/text/block_splitter.h"

#include <utility>

namespace quern::ui {
namespace {

qsizetype indentOf(QStringView line) {
    qsizetype columns = 0;
    for (const QChar c : line) {
        if (c == u' ') {
            ++columns;
        } else if (c == u'\t') {
            columns += 4 - columns % 4;
        } else {
            break;
        }
    }
    return columns;
}

/// Length of the run of ` or ~ that opens a fence, or 0.
qsizetype fenceLength(QStringView line, QChar& mark) {
    const QStringView text = line.trimmed();
    if (indentOf(line) > 3 || text.size() < 3 || (text[0] != u'`' && text[0] != u'~')) {
        return 0;
    }
    qsizetype length = 0;
    while (length < text.size() && text[length] == text[0]) {
        ++length;
    }
    if (length < 3 || (text[0] == u'`' && text.mid(length).contains(u'`'))) {
        return 0;
    }
    mark = text[0];
    return length;
}

bool isListItem(QStringView line) {
    const QStringView text = line.trimmed();
    if (text.isEmpty()) {
        return false;
    }
    qsizetype at = 0;
    if (text[0] == u'-' || text[0] == u'*' || text[0] == u'+') {
        at = 1;
    } else {
        while (at < text.size() && at < 9 && text[at].isDigit()) {
            ++at;
        }
        if (at == 0 || at >= text.size() || (text[at] != u'.' && text[at] != u')')) {
            return false;
        }
        ++at;
    }
    return at == text.size() || text[at] == u' ' || text[at] == u'\t';
}

bool isRule(QStringView line) {
    QChar mark;
    int count = 0;
    for (const QChar c : line.trimmed()) {
        if (c == u' ' || c == u'\t') {
            continue;
        }
        if ((c != u'-' && c != u'*' && c != u'_') || (count > 0 && c != mark)) {
            return false;
        }
        mark = c;
        ++count;
    }
    return count >= 3 && indentOf(line) <= 3;
}

bool isHeading(QStringView line) {
    const QStringView text = line.trimmed();
    qsizetype level = 0;
    while (level < text.size() && text[level] == u'#') {
        ++level;
    }
    return level >= 1 && level <= 6 && indentOf(line) <= 3 &&
           (level == text.size() || text[level] == u' ' || text[level] == u'\t');
}

bool isQuote(QStringView line) {
    return indentOf(line) <= 3 && line.trimmed().startsWith(u'>');
}

}  // namespace

void BlockSplitter::clear() {
    *this = BlockSplitter();
}

void BlockSplitter::append(QStringView text) {
    m_tail.append(text);
    while (true) {
        const qsizetype end = m_tail.indexOf(u'\n', m_scanned);
        if (end < 0) {
            return;
        }
        takeLine(m_scanned, end);
    }
}

void BlockSplitter::closeBefore(qsizetype position) {
    if (position > 0) {
        m_closed.append(m_tail.left(position));
        m_tail.remove(0, position);
    }
    m_kind = Kind::kNone;
    m_hasBlank = false;
}

void BlockSplitter::begin(QStringView line) {
    m_hasBlank = false;
    m_fenceLength = fenceLength(line, m_fence);
    if (m_fenceLength > 0) {
        m_kind = Kind::kFence;
    } else if ((isListItem(line) && !isRule(line)) || isQuote(line) || indentOf(line) >= 4) {
        m_kind = Kind::kContainer;
    } else {
        m_kind = Kind::kText;
    }
}

void BlockSplitter::takeLine(qsizetype from, qsizetype to) {
    // A copy: closing blocks moves the tail under a view.
    const QString line = m_tail.mid(from, to - from);
    const qsizetype next = to + 1;
    const auto closeThrough = [&] {
        closeBefore(next);
        m_scanned = 0;
    };
    const auto beginHere = [&] {
        const qsizetype length = next - from;
        closeBefore(from);
        begin(line);
        m_scanned = length;
    };

    if (m_kind == Kind::kFence) {
        QChar mark;
        const QString text = line.trimmed();
        const qsizetype length = fenceLength(line, mark);
        if (length >= m_fenceLength && mark == m_fence && length == text.size()) {
            closeThrough();
        } else {
            m_scanned = next;
        }
        return;
    }
    if (line.trimmed().isEmpty()) {
        if (m_kind == Kind::kText) {
            closeThrough();
        } else {
            m_hasBlank = m_kind != Kind::kNone;
            m_scanned = next;
        }
        return;
    }
    QChar mark;
    if (m_kind == Kind::kContainer) {
        // A list or an indented block goes on over blank lines; a quote goes on lazily, without.
        const bool goesOn = m_hasBlank ? isListItem(line) || indentOf(line) >= 2
                                       : !(indentOf(line) == 0 && isHeading(line)) &&
                                             !(indentOf(line) == 0 && fenceLength(line, mark) > 0);
        if (goesOn && !(m_hasBlank && isRule(line))) {
            m_hasBlank = false;
            m_scanned = next;
            return;
        }
    } else if (m_kind == Kind::kText && !isHeading(line) && fenceLength(line, mark) == 0 &&
               !isQuote(line)) {
        m_scanned = next;
        // A list may interrupt a paragraph; what follows then belongs to the list.
        if (isListItem(line) && !isRule(line)) {
            beginHere();
        }
        return;
    }
    beginHere();
    if (isHeading(line)) {
        closeBefore(m_scanned);
        m_scanned = 0;
    }
}

}  // namespace quern::ui
