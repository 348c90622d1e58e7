#pragma once

#include <filesystem>
#include <optional>
#include <string>

namespace quern::cli {

struct RenderOptions {
    std::filesystem::path source;  // a model, or a .jinja file
    std::filesystem::path messages;
    std::filesystem::path tools;  // empty: null
    std::string kwargs;           // a JSON object
    std::optional<std::string> bos;
    std::optional<std::string> eos;
    std::string now;  // "2026-01-15T12:00:00"; empty: the clock
};

/// `quern render`: the template's bytes on standard output and no newline more. Exit 1: the
/// template refuses, its sentence on standard error; 2: usage, among it files that are not what
/// they should be.
[[nodiscard]] int runRender(const RenderOptions& options);

}  // namespace quern::cli
