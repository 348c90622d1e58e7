#include "ui/chat/transcript.h"

#include <algorithm>

#include "ui/look/theme.h"
#include "ui/text/format.h"

namespace quern::ui {
namespace {

QString stateName(TurnState state) {
    switch (state) {
        case TurnState::kWriting:
            return QStringLiteral("writing");
        case TurnState::kInterrupted:
            return QStringLiteral("interrupted");
        case TurnState::kFailed:
            return QStringLiteral("failed");
        default:
            return QStringLiteral("complete");
    }
}

QString figuresLine(const TurnFigures& f) {
    QStringList parts;
    if (f.tokensPerSecond > 0) {
        parts += Transcript::tr("%1 tok/s").arg(formatRate(f.tokensPerSecond));
    }
    parts += Transcript::tr("%1 tok").arg(formatCount(f.completionTokens));
    if (f.ttftMs > 0) {
        parts += Transcript::tr("TTFT %1").arg(formatMilliseconds(f.ttftMs));
    }
    if (f.promptTokens > 0) {
        parts += Transcript::tr("prefix hit %1\u00A0%")
                     .arg(formatPercent(static_cast<double>(f.cachedTokens) / f.promptTokens));
    }
    if (!f.stop.empty()) {
        parts += Transcript::tr("stop: %1").arg(QString::fromStdString(f.stop));
    }
    return parts.join(QStringLiteral(" · "));
}

bool isSameTurn(const Turn& a, const Turn& b) {
    return a.id == b.id && a.text == b.text && a.state == b.state && a.branch == b.branch &&
           a.branches == b.branches && a.failure == b.failure &&
           a.figures.has_value() == b.figures.has_value();
}

}  // namespace

Transcript::Transcript(const Theme& theme, QObject* parent)
    : QAbstractListModel(parent), m_theme(theme) {
    connect(&theme, &Theme::changed, this, [this] {
        if (!m_rows.empty()) {
            emit dataChanged(index(0), index(count() - 1), {kHtml, kCells});
        }
    });
}

int Transcript::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : count();
}

QHash<int, QByteArray> Transcript::roleNames() const {
    return {{kKind, "kind"},          {kTurn, "turn"},
            {kSpeaker, "speaker"},    {kLabel, "label"},
            {kHtml, "html"},          {kText, "text"},
            {kLanguage, "language"},  {kLevel, "level"},
            {kCells, "cells"},        {kAlignments, "alignments"},
            {kState, "turnState"},    {kFailure, "failure"},
            {kFigures, "figures"},    {kBranch, "branch"},
            {kBranches, "branches"},  {kIsLast, "isLast"},
            {kIsLeftOut, "isLeftOut"}};
}

QString Transcript::kindName(const Row& row) {
    switch (row.kind) {
        case RowKind::kHead:
            return QStringLiteral("head");
        case RowKind::kPlain:
            return QStringLiteral("plain");
        case RowKind::kFoot:
            return QStringLiteral("foot");
        case RowKind::kBlock:
            break;
    }
    switch (row.block.kind) {
        case BlockKind::kHeading:
            return QStringLiteral("heading");
        case BlockKind::kList:
            return QStringLiteral("list");
        case BlockKind::kQuote:
            return QStringLiteral("quote");
        case BlockKind::kCode:
            return QStringLiteral("code");
        case BlockKind::kTable:
            return QStringLiteral("table");
        case BlockKind::kRule:
            return QStringLiteral("rule");
        default:
            return QStringLiteral("para");
    }
}

QVariant Transcript::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= count()) {
        return {};
    }
    const Row& row = m_rows[static_cast<std::size_t>(index.row())];
    const Turn& turn = m_path[row.turn];
    const auto fill = [this](const QString& html) {
        return tinted(html, m_theme.mono(), m_theme.smallSize(), m_theme.sunken().name());
    };
    switch (role) {
        case kKind:
            return kindName(row);
        case kTurn:
            return static_cast<qlonglong>(turn.id);
        case kSpeaker:
            return QString::fromStdString(turn.role);
        case kLabel:
            return turn.role == "user"  ? tr("You")
                   : turn.model.empty() ? tr("Reply")
                                        : QString::fromStdString(turn.model);
        case kHtml:
            return fill(row.block.html);
        case kText:
            return row.kind == RowKind::kBlock ? row.block.code : QString::fromStdString(turn.text);
        case kLanguage:
            return row.block.language;
        case kLevel:
            return row.block.level;
        case kCells: {
            QVariantList rows;
            for (const QStringList& cells : row.block.cells) {
                QStringList filled;
                for (const QString& cell : cells) {
                    filled += fill(cell);
                }
                rows.append(QVariant(filled));
            }
            return rows;
        }
        case kAlignments:
            return QVariant::fromValue(row.block.alignments);
        case kState:
            return stateName(turn.state);
        case kFailure:
            return QString::fromStdString(turn.failure);
        case kFigures:
            return turn.figures ? figuresLine(*turn.figures) : QString();
        case kBranch:
            return turn.branch;
        case kBranches:
            return turn.branches;
        case kIsLast:
            return row.turn + 1 == m_path.size();
        case kIsLeftOut:
            return m_firstTurn != 0 && turn.id < m_firstTurn;
        default:
            return {};
    }
}

void Transcript::setPath(std::vector<Turn> path, std::int64_t firstTurn) {
    std::size_t same = 0;
    while (same < path.size() && same < m_path.size() && isSameTurn(path[same], m_path[same])) {
        ++same;
    }
    m_firstTurn = firstTurn;
    // A reply that is being written keeps its splitter only when nothing of it changed.
    if (same < m_path.size() || same < path.size()) {
        removeTurnsFrom(same);
        for (std::size_t i = same; i < path.size(); ++i) {
            addTurn(std::move(path[i]));
        }
    }
    refreshEdges();
    emit countChanged();
}

void Transcript::removeTurnsFrom(std::size_t turn) {
    const auto first = std::find_if(m_rows.begin(), m_rows.end(),
                                    [turn](const Row& row) { return row.turn >= turn; });
    if (first != m_rows.end()) {
        beginRemoveRows({}, static_cast<int>(first - m_rows.begin()), count() - 1);
        m_rows.erase(first, m_rows.end());
        m_path.resize(turn);
        endRemoveRows();
    }
    m_path.resize(turn);
}

void Transcript::addTurn(Turn turn) {
    const std::size_t at = m_path.size();
    std::vector<Row> rows;
    rows.push_back({RowKind::kHead, at, {}});
    m_splitter.clear();
    m_closedBlocks = 0;
    m_closedRows = m_rows.size() + 1;
    if (turn.role == "user") {
        rows.push_back({RowKind::kPlain, at, {}});
    } else {
        m_splitter.append(QString::fromStdString(turn.text));
        for (const QString& closed : m_splitter.closed()) {
            for (MarkdownBlock& block : parseMarkdown(closed)) {
                rows.push_back({RowKind::kBlock, at, std::move(block)});
            }
        }
        m_closedBlocks = m_splitter.closed().size();
        m_closedRows = m_rows.size() + rows.size();
        for (MarkdownBlock& block : parseMarkdown(m_splitter.tail())) {
            rows.push_back({RowKind::kBlock, at, std::move(block)});
        }
    }
    rows.push_back({RowKind::kFoot, at, {}});
    beginInsertRows({}, count(), count() + static_cast<int>(rows.size()) - 1);
    m_path.push_back(std::move(turn));
    m_rows.insert(m_rows.end(), rows.begin(), rows.end());
    endInsertRows();
}

void Transcript::appendText(const QString& text) {
    if (m_path.empty() || m_path.back().role == "user" || text.isEmpty()) {
        return;
    }
    m_path.back().text += text.toStdString();
    m_splitter.append(text);
    const std::size_t turn = m_path.size() - 1;
    std::vector<Row> fresh;
    for (; m_closedBlocks < m_splitter.closed().size(); ++m_closedBlocks) {
        for (MarkdownBlock& block : parseMarkdown(m_splitter.closed()[m_closedBlocks])) {
            fresh.push_back({RowKind::kBlock, turn, std::move(block)});
        }
    }
    const std::size_t closed = m_closedRows + fresh.size();
    for (MarkdownBlock& block : parseMarkdown(m_splitter.tail())) {
        fresh.push_back({RowKind::kBlock, turn, std::move(block)});
    }
    const std::size_t first = m_closedRows;
    const std::size_t old = m_rows.size() - 1 - first;  // without the foot
    const std::size_t common = std::min(old, fresh.size());
    for (std::size_t i = 0; i < common; ++i) {
        if (!(m_rows[first + i].block == fresh[i].block)) {
            m_rows[first + i] = std::move(fresh[i]);
            const QModelIndex changed = index(static_cast<int>(first + i));
            emit dataChanged(changed, changed);
        }
    }
    if (old > common) {
        beginRemoveRows({}, static_cast<int>(first + common), static_cast<int>(first + old) - 1);
        m_rows.erase(m_rows.begin() + static_cast<std::ptrdiff_t>(first + common),
                     m_rows.begin() + static_cast<std::ptrdiff_t>(first + old));
        endRemoveRows();
    } else if (fresh.size() > common) {
        beginInsertRows({}, static_cast<int>(first + common),
                        static_cast<int>(first + fresh.size()) - 1);
        m_rows.insert(m_rows.begin() + static_cast<std::ptrdiff_t>(first + common),
                      std::make_move_iterator(fresh.begin() + static_cast<std::ptrdiff_t>(common)),
                      std::make_move_iterator(fresh.end()));
        endInsertRows();
    }
    m_closedRows = closed;
    emit countChanged();
}

void Transcript::finishLast(const Turn& turn) {
    if (m_path.empty() || m_path.back().id != turn.id) {
        return;
    }
    Turn& last = m_path.back();
    last.state = turn.state;
    last.failure = turn.failure;
    last.figures = turn.figures;
    refreshEdges();
}

void Transcript::refreshEdges() {
    // Heads and feet show what depends on the turn's place and state.
    if (!m_rows.empty()) {
        emit dataChanged(index(0), index(count() - 1),
                         {kState, kFailure, kFigures, kIsLast, kIsLeftOut, kBranch, kBranches});
    }
}

const Turn* Transcript::find(std::int64_t turn) const {
    const auto at =
        std::find_if(m_path.begin(), m_path.end(), [turn](const Turn& t) { return t.id == turn; });
    return at == m_path.end() ? nullptr : &*at;
}

int Transcript::rowOf(qint64 turn) const {
    for (std::size_t i = 0; i < m_rows.size(); ++i) {
        if (m_path[m_rows[i].turn].id == turn) {
            return static_cast<int>(i);
        }
    }
    return -1;
}

}  // namespace quern::ui
