#pragma once

#include <qqmlintegration.h>
#include <QAbstractListModel>
#include <QList>
#include <QVariant>
#include <map>
#include <vector>

#include "ui/chat/growing_blocks.h"
#include "ui/chat/transcript_rows.h"
#include "ui/ports/conversation_store.h"

namespace quern::ui {

class Theme;

/// The active path of a conversation as rows for a list view. A row is a block, not a message:
/// while a reply is written only its open tail is laid out again. What a model thought stands above
/// its answer and is folded away once the answer begins. GUI thread.
class Transcript : public QAbstractListModel {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role {
        kKind =
            Qt::UserRole,  // head plain thinking para heading list quote code table rule call foot
        kTurn,             // its id
        kSpeaker,          // "user" or "assistant"
        kLabel,            // head: who speaks; call: the tool
        kHtml,
        kText,
        kLanguage,
        kLevel,
        kCells,
        kAlignments,
        kState,  // "complete" "writing" "interrupted" "failed"
        kFailure,
        kFigures,
        kBranch,  // 1-based
        kBranches,
        kIsContextFull,  // the reply ended because no more fitted
        kIsLast,         // belongs to the last turn
        kIsLeftOut,      // not part of the prompt any more
        kIsThought,      // a block of what the model thought
        kIsUnfolded,     // thinking: its blocks are shown
        kIsThinking      // thinking: it still goes on
    };

    /// `theme` must outlive it.
    explicit Transcript(const Theme& theme, QObject* parent = nullptr);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] QHash<int, QByteArray> roleNames() const override;
    [[nodiscard]] int count() const { return static_cast<int>(m_rows.size()); }

    /// Shows this path; rows of turns that did not change stay as they are.
    void setPath(std::vector<Turn> path, std::int64_t firstTurn);
    [[nodiscard]] const std::vector<Turn>& path() const { return m_path; }
    /// The last turn as it stands now, nearly always a longer one. Ignored when it is another turn.
    void showLast(const Turn& turn);
    [[nodiscard]] const Turn* find(std::int64_t turn) const;
    /// The first row of a turn, or −1.
    Q_INVOKABLE [[nodiscard]] int rowOf(qint64 turn) const;
    /// Shows or hides what the model thought in that turn.
    Q_INVOKABLE void fold(qint64 turn, bool isFolded);

signals:
    void countChanged();

private:
    void removeTurnsFrom(std::size_t turn);
    void addTurn(Turn turn);
    [[nodiscard]] RowSpan spanOf(std::size_t turn, RowKind kind) const {
        return ui::spanOf(m_rows, turn, kind);
    }
    void growLast(const Turn& turn);
    [[nodiscard]] bool isUnfolded(const Turn& turn) const;
    /// Adds or takes away the rows of a turn's thought, as it is folded or not.
    void refold(std::size_t turn);
    void replaceRows(RowSpan old, std::vector<TranscriptRow> fresh);
    void refreshEdges(std::size_t firstRow);

    const Theme& m_theme;
    std::vector<Turn> m_path;
    std::vector<TranscriptRow> m_rows;
    std::int64_t m_firstTurn = 0;
    std::map<std::int64_t, bool> m_folded;  // by turn, where somebody chose
    // Of the last turn.
    GrowingBlocks m_text;
    GrowingBlocks m_thought;  // while its rows are shown
};

}  // namespace quern::ui
