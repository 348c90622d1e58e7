#pragma once

#include <optional>
#include <string>

#include "kernels/result.h"

namespace quern::ui {

/// Remembered settings, by dotted key ("appearance.theme"). Internally locked: reads are from
/// memory and may come from the GUI thread; `set` may write the file and comes from a worker.
class SettingsStore {
public:
    virtual ~SettingsStore() = default;
    [[nodiscard]] virtual std::optional<std::string> get(const std::string& key) const = 0;
    [[nodiscard]] virtual Status set(const std::string& key, const std::string& value) = 0;
};

}  // namespace quern::ui
