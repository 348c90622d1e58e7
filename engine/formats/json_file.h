#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/formats/json_members.h"
#include "kernels/result.h"

namespace quern::engine {

/// JSON whose objects keep the order of the text; the last of several members of one name holds.
using Json = nlohmann::basic_json<JsonMembers>;

/// Parses JSON as people's files have it: also bare Infinity, -Infinity and NaN, which become the
/// strings "Infinity", "-Infinity" and "NaN". kCorrupt for text that is not JSON, not UTF-8, nested
/// deeper than 64, or longer than 16 MiB; `what` names it in the message.
[[nodiscard]] Result<Json> parseJson(std::string_view text, std::string_view what);
/// Whether brackets are nested no deeper than 64, which bounds what a parser may cost over the
/// text: kCorrupt. For texts that another parser reads.
[[nodiscard]] Status checkJsonDepth(std::string_view text, std::string_view what);
/// parseJson of a file. kNotFound when it is not there.
[[nodiscard]] Result<Json> readJsonFile(const std::filesystem::path& path);

}  // namespace quern::engine
