#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

namespace quern::cli {

/// A value that names a file, a folder or a model must not be empty: an empty one is a variable of
/// a script that was not set.
[[nodiscard]] inline CLI::Validator notEmpty() {
    return {[](const std::string& text) {
                return text.empty() ? std::string("must not be empty") : std::string();
            },
            "", "not empty"};
}

/// An option whose value names a file, a folder or a model.
template <class Value>
CLI::Option* addName(CLI::App& command, std::string name, Value& value, std::string description) {
    return command.add_option(std::move(name), value, std::move(description))->check(notEmpty());
}

}  // namespace quern::cli
