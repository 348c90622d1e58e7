#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "ui/ports/model_library.h"
#include "ui/ports/server_control.h"
#include "ui/ports/settings_store.h"

namespace quern::ui {

/// Settings in memory. Internally locked.
class MemorySettings : public SettingsStore {
public:
    std::optional<std::string> get(const std::string& key) const override;
    Status set(const std::string& key, const std::string& value) override;

private:
    mutable std::mutex m_mutex;
    std::map<std::string, std::string> m_values;
};

/// A shelf of made-up models with made-up estimates: for stills and tests.
class DemoLibrary : public ModelLibrary {
public:
    explicit DemoLibrary(bool isEmpty) : m_isEmpty(isEmpty) {}
    Result<std::vector<LibraryModel>> list() override;
    Status add(const std::filesystem::path& model) override;
    Status forget(const std::filesystem::path& model) override;
    Result<engine::FitEstimate> estimate(const engine::LoadOptions& options) override;
    std::filesystem::path folder() const override;

private:
    bool m_isEmpty = false;
};

/// A server that only says that it runs: for stills and tests.
class DemoServer : public ServerControl {
public:
    Status start(const ServerSettings& settings) override;
    void stop() override;
    ServerStatus status() const override;
    /// The next start fails as a taken port does.
    void takePort() { m_isPortTaken = true; }

private:
    mutable std::mutex m_mutex;
    ServerStatus m_status;
    bool m_isPortTaken = false;
};

}  // namespace quern::ui
