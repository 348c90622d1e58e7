#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

#include "app/chat/conversation_store.h"
#include "app/storage/file_trouble.h"

namespace quern::app {

/// What the name of a damaged file gets.
inline constexpr std::string_view kDamagedSuffix = ".damaged";

struct OpenedConversations {
    std::unique_ptr<ConversationStore> store;  // never null
    std::optional<FileTrouble> trouble;
};

/// Opens the conversations in whatever state their file is, so that somebody can always chat. A
/// damaged file is kept as quern.db.damaged and a new one is begun; where that cannot be written,
/// or the file cannot be read, conversations are kept in memory alone. `trouble` says which, and
/// where a damaged file went also then, in `kept`.
/// Fails only where there is no memory for that.
[[nodiscard]] Result<OpenedConversations> openConversations(
    const std::filesystem::path& file,
    ConversationStore::Clock clock = ConversationStore::systemMs);

/// Reads all of the file and changes nothing: how many conversations it has (none without a file),
/// or what is wrong with it.
[[nodiscard]] Result<std::int64_t> examineConversations(const std::filesystem::path& file);

}  // namespace quern::app
