#include "ui/chat/transcript.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "ui/demo/demo_texts.h"
#include "ui/look/theme.h"

namespace quern::ui {
namespace {

Turn turn(std::int64_t id, std::int64_t parent, const char* role, const char* text) {
    Turn made;
    made.id = id;
    made.parent = parent;
    made.role = role;
    made.text = text;
    made.model = "m";
    return made;
}

QStringList kinds(const Transcript& transcript) {
    QStringList list;
    for (int row = 0; row < transcript.rowCount(); ++row) {
        list += transcript.data(transcript.index(row), Transcript::kKind).toString();
    }
    return list;
}

/// All that rows show, to compare two transcripts.
QStringList shown(const Transcript& transcript) {
    QStringList list;
    for (int row = 0; row < transcript.rowCount(); ++row) {
        for (const int role : {Transcript::kKind, Transcript::kHtml, Transcript::kText,
                               Transcript::kLevel, Transcript::kState}) {
            list += transcript.data(transcript.index(row), role).toString();
        }
    }
    return list;
}

TEST(Transcript, ARowIsABlock) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    transcript.setPath({turn(1, 0, "user", "*hi*"), turn(2, 1, "assistant", "a\n\n# b\n- c")}, 0);
    EXPECT_EQ(kinds(transcript).join(u' '),
              QStringLiteral("head plain foot head para heading list foot"));
}

TEST(Transcript, StreamingGivesTheSameRowsAsTheWhole) {
    const Theme theme(nullptr);
    for (const char* text : {kDemoAnswer, kDemoShort, "", "\n\n", "```\nx\n```\n", "- a\n\n\n1"}) {
        Transcript whole(theme);
        whole.setPath({turn(1, 0, "user", "q"), turn(2, 1, "assistant", text)}, 0);
        Transcript grown(theme);
        grown.setPath({turn(1, 0, "user", "q"), turn(2, 1, "assistant", "")}, 0);
        const QString all = QString::fromUtf8(text);
        for (qsizetype at = 0; at < all.size(); at += 3) {
            grown.appendText(all.mid(at, 3));
        }
        EXPECT_EQ(shown(grown), shown(whole)) << text;
    }
}

TEST(Transcript, ClosedBlocksAreNotTouchedWhileTheTailGrows) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    transcript.setPath({turn(1, 0, "user", "q"), turn(2, 1, "assistant", "one\n\ntwo\n\nthr")}, 0);
    QSignalSpy changes(&transcript, &QAbstractItemModel::dataChanged);
    transcript.appendText(QStringLiteral("ee"));
    ASSERT_EQ(changes.size(), 1);
    EXPECT_EQ(changes[0][0].toModelIndex().row(), 6);
    EXPECT_EQ(changes[0][1].toModelIndex().row(), 6);
}

TEST(Transcript, ALongReplyStaysCheapToTheEnd) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    transcript.setPath({turn(1, 0, "user", "q"), turn(2, 1, "assistant", "")}, 0);
    int touched = 0;
    QObject::connect(&transcript, &QAbstractItemModel::dataChanged,
                     [&](const QModelIndex& first, const QModelIndex& last) {
                         touched += last.row() - first.row() + 1;
                     });
    for (int i = 0; i < 2000; ++i) {
        transcript.appendText(i % 20 == 19 ? QStringLiteral("end.\n\n") : QStringLiteral("word "));
    }
    EXPECT_LT(touched, 2200) << "a token touches one row";
    EXPECT_EQ(transcript.rowCount(), 3 + 1 + 100 + 1);
}

TEST(Transcript, AnotherBranchKeepsTheRowsBeforeIt) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    Turn reply = turn(2, 1, "assistant", "first");
    reply.branches = 2;
    transcript.setPath({turn(1, 0, "user", "q"), reply}, 0);
    Turn other = turn(3, 1, "assistant", "second");
    other.branch = 2;
    other.branches = 2;
    QSignalSpy removed(&transcript, &QAbstractItemModel::rowsRemoved);
    transcript.setPath({turn(1, 0, "user", "q"), other}, 0);
    ASSERT_EQ(removed.size(), 1);
    EXPECT_EQ(removed[0][1].toInt(), 3) << "the user's turn stays";
    const QModelIndex foot = transcript.index(transcript.rowCount() - 1);
    EXPECT_EQ(transcript.data(foot, Transcript::kBranch).toInt(), 2);
    EXPECT_EQ(transcript.data(foot, Transcript::kBranches).toInt(), 2);
}

TEST(Transcript, TheLineUnderAReplyReadsAsPromised) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    Turn reply = turn(2, 1, "assistant", "x");
    reply.figures = TurnFigures{.tokensPerSecond = 42.34,
                                .ttftMs = 212,
                                .promptTokens = 100,
                                .cachedTokens = 91,
                                .completionTokens = 318,
                                .stop = "eos"};
    transcript.setPath({turn(1, 0, "user", "q"), reply}, 0);
    const QModelIndex foot = transcript.index(transcript.rowCount() - 1);
    EXPECT_EQ(transcript.data(foot, Transcript::kFigures).toString(),
              QStringLiteral("42.3 tok/s · 318 tok · TTFT 212\u00A0ms · prefix hit 91\u00A0% · "
                             "stop: eos"));
}

TEST(Transcript, TurnsLeftOutOfThePromptAreMarked) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    transcript.setPath({turn(1, 0, "user", "q"), turn(2, 1, "assistant", "a"),
                        turn(3, 2, "user", "r"), turn(4, 3, "assistant", "b")},
                       3);
    EXPECT_TRUE(
        transcript.data(transcript.index(transcript.rowOf(2)), Transcript::kIsLeftOut).toBool());
    EXPECT_FALSE(
        transcript.data(transcript.index(transcript.rowOf(3)), Transcript::kIsLeftOut).toBool());
}

TEST(Transcript, AskingBesideTheRowsIsHarmless) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    EXPECT_EQ(transcript.rowOf(99), -1);
    EXPECT_EQ(transcript.find(99), nullptr);
    transcript.appendText(QStringLiteral("nobody's"));
    EXPECT_EQ(transcript.rowCount(), 0);
    EXPECT_FALSE(transcript.data(transcript.index(5), Transcript::kKind).isValid());
}

}  // namespace
}  // namespace quern::ui
