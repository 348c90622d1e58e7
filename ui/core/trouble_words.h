#pragma once

#include <QString>

#include "ui/ports/start_trouble.h"

namespace quern::ui {

/// What the message bar says of a trouble: what it means, and below that the file, the reason and
/// what can be done.
struct TroubleWords {
    QString text;
    QString cause;
};

[[nodiscard]] TroubleWords wordsOf(const StartTrouble& trouble);

}  // namespace quern::ui
