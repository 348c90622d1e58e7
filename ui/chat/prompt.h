#pragma once

#include <vector>

#include "engine/engine.h"
#include "ui/ports/conversation_store.h"

namespace quern::ui {

/// The messages that go to the model: the system prompt and the turns from `firstTurn` on; failed
/// replies, and replies that are only being begun, are not part of it.
[[nodiscard]] std::vector<engine::ChatMessage> promptMessages(const ConversationSettings& settings,
                                                              const std::vector<Turn>& path);

/// How a chat samples unless told otherwise: as the model's own configuration says, and with a
/// calmer hand than the bare distribution where it brings none.
[[nodiscard]] engine::SamplingParams chatSampling(const engine::LoadedModel& model);

/// How many tokens these messages take in the model's own template. Takes milliseconds: on a
/// worker.
[[nodiscard]] Result<std::int64_t> countPromptTokens(
    const engine::LoadedModel& model, const std::vector<engine::ChatMessage>& messages,
    bool addGenerationPrompt);

/// The id of the turn from which on the messages fit into `limit` tokens, oldest turns left out
/// first, a user's turn to begin with; 0 when nothing needs to go, −1 when not even the last does.
[[nodiscard]] Result<std::int64_t> firstTurnThatFits(const engine::LoadedModel& model,
                                                     ConversationSettings settings,
                                                     const std::vector<Turn>& path,
                                                     std::int64_t limit);

}  // namespace quern::ui
