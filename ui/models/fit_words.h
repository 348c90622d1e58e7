#pragma once

#include <QString>

#include "engine/model_info.h"

namespace quern::ui {

/// "fits", "tight", "tooBig": what QML chooses words and colours by.
[[nodiscard]] QString fitName(engine::Fit fit);
/// An item of an estimate, in the window's language.
[[nodiscard]] QString itemName(const engine::FitItem& item);

}  // namespace quern::ui
