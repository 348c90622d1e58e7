#pragma once

#include <QString>
#include <QStringList>
#include <QStringView>

namespace quern::ui {

/// Cuts a growing markdown text into closed top-level blocks, which never change again, and one
/// open tail. The cuts depend on the text only, not on the pieces it came in: closed() and tail()
/// joined are the text. Costs one look at each line. GUI thread.
class BlockSplitter {
public:
    void append(QStringView text);
    void clear();

    [[nodiscard]] const QStringList& closed() const { return m_closed; }
    /// The block being written. It may hold several blocks while its last lines are undecided.
    [[nodiscard]] const QString& tail() const { return m_tail; }

private:
    enum class Kind { kNone, kText, kFence, kContainer };

    void takeLine(qsizetype from, qsizetype to);
    void closeBefore(qsizetype position);
    void begin(QStringView line);

    QStringList m_closed;
    QString m_tail;
    qsizetype m_scanned = 0;  // in m_tail: start of the first line that is not complete
    Kind m_kind = Kind::kNone;
    QChar m_fence;
    qsizetype m_fenceLength = 0;
    bool m_hasBlank = false;  // a blank line came after the open block's last line
};

}  // namespace quern::ui
