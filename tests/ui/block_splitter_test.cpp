#include "ui/text/block_splitter.h"

#include <gtest/gtest.h>

#include <random>

#include "ui/demo/demo_texts.h"

namespace quern::ui {
namespace {

BlockSplitter whole(const QString& text) {
    BlockSplitter splitter;
    splitter.append(text);
    return splitter;
}

TEST(BlockSplitter, CutsAtBlankLinesHeadingsAndFences) {
    const BlockSplitter splitter =
        whole(QStringLiteral("one\ntwo\n\n# head\nthree\n```c\na\n\nb\n```\ntail"));
    EXPECT_EQ(splitter.closed(),
              QStringList({QStringLiteral("one\ntwo\n\n"), QStringLiteral("# head\n"),
                           QStringLiteral("three\n"), QStringLiteral("```c\na\n\nb\n```\n")}));
    EXPECT_EQ(splitter.tail(), QStringLiteral("tail"));
}

TEST(BlockSplitter, KeepsALooseListInOnePiece) {
    const BlockSplitter splitter =
        whole(QStringLiteral("- one\n\n- two\n\n  more of two\n\nafter\n\n"));
    EXPECT_EQ(splitter.closed(), QStringList({QStringLiteral("- one\n\n- two\n\n  more of two\n\n"),
                                              QStringLiteral("after\n\n")}));
}

TEST(BlockSplitter, AFenceEndsOnlyWithItsOwnMark) {
    const BlockSplitter splitter =
        whole(QStringLiteral("````\n```\n~~~\n# no heading\n\n````\nend\n\n"));
    ASSERT_EQ(splitter.closed().size(), 2);
    EXPECT_EQ(splitter.closed()[0], QStringLiteral("````\n```\n~~~\n# no heading\n\n````\n"));
}

TEST(BlockSplitter, AnUnfinishedLineDecidesNothing) {
    BlockSplitter splitter = whole(QStringLiteral("text\n\n- item\n\n"));
    EXPECT_EQ(splitter.tail(), QStringLiteral("- item\n\n"));
    splitter.append(u"aft");
    EXPECT_EQ(splitter.tail(), QStringLiteral("- item\n\naft"));
    splitter.append(u"er\n");
    EXPECT_EQ(splitter.tail(), QStringLiteral("after\n"));
}

TEST(BlockSplitter, PiecesGiveTheSameCutsAsTheWholeAndLoseNothing) {
    const std::vector<QString> lines{
        QStringLiteral("plain words\n"), QStringLiteral("\n"),       QStringLiteral("# head\n"),
        QStringLiteral("```py\n"),       QStringLiteral("```\n"),    QStringLiteral("- item\n"),
        QStringLiteral("  inner\n"),     QStringLiteral("1. one\n"), QStringLiteral("> quote\n"),
        QStringLiteral("| a | b |\n"),   QStringLiteral("---\n"),    QStringLiteral("    code\n"),
        QStringLiteral("~~~~\n"),        QStringLiteral("\r\n"),     QStringLiteral("ünï 🜚\n")};
    for (unsigned seed = 1; seed <= 200; ++seed) {
        SCOPED_TRACE(seed);
        std::mt19937 random(seed);
        QString text;
        for (auto left = 1 + random() % 40; left > 0; --left) {
            text += lines[random() % lines.size()];
        }
        text += QStringLiteral("open end");
        const BlockSplitter once = whole(text);
        BlockSplitter pieces;
        for (qsizetype at = 0; at < text.size();) {
            const auto length = static_cast<qsizetype>(1 + random() % 7);
            pieces.append(QStringView(text).mid(at, length));
            at += length;
        }
        EXPECT_EQ(pieces.closed(), once.closed());
        EXPECT_EQ(pieces.tail(), once.tail());
        EXPECT_EQ(once.closed().join(QString()) + once.tail(), text);
    }
}

TEST(BlockSplitter, ClosedBlocksNeverChange) {
    const QString text = QString::fromUtf8(kDemoAnswer);
    BlockSplitter splitter;
    QStringList before;
    for (const QChar c : text) {
        splitter.append(QStringView(&c, 1));
        ASSERT_GE(splitter.closed().size(), before.size());
        ASSERT_EQ(splitter.closed().mid(0, before.size()), before);
        before = splitter.closed();
    }
    EXPECT_GE(before.size(), 5);
}

}  // namespace
}  // namespace quern::ui
