#include "ui/chat/growing_blocks.h"

#include <utility>

namespace quern::ui {

GrowingBlocks::Change GrowingBlocks::append(const QString& text) {
    m_splitter.append(text);
    Change change{.first = m_closedBlocks, .blocks = {}};
    const auto parse = [&change](const QString& piece) {
        for (MarkdownBlock& block : parseMarkdown(piece)) {
            change.blocks.push_back(std::move(block));
        }
    };
    for (; m_takenPieces < m_splitter.closed().size(); ++m_takenPieces) {
        parse(m_splitter.closed()[m_takenPieces]);
    }
    m_closedBlocks += change.blocks.size();
    parse(m_splitter.tail());
    return change;
}

}  // namespace quern::ui
