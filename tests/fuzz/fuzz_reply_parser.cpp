// Any text as a reply, in each dialect. The first byte chooses it, the second how the text is cut;
// the cuts must change nothing but how the deltas are cut.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "engine/reply_parser.h"

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

std::vector<ReplyDelta> parse(const ReplyFormat& format, std::string_view text, std::size_t piece) {
    ReplyParser parser(format, "", tools());
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
    ReplyFormat format{.calls = static_cast<CallDialect>((data[0] & 0x7FU) % kDialects)};
    if ((data[0] & 0x80U) != 0) {
        format.reasoningOpen = "<think>";
        format.reasoningClose = "</think>";
    }
    const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
    const auto whole = parse(format, text, text.size() + 1);
    const auto cut = parse(format, text, 1 + data[1] % 16U);
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
