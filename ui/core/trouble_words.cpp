#include "ui/core/trouble_words.h"

#include <QCoreApplication>

namespace quern::ui {
namespace {

struct Trouble {
    Q_DECLARE_TR_FUNCTIONS(Trouble)
};

TroubleWords conversationWords(const StartTrouble& trouble, const QString& reason) {
    switch (trouble.outcome) {
        case StartTrouble::Outcome::kSetAside:
            return {
                Trouble::tr("The conversations of before are not shown: their file is damaged."),
                Trouble::tr("%1. It was left as it is and is called %2 now; a new one was "
                            "begun. If you have a copy of it, close Quern and put that back.")
                    .arg(reason, QString::fromStdString(trouble.kept))};
        case StartTrouble::Outcome::kReadOnly:
            return {Trouble::tr("What you say now will not be saved."),
                    Trouble::tr("%1. Conversations last until you close this window. Once it can "
                                "be written, start Quern again.")
                        .arg(reason)};
        default:
            return {Trouble::tr("What you say now will not be saved, and the conversations of "
                                "before are not shown."),
                    Trouble::tr("%1. It was left as it is. Conversations last until you close "
                                "this window.")
                        .arg(reason)};
    }
}

TroubleWords settingsWords(const StartTrouble& trouble, const QString& reason) {
    switch (trouble.outcome) {
        case StartTrouble::Outcome::kSetAside:
            return {Trouble::tr("The settings could not be read: the defaults hold."),
                    Trouble::tr("%1. It was left as it is and is called %2 now.")
                        .arg(reason, QString::fromStdString(trouble.kept))};
        case StartTrouble::Outcome::kReadOnly:
            return {
                Trouble::tr("Settings will not be saved."),
                Trouble::tr("%1. What you change lasts until you close this window.").arg(reason)};
        default:
            return {Trouble::tr("The settings could not be read: the defaults hold."),
                    Trouble::tr("%1. It was left as it is. What you change lasts until you close "
                                "this window.")
                        .arg(reason)};
    }
}

}  // namespace

TroubleWords wordsOf(const StartTrouble& trouble) {
    const QString reason = QString::fromStdString(trouble.reason);
    return trouble.file == StartTrouble::File::kSettings ? settingsWords(trouble, reason)
                                                         : conversationWords(trouble, reason);
}

}  // namespace quern::ui
