#pragma once

#include <QList>
#include <QString>
#include <QStringList>

namespace quern::ui {

enum class BlockKind { kParagraph, kHeading, kList, kQuote, kCode, kTable, kRule };

/// One laid-out piece of a reply. `html` is Qt rich text with marks where colours go, which
/// `tinted` fills in, so that a change of theme needs no second parse.
struct MarkdownBlock {
    BlockKind kind = BlockKind::kParagraph;
    int level = 0;  // of a heading
    QString html;
    QString code;              // kCode: as written
    QString language;          // kCode: as written after the fence
    QList<QStringList> cells;  // kTable: rows of html, the first is the head
    QList<int> alignments;     // kTable: Qt::Alignment of each column
    bool operator==(const MarkdownBlock&) const = default;
};

/// Parses CommonMark with tables, strikethrough and task lists. HTML in the text is shown as it is
/// written; pictures become links: nothing is ever fetched.
[[nodiscard]] QList<MarkdownBlock> parseMarkdown(const QString& text);

/// Fills in the font of inline code.
[[nodiscard]] QString tinted(const QString& html, const QString& monoFamily, int monoPixels,
                             const QString& codeBackground);

}  // namespace quern::ui
