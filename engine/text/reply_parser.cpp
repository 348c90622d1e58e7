#include "engine/reply_parser.h"

#include <algorithm>
#include <utility>

#include "engine/text/tool_parsers/call_grammar.h"
#include "engine/text/tool_parsers/harmony.h"

namespace quern::engine {
namespace {

using tool_parsers::CallBody;
using tool_parsers::CallOpening;

constexpr std::string_view kArrows = ">>>";

bool isBlank(std::string_view text) {
    return text.find_first_not_of(" \n\r\t") == std::string_view::npos;
}

}  // namespace

/// A machine that takes one byte at a time, so that the cuts between pushes cannot matter.
struct ReplyParser::State : tool_parsers::ReplySink {
    State(ReplyFormat replyFormat, std::string_view promptEnd,
          const std::vector<std::string>& tools)
        : format(std::move(replyFormat)),
          types(tools),
          messageContent(*this),
          harmony(format.calls == CallDialect::kRecipient
                      ? static_cast<tool_parsers::ReplySink&>(messageContent)
                      : *this,
                  format.calls == CallDialect::kRecipient
                      ? tool_parsers::HarmonyParser::Kind::kRecipients
                      : tool_parsers::HarmonyParser::Kind::kChannels) {
        usesHarmony =
            format.calls == CallDialect::kHarmony || format.calls == CallDialect::kRecipient;
        if (!tools.empty()) {
            grammar = tool_parsers::grammarOf(format.calls, types);
        }
        while (!promptEnd.empty() && isBlank(promptEnd.substr(promptEnd.size() - 1))) {
            promptEnd.remove_suffix(1);
        }
        inReasoning = !format.reasoningOpen.empty() && promptEnd.ends_with(format.reasoningOpen);
        skipsBlank = inReasoning;
        if (promptEnd.ends_with(kArrows) && format.calls == CallDialect::kArrows) {
            // The prompt has begun what the reply goes on with; it is not given out.
            unsaid = kArrows.size();
            for (const char c : kArrows) {
                scan(c);
            }
        }
    }

    /// What is inside messages that have a header goes through the marks of calls.
    struct MessageContent : tool_parsers::ReplySink {
        explicit MessageContent(State& owner) : state(owner) {}
        void content(std::string_view text) override {
            for (const char c : text) {
                state.scan(c);
            }
        }
        void reasoning(std::string_view text) override { state.reasoning(text); }
        void beginCall(std::string_view name) override { state.beginCall(name); }
        void arguments(std::string_view json) override { state.arguments(json); }
        State& state;
    };

    // What the parts report.

    void put(ReplyDelta::Kind kind, std::string_view text, std::size_t call = 0) {
        if (text.empty()) {
            return;
        }
        if (!deltas.empty() && deltas.back().kind == kind && deltas.back().call == call &&
            kind != ReplyDelta::Kind::kCallName) {
            deltas.back().text += text;
        } else {
            deltas.push_back(ReplyDelta{.kind = kind, .call = call, .text = std::string(text)});
        }
    }
    void content(std::string_view text) override { put(ReplyDelta::Kind::kContent, text); }
    void reasoning(std::string_view text) override { put(ReplyDelta::Kind::kReasoning, text); }
    void beginCall(std::string_view name) override {
        put(ReplyDelta::Kind::kCallName, name, calls++);
    }
    void arguments(std::string_view json) override {
        put(ReplyDelta::Kind::kCallArguments, json, calls - 1);
    }

    void feed(char c) {
        if (usesHarmony) {
            harmony.feed(c);
        } else {
            scan(c);
        }
    }

    void scan(char c) {
        if (body != nullptr) {
            feedBody(c);
        } else {
            held += c;
            scanHeld();
        }
    }

    void feedBody(char c) {
        block += c;
        const std::size_t before = calls;
        const CallBody::Status status = body->feed(c, *this);
        if (calls > before) {
            hasCallInBlock = true;
            unsaid = 0;
        }
        if (status == CallBody::Status::kMore) {
            return;
        }
        body.reset();
        if (status == CallBody::Status::kDone) {
            afterCall = true;
            block.clear();
            return;
        }
        if (hasCallInBlock) {
            // What came before is delivered; the byte that broke it may begin a mark.
            block.clear();
            afterCall = true;
            scan(c);
            return;
        }
        const std::string text = std::exchange(block, {});
        emitText(text);
    }

    /// Text that is certainly none of the marks.
    void emitText(std::string_view text) {
        const std::size_t silent = std::min(unsaid, text.size());
        unsaid -= silent;
        text.remove_prefix(silent);
        if (skipsBlank) {
            const std::size_t begin = text.find_first_not_of(" \n\r\t");
            if (begin == std::string_view::npos) {
                return;
            }
            text.remove_prefix(begin);
            skipsBlank = false;
        }
        if (inReasoning) {
            reasoning(text);
            return;
        }
        if (afterCall) {
            // White space between calls belongs to their marks.
            blankAfterCall += text;
            if (isBlank(blankAfterCall)) {
                return;
            }
            const std::string all = std::exchange(blankAfterCall, {});
            afterCall = false;
            hasText = true;
            content(all);
            return;
        }
        hasText = hasText || !isBlank(text);
        content(text);
    }

    [[nodiscard]] bool takesOpening(const CallOpening& opening) const {
        switch (opening.place) {
            case CallOpening::Place::kAnywhere:
                return true;
            case CallOpening::Place::kAtStart:
                return !hasText;
            case CallOpening::Place::kAfterCall:
                return afterCall && isBlank(blankAfterCall);
        }
        return false;
    }

    /// Whether `held` is, or may become, `mark`; takes it when it is.
    enum class Match { kNo, kPart, kWhole };
    [[nodiscard]] Match matchHeld(std::string_view mark) const {
        if (mark.empty() || mark.size() < held.size()) {
            return Match::kNo;
        }
        if (mark == held) {
            return Match::kWhole;
        }
        return mark.starts_with(held) ? Match::kPart : Match::kNo;
    }

    /// Takes whole marks from `held` and lets go of what cannot become one.
    void scanHeld() {
        while (!held.empty()) {
            bool mayGrow = false;
            if (matchMarks(mayGrow)) {
                held.clear();
                return;
            }
            if (mayGrow) {
                return;
            }
            // A longer mark was hoped for, and a shorter one is what stands there.
            if (!heldMark.empty()) {
                const std::string rest = held.substr(heldMark.size());
                held = std::exchange(heldMark, {});
                takeWhole();
                held.clear();
                for (const char c : rest) {
                    scan(c);
                }
                return;
            }
            emitText(std::string_view(held).substr(0, 1));
            held.erase(0, 1);
        }
    }

    bool matchMarks(bool& mayGrow) {
        bool isWhole = false;
        const auto look = [&](std::string_view mark) {
            const Match match = matchHeld(mark);
            isWhole = isWhole || match == Match::kWhole;
            mayGrow = mayGrow || match == Match::kPart;
        };
        if (inReasoning) {
            look(format.reasoningClose);
        } else {
            if (!hasText) {
                look(format.reasoningOpen);
            }
            // Some models close what their prompt opened unseen.
            look(format.reasoningClose);
            for (const CallOpening& opening : grammar.openings) {
                if (takesOpening(opening)) {
                    look(opening.mark);
                }
            }
            for (const auto* marks :
                 {&grammar.fillers, &grammar.leads, &format.answerOpens, &format.answerCloses}) {
                for (const std::string& mark : *marks) {
                    look(mark);
                }
            }
        }
        if (isWhole && mayGrow) {
            heldMark = held;
            return false;
        }
        if (isWhole) {
            heldMark.clear();
            takeWhole();
        }
        return isWhole;
    }

    /// `held` is a mark.
    void takeWhole() {
        if (inReasoning) {
            inReasoning = false;
            skipsBlank = true;
            return;
        }
        if (!hasText && held == format.reasoningOpen) {
            inReasoning = true;
            skipsBlank = true;
            return;
        }
        for (const CallOpening& opening : grammar.openings) {
            if (held == opening.mark && takesOpening(opening)) {
                open(opening);
                return;
            }
        }
        unsaid = 0;
        if (held == format.reasoningClose) {
            // Reasoning that was shown as content cannot be taken back; its end mark still goes.
            skipsBlank = true;
            return;
        }
        if (isAmong(format.answerOpens) && (!hasText || isControl(held))) {
            hasOpenedAnswer = true;
            skipsBlank = !hasText;
            return;
        }
        const bool isSilent =
            isAmong(grammar.leads) || (afterCall && isAmong(grammar.fillers)) ||
            (isAmong(format.answerCloses) && (hasOpenedAnswer || isControl(held)));
        if (!isSilent) {
            emitText(std::string(held));
        } else if (isAmong(grammar.leads)) {
            skipsBlank = true;
        }
    }

    [[nodiscard]] bool isAmong(const std::vector<std::string>& marks) const {
        return std::find(marks.begin(), marks.end(), held) != marks.end();
    }
    /// Marks in bars are no words that anybody would write.
    [[nodiscard]] static bool isControl(std::string_view mark) {
        return mark.find('|') != std::string_view::npos || mark.starts_with(kArrows);
    }

    void open(const CallOpening& opening) {
        blankAfterCall.clear();
        block = held;
        hasCallInBlock = false;
        skipsBlank = false;
        body = opening.makeBody();
        if (opening.isPartOfBody) {
            const std::string first = std::exchange(block, {});
            held.clear();
            for (const char c : first) {
                feedBody(c);
            }
        }
    }

    void end() {
        if (usesHarmony) {
            harmony.end();
        }
        if (body != nullptr) {
            body.reset();
            if (!hasCallInBlock) {
                emitText(std::exchange(block, {}));
            }
        }
        emitText(std::exchange(held, {}));
    }

    ReplyFormat format;
    tool_parsers::ParameterTypes types;
    tool_parsers::CallGrammar grammar;
    MessageContent messageContent;
    tool_parsers::HarmonyParser harmony;
    bool usesHarmony = false;
    std::vector<ReplyDelta> deltas;
    std::size_t calls = 0;
    std::string held;      // may be the beginning of a mark
    std::string heldMark;  // a whole mark that may yet become a longer one
    std::string block;     // what the body was given, with its mark
    std::unique_ptr<CallBody> body;
    bool hasCallInBlock = false;
    bool inReasoning = false;
    bool skipsBlank = false;  // white space beside a mark of reasoning
    std::size_t unsaid = 0;   // bytes of the prompt that were scanned with the reply
    bool hasOpenedAnswer = false;
    bool hasText = false;  // content that is not white space was seen
    bool afterCall = false;
    std::string blankAfterCall;
};

ReplyParser::ReplyParser(ReplyFormat format, std::string_view promptEnd,
                         const std::vector<std::string>& tools)
    : m_state(std::make_unique<State>(std::move(format), promptEnd, tools)) {}
ReplyParser::~ReplyParser() = default;
ReplyParser::ReplyParser(ReplyParser&&) noexcept = default;
ReplyParser& ReplyParser::operator=(ReplyParser&&) noexcept = default;

std::vector<ReplyDelta> ReplyParser::push(std::string_view text) {
    for (const char c : text) {
        m_state->feed(c);
    }
    return std::exchange(m_state->deltas, {});
}

std::vector<ReplyDelta> ReplyParser::finish() {
    m_state->end();
    return std::exchange(m_state->deltas, {});
}

bool ReplyParser::isReasoning() const {
    return m_state->usesHarmony ? m_state->harmony.isReasoning() : m_state->inReasoning;
}

}  // namespace quern::engine
