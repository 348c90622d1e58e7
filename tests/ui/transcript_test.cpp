#include "ui/chat/transcript.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "ui/chat/transcript_words.h"
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

/// More of the last turn's text.
void grow(Transcript& transcript, const QString& text) {
    Turn last = transcript.path().back();
    last.text += text.toStdString();
    transcript.showLast(last);
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
            grow(grown, all.mid(at, 3));
        }
        EXPECT_EQ(shown(grown), shown(whole)) << text;
    }
}

TEST(Transcript, ClosedBlocksAreNotTouchedWhileTheTailGrows) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    transcript.setPath({turn(1, 0, "user", "q"), turn(2, 1, "assistant", "one\n\ntwo\n\nthr")}, 0);
    QSignalSpy changes(&transcript, &QAbstractItemModel::dataChanged);
    grow(transcript, QStringLiteral("ee"));
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
        grow(transcript, i % 20 == 19 ? QStringLiteral("end.\n\n") : QStringLiteral("word "));
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
    EXPECT_FALSE(transcript.data(foot, Transcript::kIsContextFull).toBool());
    reply.figures->stop = "context full";
    transcript.showLast(reply);
    EXPECT_TRUE(transcript.data(foot, Transcript::kIsContextFull).toBool());
}

TEST(Transcript, ALastReplyThatGrewElsewhereKeepsItsRows) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    const Turn question = turn(1, 0, "user", "q");
    transcript.setPath({question, turn(2, 1, "assistant", "one\n\ntw")}, 0);
    QSignalSpy removed(&transcript, &Transcript::rowsRemoved);
    Turn longer = turn(2, 1, "assistant", "one\n\ntwo\n\nthree");
    longer.branches = 2;
    transcript.setPath({question, longer}, 0);
    EXPECT_EQ(removed.count(), 0) << "who reads it is not thrown back";
    EXPECT_EQ(transcript.path().back(), longer);
    EXPECT_EQ(kinds(transcript).join(u' '),
              QStringLiteral("head plain foot head para para para foot"));
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

TEST(Transcript, ThinkingIsShownUntilTheAnswerBegins) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    Turn reply = turn(2, 1, "assistant", "");
    reply.state = TurnState::kWriting;
    transcript.setPath({turn(1, 0, "user", "q"), reply}, 0);
    EXPECT_EQ(kinds(transcript).join(u' '), QStringLiteral("head plain foot head foot"));
    reply.reasoning = "One.\n\n- two";
    transcript.showLast(reply);
    EXPECT_EQ(kinds(transcript).join(u' '),
              QStringLiteral("head plain foot head thinking para list foot"));
    const auto is = [&](int row, int role) {
        return transcript.data(transcript.index(row), role).toBool();
    };
    EXPECT_TRUE(is(4, Transcript::kIsUnfolded));
    EXPECT_TRUE(is(4, Transcript::kIsThinking));
    EXPECT_TRUE(is(5, Transcript::kIsThought));
    reply.reasoning += " and three";
    reply.text = "Answer.";
    transcript.showLast(reply);
    EXPECT_EQ(kinds(transcript).join(u' '),
              QStringLiteral("head plain foot head thinking para foot"));
    EXPECT_FALSE(is(4, Transcript::kIsUnfolded));
    EXPECT_FALSE(is(5, Transcript::kIsThought));
    transcript.fold(2, false);
    EXPECT_EQ(kinds(transcript).join(u' '),
              QStringLiteral("head plain foot head thinking para list para foot"));
    EXPECT_TRUE(transcript.data(transcript.index(6), Transcript::kHtml)
                    .toString()
                    .contains(QStringLiteral("two and three")));
    reply.text += "\n\nMore.";
    reply.state = TurnState::kComplete;
    transcript.showLast(reply);
    EXPECT_EQ(kinds(transcript).join(u' '),
              QStringLiteral("head plain foot head thinking para list para para foot"))
        << "what somebody has unfolded stays so";
}

TEST(Transcript, HoweverItComesItEndsAsTheWhole) {
    const Theme theme(nullptr);
    Turn reply = turn(2, 1, "assistant", "");
    reply.state = TurnState::kWriting;
    Transcript grown(theme);
    grown.setPath({turn(1, 0, "user", "q"), reply}, 0);
    grown.fold(2, false);
    for (int i = 0; i < 300; ++i) {
        // Thought, text and calls in any order, as some models write them.
        reply.reasoning += i % 3 == 0 ? (i % 12 == 0 ? "hm.\n\n" : "hm ") : "";
        reply.text += i % 5 == 1 ? (i % 7 == 0 ? "so\n\n" : "so ") : "";
        if (i % 100 == 99) {
            reply.calls.push_back({.name = "look", .arguments = ""});
        }
        if (!reply.calls.empty()) {
            reply.calls.back().arguments += "1";
        }
        if (i % 50 == 10) {
            grown.fold(2, i % 100 == 10);
        }
        grown.showLast(reply);
    }
    grown.fold(2, false);
    Transcript whole(theme);
    whole.setPath({turn(1, 0, "user", "q"), reply}, 0);
    whole.fold(2, false);
    EXPECT_EQ(shown(grown), shown(whole));
    EXPECT_TRUE(kinds(whole).join(u' ').endsWith(QStringLiteral("para call call call foot")));
}

TEST(Transcript, ACallShowsItsToolAndArguments) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    Turn reply = turn(2, 1, "assistant", "Let me see.");
    reply.calls = {{.name = "look", .arguments = R"({"at": [1, 2)"}};
    transcript.setPath({turn(1, 0, "user", "q"), reply}, 0);
    const QModelIndex call = transcript.index(5);
    EXPECT_EQ(transcript.data(call, Transcript::kKind).toString(), QStringLiteral("call"));
    EXPECT_EQ(transcript.data(call, Transcript::kLabel).toString(), QStringLiteral("look"));
    EXPECT_EQ(transcript.data(call, Transcript::kText).toString(),
              QStringLiteral(R"({"at": [1, 2)"))
        << "as it is while it is being written";
    reply.calls[0].arguments += "]}";
    transcript.showLast(reply);
    EXPECT_EQ(transcript.data(call, Transcript::kText).toString(),
              QStringLiteral("{\n  \"at\": [1, 2]\n}"));
}

TEST(Transcript, ArgumentsKeepTheirOrderAndTheirTexts) {
    EXPECT_EQ(
        readableArguments(R"({"b":{},"a":[{"x":"},{\"["},[]],"c" : -1.5e3})").toStdString(),
        "{\n  \"b\": {},\n  \"a\": [{\n    \"x\": \"},{\\\"[\"\n  }, []],\n  \"c\": -1.5e3\n}");
    EXPECT_EQ(readableArguments("no JSON").toStdString(), "no JSON");
    EXPECT_EQ(readableArguments("").toStdString(), "");
}

TEST(Transcript, AskingBesideTheRowsIsHarmless) {
    const Theme theme(nullptr);
    Transcript transcript(theme);
    EXPECT_EQ(transcript.rowOf(99), -1);
    EXPECT_EQ(transcript.find(99), nullptr);
    transcript.showLast(turn(99, 0, "assistant", "nobody's"));
    transcript.fold(99, true);
    EXPECT_EQ(transcript.rowCount(), 0);
    EXPECT_FALSE(transcript.data(transcript.index(5), Transcript::kKind).isValid());
}

}  // namespace
}  // namespace quern::ui
