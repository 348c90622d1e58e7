#include "ui/chat/transcript.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ui/chat/transcript_words.h"
#include "ui/look/theme.h"

namespace quern::ui {
namespace {

QString added(const std::string& longer, const std::string& shorter) {
    return QString::fromStdString(longer.substr(shorter.size()));
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
    return {{kKind, "kind"},
            {kTurn, "turn"},
            {kSpeaker, "speaker"},
            {kLabel, "label"},
            {kHtml, "html"},
            {kText, "text"},
            {kLanguage, "language"},
            {kLevel, "level"},
            {kCells, "cells"},
            {kAlignments, "alignments"},
            {kState, "turnState"},
            {kFailure, "failure"},
            {kFigures, "figures"},
            {kBranch, "branch"},
            {kBranches, "branches"},
            {kIsContextFull, "isContextFull"},
            {kIsLast, "isLast"},
            {kIsLeftOut, "isLeftOut"},
            {kIsThought, "isThought"},
            {kIsUnfolded, "isUnfolded"},
            {kIsThinking, "isThinking"}};
}

QVariant Transcript::data(const QModelIndex& index, int role) const {
    if (!index.isValid() || index.row() >= count()) {
        return {};
    }
    const TranscriptRow& row = m_rows[static_cast<std::size_t>(index.row())];
    const Turn& turn = m_path[row.turn];
    switch (role) {
        case kKind:
            return kindName(row);
        case kTurn:
            return static_cast<qlonglong>(turn.id);
        case kSpeaker:
            return QString::fromStdString(turn.role);
        case kLabel:
            return row.kind == RowKind::kCall ? QString::fromStdString(turn.calls[row.call].name)
                   : turn.role == "user"      ? tr("You")
                   : turn.model.empty()       ? tr("Reply")
                                              : QString::fromStdString(turn.model);
        case kHtml:
            return filled(row.block.html, m_theme);
        case kText:
            return row.kind == RowKind::kCall ? readableArguments(turn.calls[row.call].arguments)
                   : row.isBlock()            ? row.block.code
                                              : QString::fromStdString(turn.text);
        case kLanguage:
            return row.block.language;
        case kLevel:
            return row.block.level;
        case kCells:
            return filledCells(row.block, m_theme);
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
        case kIsContextFull:
            return turn.figures && turn.figures->stop == "context full";
        case kIsLast:
            return row.turn + 1 == m_path.size();
        case kIsLeftOut:
            return m_firstTurn != 0 && turn.id < m_firstTurn;
        case kIsThought:
            return row.kind == RowKind::kThought;
        case kIsUnfolded:
            return isUnfolded(turn);
        case kIsThinking:
            return isThinking(turn);
        default:
            return {};
    }
}

void Transcript::setPath(std::vector<Turn> path, std::int64_t firstTurn) {
    std::size_t same = 0;
    while (same < path.size() && same < m_path.size() && path[same] == m_path[same]) {
        ++same;
    }
    m_firstTurn = firstTurn;
    const bool isLastAlone = same + 1 == path.size() && path.size() == m_path.size() &&
                             path[same].id == m_path[same].id && path[same].role != "user";
    if (isLastAlone) {
        m_path[same].branch = path[same].branch;
        m_path[same].branches = path[same].branches;
        showLast(path[same]);
    } else if (same < m_path.size() || same < path.size()) {
        removeTurnsFrom(same);
        for (std::size_t i = same; i < path.size(); ++i) {
            addTurn(std::move(path[i]));
        }
    }
    refreshEdges(0);
    emit countChanged();
}

void Transcript::removeTurnsFrom(std::size_t turn) {
    const auto first = std::find_if(m_rows.begin(), m_rows.end(),
                                    [turn](const TranscriptRow& row) { return row.turn >= turn; });
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
    std::vector<TranscriptRow> rows;
    const auto add = [&](RowKind kind) { rows.push_back({.kind = kind, .turn = at}); };
    const auto addBlocks = [&](RowKind kind, GrowingBlocks& blocks, const std::string& text) {
        blocks = {};
        std::ranges::move(rowsOf(at, kind, blocks.append(QString::fromStdString(text)).blocks),
                          std::back_inserter(rows));
    };
    add(RowKind::kHead);
    if (turn.role == "user") {
        add(RowKind::kPlain);
    } else {
        if (!turn.reasoning.empty()) {
            add(RowKind::kThinking);
            if (isUnfolded(turn)) {
                addBlocks(RowKind::kThought, m_thought, turn.reasoning);
            }
        }
        addBlocks(RowKind::kBlock, m_text, turn.text);
        std::ranges::move(callRows(at, turn.calls.size()), std::back_inserter(rows));
    }
    add(RowKind::kFoot);
    beginInsertRows({}, count(), count() + static_cast<int>(rows.size()) - 1);
    m_path.push_back(std::move(turn));
    std::ranges::move(rows, std::back_inserter(m_rows));
    endInsertRows();
}

void Transcript::replaceRows(RowSpan old, std::vector<TranscriptRow> fresh) {
    const std::size_t common = std::min(old.count, fresh.size());
    for (std::size_t i = 0; i < common; ++i) {
        TranscriptRow& row = m_rows[old.first + i];
        // What a call says is not in its row.
        if (row.kind == RowKind::kCall || !(row.block == fresh[i].block)) {
            row = std::move(fresh[i]);
            const QModelIndex changed = index(static_cast<int>(old.first + i));
            emit dataChanged(changed, changed);
        }
    }
    const auto first = m_rows.begin() + static_cast<std::ptrdiff_t>(old.first + common);
    const int row = static_cast<int>(old.first + common);
    if (old.count > common) {
        beginRemoveRows({}, row, static_cast<int>(old.first + old.count) - 1);
        m_rows.erase(first, first + static_cast<std::ptrdiff_t>(old.count - common));
        endRemoveRows();
    } else if (fresh.size() > common) {
        beginInsertRows({}, row, static_cast<int>(old.first + fresh.size()) - 1);
        m_rows.insert(first,
                      std::make_move_iterator(fresh.begin() + static_cast<std::ptrdiff_t>(common)),
                      std::make_move_iterator(fresh.end()));
        endInsertRows();
    }
}

void Transcript::showLast(const Turn& turn) {
    if (m_path.empty() || m_path.back().id != turn.id || m_path.back().role == "user") {
        return;
    }
    const Turn& last = m_path.back();
    if (turn.text.starts_with(last.text) && turn.reasoning.starts_with(last.reasoning)) {
        growLast(turn);
    } else {
        Turn whole = turn;
        whole.branch = last.branch;
        whole.branches = last.branches;
        removeTurnsFrom(m_path.size() - 1);
        addTurn(std::move(whole));
    }
    emit countChanged();
}

void Transcript::growLast(const Turn& turn) {
    const std::size_t at = m_path.size() - 1;
    Turn& last = m_path.back();
    const bool wasUnfolded = isUnfolded(last);
    const bool isElsewhere = turn.state != last.state || isThinking(turn) != isThinking(last);
    const QString thought = added(turn.reasoning, last.reasoning);
    const QString text = added(turn.text, last.text);
    const auto grow = [&](RowKind kind, GrowingBlocks& blocks, const QString& news) {
        if (!news.isEmpty()) {
            GrowingBlocks::Change change = blocks.append(news);
            const RowSpan all = spanOf(at, kind);
            replaceRows({all.first + change.first, all.count - change.first},
                        rowsOf(at, kind, std::move(change.blocks)));
        }
    };
    last.state = turn.state;
    last.failure = turn.failure;
    last.figures = turn.figures;
    last.reasoning = turn.reasoning;
    last.text = turn.text;
    last.calls = turn.calls;
    if (!last.reasoning.empty() && spanOf(at, RowKind::kThinking).count == 0) {
        replaceRows(spanOf(at, RowKind::kThinking), rowsOf(at, RowKind::kThinking, {{}}));
        refold(at);
    } else if (wasUnfolded != isUnfolded(last)) {
        refold(at);
    } else if (wasUnfolded) {
        grow(RowKind::kThought, m_thought, thought);
    }
    grow(RowKind::kBlock, m_text, text);
    replaceRows(spanOf(at, RowKind::kCall), callRows(at, last.calls.size()));
    if (isElsewhere) {
        refreshEdges(spanOf(at, RowKind::kHead).first);
    }
}

bool Transcript::isUnfolded(const Turn& turn) const {
    const auto chosen = m_folded.find(turn.id);
    return chosen != m_folded.end() ? !chosen->second : isThinking(turn);
}

void Transcript::refold(std::size_t turn) {
    if (m_path[turn].reasoning.empty()) {
        return;
    }
    std::vector<TranscriptRow> rows;
    if (isUnfolded(m_path[turn])) {
        GrowingBlocks blocks;
        rows = rowsOf(turn, RowKind::kThought,
                      blocks.append(QString::fromStdString(m_path[turn].reasoning)).blocks);
        if (turn + 1 == m_path.size()) {
            m_thought = std::move(blocks);
        }
    }
    replaceRows(spanOf(turn, RowKind::kThought), std::move(rows));
    const QModelIndex head = index(static_cast<int>(spanOf(turn, RowKind::kThinking).first));
    emit dataChanged(head, head, {kIsUnfolded});
}

void Transcript::fold(qint64 turn, bool isFolded) {
    const auto at =
        std::find_if(m_path.begin(), m_path.end(), [turn](const Turn& t) { return t.id == turn; });
    if (at != m_path.end() && !at->reasoning.empty()) {
        m_folded[turn] = isFolded;
        refold(static_cast<std::size_t>(at - m_path.begin()));
        emit countChanged();
    }
}

void Transcript::refreshEdges(std::size_t firstRow) {
    // Heads and feet show what depends on the turn's place and state.
    if (firstRow < m_rows.size()) {
        emit dataChanged(index(static_cast<int>(firstRow)), index(count() - 1),
                         {kState, kFailure, kFigures, kIsContextFull, kIsLast, kIsLeftOut, kBranch,
                          kBranches, kIsThinking, kIsUnfolded});
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
