#pragma once

#include "app/storage/settings_file.h"
#include "ui/ports/settings_store.h"

namespace quern::app {

/// The window's settings in the settings file, as texts. Internally locked, as the file is.
class FileSettings : public ui::SettingsStore {
public:
    /// `file` must outlive it.
    explicit FileSettings(SettingsFile& file) : m_file(file) {}

    [[nodiscard]] std::optional<std::string> get(const std::string& key) const override {
        std::string value = m_file.get<std::string>(key, {});
        return value.empty() ? std::nullopt : std::optional(std::move(value));
    }
    [[nodiscard]] Status set(const std::string& key, const std::string& value) override {
        return m_file.set(key, value);
    }

private:
    SettingsFile& m_file;
};

}  // namespace quern::app
