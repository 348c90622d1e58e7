#pragma once

#include <qqmlintegration.h>
#include <QAbstractListModel>
#include <QList>
#include <QVariant>
#include <vector>

#include "ui/ports/conversation_store.h"
#include "ui/text/block_splitter.h"
#include "ui/text/markdown.h"

namespace quern::ui {

class Theme;

/// The active path of a conversation as rows for a list view. A row is a block, not a message:
/// while a reply is written only its open tail is laid out again. GUI thread.
class Transcript : public QAbstractListModel {
    Q_OBJECT
    QML_ANONYMOUS
    Q_PROPERTY(int count READ count NOTIFY countChanged)

public:
    enum Role {
        kKind = Qt::UserRole,  // head plain para heading list quote code table rule foot
        kTurn,                 // its id
        kSpeaker,              // "user" or "assistant"
        kLabel,                // head: who speaks
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
        kIsLast,    // belongs to the last turn
        kIsLeftOut  // not part of the prompt any more
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
    /// More text of the last turn.
    void appendText(const QString& text);
    /// State, failure and figures of the last turn; its text must be what was appended.
    void finishLast(const Turn& turn);
    [[nodiscard]] const Turn* find(std::int64_t turn) const;
    /// The first row of a turn, or −1.
    Q_INVOKABLE [[nodiscard]] int rowOf(qint64 turn) const;

signals:
    void countChanged();

private:
    enum class RowKind { kHead, kPlain, kBlock, kFoot };
    struct Row {
        RowKind kind = RowKind::kBlock;
        std::size_t turn = 0;  // index into m_path
        MarkdownBlock block;
    };

    void removeTurnsFrom(std::size_t turn);
    void addTurn(Turn turn);
    void refreshEdges();
    [[nodiscard]] static QString kindName(const Row& row);

    const Theme& m_theme;
    std::vector<Turn> m_path;
    std::vector<Row> m_rows;
    std::int64_t m_firstTurn = 0;
    BlockSplitter m_splitter;      // of the last turn, when it is a reply
    std::size_t m_closedRows = 0;  // rows of the last turn's closed blocks end here
    qsizetype m_closedBlocks = 0;  // closed blocks of m_splitter that have their rows
};

}  // namespace quern::ui
