#pragma once

#include <cstdint>
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
    enum class Place : std::uint8_t {
        kAnywhere,
        kAtStart,    // where nothing but white space and calls came before
        kAfterCall,  // directly behind a call
    };
    Place place = Place::kAnywhere;
    /// The mark is the first part of the body itself ("{" of a bare JSON call).
    bool isPartOfBody = false;
};

/// The marks of a dialect.
struct CallGrammar {
    std::vector<CallOpening> openings;
    /// Marks that carry nothing: behind calls …
    std::vector<std::string> fillers;
    /// … and before the first one.
    std::vector<std::string> leads;
    /// Further marks, which bodies and openings are made of.
    std::vector<std::string> inside;
};

[[nodiscard]] CallGrammar grammarOf(CallDialect dialect, const ParameterTypes& types);

}  // namespace quern::engine::tool_parsers
