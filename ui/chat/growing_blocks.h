#pragma once

#include <QString>
#include <vector>

#include "ui/text/block_splitter.h"
#include "ui/text/markdown.h"

namespace quern::ui {

/// A Markdown text that grows at its end, laid out block by block: what is closed is parsed once.
/// GUI thread.
class GrowingBlocks {
public:
    /// From block `first` on, the blocks are now these.
    struct Change {
        std::size_t first = 0;
        std::vector<MarkdownBlock> blocks;
    };

    [[nodiscard]] Change append(const QString& text);

private:
    BlockSplitter m_splitter;
    qsizetype m_takenPieces = 0;     // closed pieces of the splitter that were parsed …
    std::size_t m_closedBlocks = 0;  // … into so many blocks
};

}  // namespace quern::ui
