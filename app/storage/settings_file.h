#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "app/storage/file_trouble.h"
#include "kernels/result.h"

namespace quern::app {

using SettingValue = std::variant<bool, std::int64_t, double, std::string>;

/// What the name of a file that does not parse gets.
inline constexpr std::string_view kBrokenSuffix = ".broken";

/// Settings as dotted names ("appearance.theme") in one JSON file. Written whole to a temporary
/// file and renamed, so a crash leaves the old or the new one. Internally locked; any thread.
class SettingsFile {
public:
    /// A missing file is an empty one. A file that does not parse is kept beside as
    /// settings.json.broken and settings start empty; one that cannot be read stays, and is never
    /// written over. `trouble()` tells of both, and of a file that cannot be saved.
    [[nodiscard]] static std::unique_ptr<SettingsFile> open(std::filesystem::path file);
    /// What open() would find wrong with the file, without touching anything: kIo or kCorrupt.
    [[nodiscard]] static Status examine(const std::filesystem::path& file);

    /// The value, when it is there and of this type; else `fallback`.
    template <class T>
    [[nodiscard]] T get(std::string_view name, T fallback) const {
        if (const auto value = find(name)) {
            if (const T* typed = std::get_if<T>(&*value)) {
                return *typed;
            }
        }
        return fallback;
    }
    /// Sets and saves. On an error the new value holds in memory and the old file stays.
    [[nodiscard]] Status set(std::string_view name, SettingValue value);
    [[nodiscard]] Status remove(std::string_view name);
    [[nodiscard]] const std::optional<FileTrouble>& trouble() const { return m_trouble; }

private:
    explicit SettingsFile(std::filesystem::path file) : m_file(std::move(file)) {}
    using Values = std::map<std::string, SettingValue, std::less<>>;
    [[nodiscard]] static Result<Values> read(const std::filesystem::path& file);
    [[nodiscard]] std::optional<SettingValue> find(std::string_view name) const;
    [[nodiscard]] Status save() const;

    std::filesystem::path m_file;
    std::optional<FileTrouble> m_trouble;
    mutable std::mutex m_mutex;
    Values m_values;
};

/// Writes a file whole or not at all: a temporary file beside it, flushed to the disk, renamed.
[[nodiscard]] Status writeFileAtomically(const std::filesystem::path& file, std::string_view bytes);

}  // namespace quern::app
