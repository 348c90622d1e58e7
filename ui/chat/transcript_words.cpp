#include "ui/chat/transcript_words.h"

#include <QCoreApplication>
#include <QJsonDocument>
#include <QStringList>

#include "ui/text/format.h"

namespace quern::ui {
namespace {

struct TranscriptWords {
    Q_DECLARE_TR_FUNCTIONS(Transcript)
};

}  // namespace

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

QString blockName(BlockKind kind) {
    switch (kind) {
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

QString figuresLine(const TurnFigures& f) {
    QStringList parts;
    if (f.tokensPerSecond > 0) {
        parts += TranscriptWords::tr("%1 tok/s").arg(formatRate(f.tokensPerSecond));
    }
    parts += TranscriptWords::tr("%1 tok").arg(formatCount(f.completionTokens));
    if (f.ttftMs > 0) {
        parts += TranscriptWords::tr("TTFT %1").arg(formatMilliseconds(f.ttftMs));
    }
    if (f.promptTokens > 0) {
        parts += TranscriptWords::tr("prefix hit %1\u00A0%")
                     .arg(formatPercent(static_cast<double>(f.cachedTokens) / f.promptTokens));
    }
    if (!f.stop.empty()) {
        parts += TranscriptWords::tr("stop: %1").arg(QString::fromStdString(f.stop));
    }
    return parts.join(QStringLiteral(" · "));
}

QString readableArguments(const std::string& arguments) {
    const QString text = QString::fromStdString(arguments);
    if (QJsonDocument::fromJson(text.toUtf8()).isNull()) {
        return text;
    }
    QString shown;
    QString open;  // the brackets around this place
    bool isInText = false;
    bool isEscaped = false;
    bool beginsObject = false;
    const auto newLine = [&] { shown += u'\n' + QString(2 * open.count(u'{'), u' '); };
    for (const QChar c : text) {
        if (isInText) {
            shown += c;
            isInText = isEscaped || c != u'"';
            isEscaped = !isEscaped && c == u'\\';
            continue;
        }
        if (c.isSpace()) {
            continue;
        }
        if (c == u'}' || c == u']') {
            open.chop(1);
        }
        if (beginsObject != (c == u'}')) {
            newLine();  // before its first member, and behind its last one
        }
        shown += c;
        isInText = c == u'"';
        beginsObject = c == u'{';
        if (c == u'{' || c == u'[') {
            open += c;
        } else if (c == u',' && open.endsWith(u'{')) {
            newLine();
        } else if (c == u',' || c == u':') {
            shown += u' ';
        }
    }
    return shown;
}

}  // namespace quern::ui
