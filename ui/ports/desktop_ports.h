#pragma once

#include "engine/engine.h"
#include "ui/ports/conversation_store.h"
#include "ui/ports/model_library.h"
#include "ui/ports/reply_service.h"
#include "ui/ports/server_control.h"
#include "ui/ports/settings_store.h"

namespace quern::ui {

/// Everything the window works with. Borrowed: all of it outlives the window.
struct DesktopPorts {
    engine::Engine& engine;
    ConversationStore& conversations;
    ReplyService& replies;
    ModelLibrary& library;
    ServerControl& server;
    SettingsStore& settings;
};

}  // namespace quern::ui
