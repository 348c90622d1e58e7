#pragma once

namespace quern::ui {

/// What the stills show. Markdown.
extern const char* const kDemoAnswer;
extern const char* const kDemoShort;
extern const char* const kDemoLong;
extern const char* const kDemoThought;  // what was thought before a reply
extern const char* const kDemoCall;     // a reply that thinks and calls a tool, marks and all

}  // namespace quern::ui
