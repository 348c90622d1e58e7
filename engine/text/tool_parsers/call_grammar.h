#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/reply_parser.h"
#include "engine/text/tool_parsers/call_body.h"

namespace quern::engine::tool_parsers {

/// A mark behind which a call stands, and what reads it.
struct CallOpening {
    std::string mark;
    std::function<std::unique_ptr<CallBody>()> makeBody;
    /// Counts only where nothing but white space came before.
    bool isAtStart = false;
    /// The mark is the first part of the body itself ("{" of a bare JSON call).
    bool isPartOfBody = false;
};

/// The marks of a dialect.
struct CallGrammar {
    std::vector<CallOpening> openings;
    /// Marks around calls that carry nothing.
    std::vector<std::string> fillers;
    /// Further marks, which bodies and openings are made of.
    std::vector<std::string> inside;
};

[[nodiscard]] CallGrammar grammarOf(CallDialect dialect, const ParameterTypes& types);

}  // namespace quern::engine::tool_parsers
