#pragma once

#include <QString>
#include <memory>

#include "engine/engine.h"
#include "kernels/result.h"
#include "ui/desktop.h"

namespace quern::app {

struct DesktopStart {
    std::string dataFolder;  // empty: the XDG folders
    QString model;           // a path or a name of the models folder: loaded at once
    QString file;            // a model file whose load sheet opens
};

/// Everything behind the window, made in order and taken down in reverse. GUI thread.
class DesktopApp {
public:
    /// kInvalidArgument without a home folder; the errors of ModelLibrary::resolve() for a model
    /// that was named, and of engine::makeEngine(). Files that cannot be used keep nobody from the
    /// window: it says so.
    [[nodiscard]] static Result<std::unique_ptr<DesktopApp>> create(const DesktopStart& start);
    ~DesktopApp();
    [[nodiscard]] ui::Desktop& desktop();

private:
    struct Parts;
    explicit DesktopApp(std::unique_ptr<Parts> parts);
    std::unique_ptr<Parts> m_parts;
};

/// What tells the windows of different data folders apart. kInvalidArgument without a home folder.
[[nodiscard]] Result<QString> instanceKey(const std::string& dataFolder);

}  // namespace quern::app
