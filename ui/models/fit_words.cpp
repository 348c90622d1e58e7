#include "ui/models/fit_words.h"

#include <QCoreApplication>

namespace quern::ui {
namespace {

struct FitWords {
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
        return FitWords::tr("weights");
    }
    if (item.name == "KV cache") {
        return FitWords::tr("KV cache");
    }
    if (item.name == "scratch") {
        return FitWords::tr("scratch");
    }
    if (item.name == "tokenizer") {
        return FitWords::tr("tokenizer");
    }
    if (item.name == "margin") {
        return FitWords::tr("margin, left to other programs");
    }
    return QString::fromStdString(item.name);
}

}  // namespace quern::ui
