#include "ui/models/fit_words.h"

#include <QCoreApplication>

namespace quern::ui {
namespace {

struct Words {
    Q_DECLARE_TR_FUNCTIONS(FitWords)
};

}  // namespace

QString fitName(engine::Fit fit) {
    switch (fit) {
        case engine::Fit::kFits:
            return QStringLiteral("fits");
        case engine::Fit::kTight:
            return QStringLiteral("tight");
        default:
            return QStringLiteral("tooBig");
    }
}

QString itemName(const engine::FitItem& item) {
    if (item.name == "weights") {
        return Words::tr("weights");
    }
    if (item.name == "KV cache") {
        return Words::tr("KV cache");
    }
    if (item.name == "scratch") {
        return Words::tr("scratch");
    }
    if (item.name == "tokenizer") {
        return Words::tr("tokenizer");
    }
    if (item.name == "margin") {
        return Words::tr("margin, left to other programs");
    }
    return QString::fromStdString(item.name);
}

}  // namespace quern::ui
