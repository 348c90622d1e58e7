#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quern::engine {

/// Watches a growing text for stop strings that may come in pieces. What may be the start of one is
/// held until it is certain. The stop that is complete first counts (the longest, of those that end
/// at the same byte), so the result does not depend on how the text was cut. Belongs to one thread.
class StopMatcher {
public:
    /// No stop may be empty.
    StopMatcher(std::vector<std::string> stops, bool includeStopText);

    struct Result {
        std::string text;                 // certain now
        std::optional<std::string> stop;  // the one that was found: nothing may be fed after it
    };
    [[nodiscard]] Result feed(std::string_view text);
    /// What is still held at an end without a stop.
    [[nodiscard]] std::string takeHeld();

private:
    std::vector<std::string> m_stops;
    bool m_includeStopText = false;
    std::string m_held;
};

}  // namespace quern::engine
