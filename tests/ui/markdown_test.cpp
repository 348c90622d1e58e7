#include "ui/text/markdown.h"

#include <gtest/gtest.h>

#include "ui/demo/demo_texts.h"
#include "ui/text/block_splitter.h"

namespace quern::ui {
namespace {

MarkdownBlock only(const char* text) {
    const QList<MarkdownBlock> blocks = parseMarkdown(QString::fromUtf8(text));
    EXPECT_EQ(blocks.size(), 1) << text;
    return blocks.value(0);
}

TEST(Markdown, EscapesWhatIsNotMarkup) {
    EXPECT_EQ(only("a < b & \"c\"").html, QStringLiteral("a &lt; b &amp; &quot;c&quot;"));
    EXPECT_EQ(only("<img src=x onerror=y>").html, QStringLiteral("&lt;img src=x onerror=y&gt;"));
    EXPECT_EQ(only("<b>no</b>").html, QStringLiteral("&lt;b&gt;no&lt;/b&gt;"));
}

TEST(Markdown, MarksSpans) {
    EXPECT_EQ(only("*a* **b** ~~c~~").html, QStringLiteral("<i>a</i> <b>b</b> <s>c</s>"));
    EXPECT_EQ(only("[x](https://e.org/?a=1&b=\"2\")").kind, BlockKind::kParagraph);
    EXPECT_EQ(only("[x](https://e.org)").html, QStringLiteral("<a href=\"https://e.org\">x</a>"));
    EXPECT_EQ(only("![alt](https://e.org/p.png)").html,
              QStringLiteral("<a href=\"https://e.org/p.png\">alt</a>"));
}

TEST(Markdown, InlineCodeTakesItsFontFromTheTheme) {
    const QString html =
        tinted(only("`x<y`").html, QStringLiteral("Mono"), 13, QStringLiteral("#eee"));
    EXPECT_TRUE(html.contains(QStringLiteral("font-family:'Mono'"))) << html.toStdString();
    EXPECT_TRUE(html.contains(QStringLiteral("x&lt;y")));
    EXPECT_FALSE(html.contains(QChar(1)));
}

TEST(Markdown, ControlCharactersCannotForgeAMark) {
    EXPECT_FALSE(only("a \x01 b").html.contains(QChar(1)));
}

TEST(Markdown, CodeIsKeptAsWritten) {
    const MarkdownBlock block = only("```cpp extra\nif (a < b) {\n\n    x();\n}\n```");
    EXPECT_EQ(block.kind, BlockKind::kCode);
    EXPECT_EQ(block.language, QStringLiteral("cpp"));
    EXPECT_EQ(block.code, QStringLiteral("if (a < b) {\n\n    x();\n}"));
}

TEST(Markdown, AnOpenFenceIsCodeAlready) {
    EXPECT_EQ(only("```\nhalf").code, QStringLiteral("half"));
}

TEST(Markdown, TablesHaveCellsAndAlignments) {
    const MarkdownBlock table = only("| a | b |\n|:--|--:|\n| *1* | 2 |\n| 3 | 4 |");
    EXPECT_EQ(table.kind, BlockKind::kTable);
    ASSERT_EQ(table.cells.size(), 3);
    EXPECT_EQ(table.cells[1], QStringList({QStringLiteral("<i>1</i>"), QStringLiteral("2")}));
    EXPECT_EQ(table.alignments, QList<int>({Qt::AlignLeft, Qt::AlignRight}));
}

TEST(Markdown, HeadingsListsQuotesAndRulesAreBlocksOfTheirKind) {
    EXPECT_EQ(only("## two").level, 2);
    EXPECT_EQ(only("- a\n  - b").kind, BlockKind::kList);
    EXPECT_EQ(only("> q").kind, BlockKind::kQuote);
    EXPECT_EQ(only("***").kind, BlockKind::kRule);
    EXPECT_TRUE(only("3. c\n4. d").html.contains(QStringLiteral("start=\"3\"")));
    EXPECT_TRUE(only("- [x] done").html.contains(QStringLiteral("☑")));
}

TEST(Markdown, BlockByBlockIsTheSameAsTheWhole) {
    for (const char* text : {kDemoAnswer, kDemoShort, kDemoLong}) {
        BlockSplitter splitter;
        splitter.append(QString::fromUtf8(text));
        QList<MarkdownBlock> pieces;
        for (const QString& closed : splitter.closed()) {
            pieces += parseMarkdown(closed);
        }
        pieces += parseMarkdown(splitter.tail());
        EXPECT_EQ(pieces, parseMarkdown(QString::fromUtf8(text)));
    }
}

}  // namespace
}  // namespace quern::ui
