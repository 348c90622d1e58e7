#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/text.h"

namespace quern::engine {

/// What a template takes, found out by rendering small conversations with it. A template that
/// refuses all of them keeps these defaults, which are the API's own forms.
struct TemplateTraits {
    /// The forms of `content` that a role's messages may have.
    struct Content {
        bool text = true;   // a string
        bool parts = true;  // a list of {"type": "text", "text": …}
    };
    Content system;
    Content user;
    Content assistant;
    Content tool;
    bool knowsSystem = true;      // else its text joins the next user message
    bool knowsDeveloper = false;  // else the role becomes "system"
    bool takesArgumentObject = true;
    bool takesArgumentText = true;
    bool takesNullContent = false;  // beside tool calls; else ""
    bool needsShortIds = false;     // tool call ids of exactly nine letters and digits
    std::string reasoningKey = "reasoning_content";
};

/// Renders one input; absent when the template refuses.
using Probe = std::function<std::optional<std::string>(const TemplateInput&)>;

/// About twenty tiny renderings.
[[nodiscard]] TemplateTraits probeTemplate(const Probe& render, const std::string& source);

/// The messages as the template takes them. kInvalidArgument names the message that it cannot take
/// in any form. `messages` is an array of objects, or comes back as it is.
[[nodiscard]] Result<nlohmann::ordered_json> adaptMessages(nlohmann::ordered_json messages,
                                                           const TemplateTraits& traits);

}  // namespace quern::engine
