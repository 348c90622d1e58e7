#pragma once

#include <QList>
#include <QString>
#include <cstdint>

#include "ui/demo/demo_engine.h"

namespace quern::ui {

class Session;

/// The window at a moment that is worth looking at.
struct DemoScene {
    QString name;
    DemoEngineOptions engine;
    bool isShelfEmpty = false;
    bool isLong = false;  // the conversation that may be opened
    /// Leads the window there. `conversation` is the id of demoConversations()' last one.
    void (*arrange)(Session& session, std::int64_t conversation) = nullptr;
};

[[nodiscard]] const QList<DemoScene>& demoScenes();

}  // namespace quern::ui
