#include "ui/chat/transcript_rows.h"

#include <algorithm>
#include <utility>

#include "ui/chat/transcript_words.h"
#include "ui/look/theme.h"

namespace quern::ui {

RowSpan spanOf(std::span<const TranscriptRow> rows, std::size_t turn, RowKind kind) {
    const auto isBefore = [turn, kind](const TranscriptRow& row) {
        return std::pair(row.turn, row.kind) < std::pair(turn, kind);
    };
    const auto isNotAfter = [turn, kind](const TranscriptRow& row) {
        return std::pair(row.turn, row.kind) <= std::pair(turn, kind);
    };
    const auto first = std::partition_point(rows.begin(), rows.end(), isBefore);
    const auto end = std::partition_point(first, rows.end(), isNotAfter);
    return {.first = static_cast<std::size_t>(first - rows.begin()),
            .count = static_cast<std::size_t>(end - first)};
}

QString kindName(const TranscriptRow& row) {
    switch (row.kind) {
        case RowKind::kHead:
            return QStringLiteral("head");
        case RowKind::kPlain:
            return QStringLiteral("plain");
        case RowKind::kThinking:
            return QStringLiteral("thinking");
        case RowKind::kCall:
            return QStringLiteral("call");
        case RowKind::kFoot:
            return QStringLiteral("foot");
        default:
            return blockName(row.block.kind);
    }
}

QString filled(const QString& html, const Theme& theme) {
    return tinted(html, theme.mono(), theme.smallSize(), theme.sunken().name());
}

QVariantList filledCells(const MarkdownBlock& table, const Theme& theme) {
    QVariantList rows;
    for (const QStringList& cells : table.cells) {
        QStringList row;
        for (const QString& cell : cells) {
            row += filled(cell, theme);
        }
        rows.append(QVariant(row));
    }
    return rows;
}

bool isThinking(const Turn& turn) {
    return turn.state == TurnState::kWriting && turn.text.empty() && turn.calls.empty();
}

std::vector<TranscriptRow> rowsOf(std::size_t turn, RowKind kind,
                                  std::vector<MarkdownBlock> blocks) {
    std::vector<TranscriptRow> rows;
    rows.reserve(blocks.size());
    for (MarkdownBlock& block : blocks) {
        rows.push_back({.kind = kind, .turn = turn, .call = 0, .block = std::move(block)});
    }
    return rows;
}

std::vector<TranscriptRow> callRows(std::size_t turn, std::size_t calls) {
    std::vector<TranscriptRow> rows;
    for (std::size_t call = 0; call < calls; ++call) {
        rows.push_back({.kind = RowKind::kCall, .turn = turn, .call = call, .block = {}});
    }
    return rows;
}

}  // namespace quern::ui
