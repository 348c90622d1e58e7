#pragma once

namespace quern::ui {

/// What the stills show. Markdown.
extern const char* const kDemoAnswer;
extern const char* const kDemoShort;
extern const char* const kDemoLong;

}  // namespace quern::ui
