#pragma once

#include <QString>
#include <QVariant>
#include <span>
#include <vector>

#include "ui/ports/conversation_store.h"
#include "ui/text/markdown.h"

namespace quern::ui {

class Theme;

/// In the order in which a turn's rows stand.
enum class RowKind { kHead, kPlain, kThinking, kThought, kBlock, kCall, kFoot };

/// A row of the transcript.
struct TranscriptRow {
    RowKind kind = RowKind::kBlock;
    std::size_t turn = 0;  // index into the path
    std::size_t call = 0;  // index into the turn's calls
    MarkdownBlock block;   // of kThought and kBlock
    [[nodiscard]] bool isBlock() const {
        return kind == RowKind::kBlock || kind == RowKind::kThought;
    }
};

/// Rows that stand together: from `first` on there are `count`.
struct RowSpan {
    std::size_t first = 0;
    std::size_t count = 0;
};

/// Those of one kind of one turn. Where there are none, the place where they would stand.
[[nodiscard]] RowSpan spanOf(std::span<const TranscriptRow> rows, std::size_t turn, RowKind kind);

/// "head" "plain" "thinking" "call" "foot", or the name of the row's block.
[[nodiscard]] QString kindName(const TranscriptRow& row);

/// Rich text in the colours and fonts of a theme, and a table's cells.
[[nodiscard]] QString filled(const QString& html, const Theme& theme);
[[nodiscard]] QVariantList filledCells(const MarkdownBlock& table, const Theme& theme);

/// A model thinks and has not begun to answer.
[[nodiscard]] bool isThinking(const Turn& turn);

[[nodiscard]] std::vector<TranscriptRow> rowsOf(std::size_t turn, RowKind kind,
                                                std::vector<MarkdownBlock> blocks);
[[nodiscard]] std::vector<TranscriptRow> callRows(std::size_t turn, std::size_t calls);

}  // namespace quern::ui
