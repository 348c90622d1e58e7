#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <limits>
#include <string>

namespace quern::cli {

/// A switch's value must be a whole number of this range, in decimal digits. Nothing is rounded,
/// wrapped or cut to make it one.
template <class Integer>
[[nodiscard]] CLI::Validator wholeNumber(Integer least,
                                         Integer most = std::numeric_limits<Integer>::max()) {
    const auto check = [least, most](const std::string& text) {
        Integer value = 0;
        const char* end = text.data() + text.size();
        const auto [rest, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc() && rest == end && value >= least && value <= most) {
            return std::string();
        }
        return "'" + text + "' is no whole number from " + std::to_string(least) + " to " +
               std::to_string(most);
    };
    return {check, "", "whole number"};
}

/// A switch's value must be a number of this range.
[[nodiscard]] CLI::Validator realNumber(double least, double most);

}  // namespace quern::cli
