// Any text as a reply, in each dialect. The first byte chooses it and the marks around reasoning
// and answers, the second how the text is cut and whether the prompt opened reasoning; the cuts
// must change nothing but how the deltas are cut, and where no calls are looked for nothing may be
// lost but marks and white space beside them.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reply_parser.h"
#include "tests/fuzz/justified_memory.h"

namespace {

using quern::engine::CallDialect;
using quern::engine::ReplyDelta;
using quern::engine::ReplyFormat;
using quern::engine::ReplyParser;

const std::vector<std::string>& tools() {
    static const std::vector<std::string> kTools{
        R"({"type":"function","function":{"name":"f","parameters":{"type":"object",
            "properties":{"a":{"type":"string"},"n":{"type":"integer"}}}}})"};
    return kTools;
}

// Deltas of one kind and call, one after the other, are one.
std::vector<ReplyDelta> joined(const std::vector<ReplyDelta>& deltas) {
    std::vector<ReplyDelta> result;
    for (const ReplyDelta& delta : deltas) {
        if (!result.empty() && result.back().kind == delta.kind &&
            result.back().call == delta.call && delta.kind != ReplyDelta::Kind::kCallName) {
            result.back().text += delta.text;
        } else if (!delta.text.empty()) {
            result.push_back(delta);
        }
    }
    return result;
}

std::string withoutBlanks(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (std::string_view(" \n\r\t").find(c) == std::string_view::npos) {
            out += c;
        }
    }
    return out;
}

std::vector<std::string> marksAround(const ReplyFormat& format) {
    std::vector<std::string> marks = format.answerOpens;
    marks.insert(marks.end(), format.answerCloses.begin(), format.answerCloses.end());
    if (!format.reasoningOpen.empty()) {
        marks.push_back(format.reasoningOpen);
        marks.push_back(format.reasoningClose);
    }
    return marks;
}

// Whether `kept` is `text` without some of the marks; both without white space.
bool isTextWithoutMarks(std::string_view text, std::string_view kept,
                        const std::vector<std::string>& marks) {
    while (!text.empty()) {
        // A mark that was kept goes on as text, one that was taken does not.
        const auto taken = std::ranges::find_if(marks, [&](const std::string& mark) {
            return text.starts_with(mark) && !kept.starts_with(mark);
        });
        if (taken != marks.end()) {
            text.remove_prefix(taken->size());
        } else if (!kept.empty() && kept.front() == text.front()) {
            text.remove_prefix(1);
            kept.remove_prefix(1);
        } else {
            return false;
        }
    }
    return kept.empty();
}

std::vector<ReplyDelta> parse(const ReplyFormat& format, std::string_view promptEnd,
                              std::string_view text, std::size_t piece) {
    ReplyParser parser(format, promptEnd, tools());
    std::vector<ReplyDelta> all;
    const auto add = [&](std::vector<ReplyDelta> deltas) {
        for (ReplyDelta& delta : deltas) {
            all.push_back(std::move(delta));
        }
    };
    for (std::size_t at = 0; at < text.size(); at += piece) {
        add(parser.push(text.substr(at, piece)));
    }
    add(parser.finish());
    return joined(all);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2) {
        return 0;
    }
    constexpr unsigned kDialects = static_cast<unsigned>(CallDialect::kGemma) + 1;
    ReplyFormat format{.calls = static_cast<CallDialect>((data[0] & 0x3FU) % kDialects)};
    if ((data[0] & 0x80U) != 0) {
        format.reasoningOpen = "<think>";
        format.reasoningClose = "</think>";
    }
    if ((data[0] & 0x40U) != 0) {
        format.answerOpens = {"<answer>", "[BEGIN]"};
        format.answerCloses = {"</answer>", "[END]"};
    }
    const std::string_view promptEnd = (data[1] & 0x10U) != 0 ? "assistant\n<think>\n" : "";
    const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
    const quern::test::JustifiedMemory memory((std::size_t{1} << 20U) + 512 * size);
    const auto whole = parse(format, promptEnd, text, text.size() + 1);
    const auto cut = parse(format, promptEnd, text, 1 + data[1] % 16U);
    if (format.calls == CallDialect::kNone) {
        std::string kept;
        for (const ReplyDelta& delta : whole) {
            kept += delta.text;
        }
        const std::vector<std::string> marks = marksAround(format);
        const bool isWhole =
            marks.empty() ? kept == text
                          : isTextWithoutMarks(withoutBlanks(text), withoutBlanks(kept), marks);
        if (!isWhole) {
            std::abort();
        }
    }
    if (whole.size() != cut.size()) {
        std::abort();
    }
    for (std::size_t i = 0; i < whole.size(); ++i) {
        if (whole[i].kind != cut[i].kind || whole[i].call != cut[i].call ||
            whole[i].text != cut[i].text) {
            std::abort();
        }
    }
    return 0;
}
