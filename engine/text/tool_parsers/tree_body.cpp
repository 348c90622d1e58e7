// Calls whose arguments are trees of tags, as MiniMax M3 writes them.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "engine/text/tool_parsers/call_body.h"

namespace quern::engine::tool_parsers {
namespace {

constexpr std::string_view kMark = "]<]minimax[>[";

/// A value that is being read: text, or the values inside it.
struct Node {
    std::string key;
    std::string text;
    std::vector<std::pair<std::string, std::string>> members;  // key, JSON
};

std::string composed(const Node& node) {
    const bool isList = std::all_of(node.members.begin(), node.members.end(),
                                    [](const auto& member) { return member.first == "item"; });
    std::string json = isList ? "[" : "{";
    for (const auto& [key, value] : node.members) {
        json += (json.size() > 1 ? ", " : "") + (isList ? "" : quoteJson(key) + ": ") + value;
    }
    return json + (isList ? "]" : "}");
}

class TreeBody : public CallBody {
public:
    explicit TreeBody(const ParameterTypes& types) : m_types(types) {}

    Status feed(char c, CallSink& sink) override {
        m_text += c;
        if (c == kMark.back() && m_text.ends_with(kMark)) {
            m_mark = m_text.size() - kMark.size();
        }
        if (c != '>') {
            const bool isLost = m_nodes.empty() && m_text.size() > 512;
            return isLost ? Status::kFailed : Status::kMore;
        }
        const std::size_t mark = m_mark;
        if (mark == std::string::npos || m_text.compare(mark + kMark.size(), 1, "<") != 0) {
            return Status::kMore;
        }
        const std::string tag =
            m_text.substr(mark + kMark.size() + 1, m_text.size() - mark - kMark.size() - 2);
        m_text.resize(mark);
        if (m_nodes.empty() && !trimmed(m_text).empty()) {
            return Status::kFailed;
        }
        const Status status = take(tag, sink);
        m_text.clear();
        m_mark = std::string::npos;
        return status;
    }

private:
    static constexpr std::size_t kDeepest = 64;

    Status take(const std::string& tag, CallSink& sink) {
        if (tag.starts_with('/')) {
            return close(std::string_view(tag).substr(1), sink);
        }
        if (m_isOpen) {
            m_nodes.push_back({.key = tag, .text = {}, .members = {}});
            return m_nodes.size() < kDeepest ? Status::kMore : Status::kFailed;
        }
        constexpr std::string_view kHead = "invoke name=\"";
        if (!tag.starts_with(kHead)) {
            return Status::kFailed;
        }
        m_tool = tag.substr(kHead.size(), tag.find('"', kHead.size()) - kHead.size());
        if (!isCallName(m_tool)) {
            return Status::kFailed;
        }
        sink.beginCall(m_tool);
        m_count = 0;
        m_isOpen = true;
        m_hasCalls = true;
        return Status::kMore;
    }

    Status close(std::string_view word, CallSink& sink) {
        if (m_nodes.empty()) {
            if (word == "invoke" && m_isOpen) {
                sink.arguments(m_count == 0 ? "{}" : "}");
                m_isOpen = false;
                return Status::kMore;
            }
            return word == "tool_call" && m_hasCalls && !m_isOpen ? Status::kDone : Status::kFailed;
        }
        Node node = std::move(m_nodes.back());
        m_nodes.pop_back();
        if (word != node.key) {
            return Status::kFailed;
        }
        node.text = m_text;
        if (m_nodes.empty()) {
            sink.arguments((m_count++ == 0 ? "{" : ", ") + quoteJson(node.key) + ": " +
                           jsonOf(node, m_types.of(m_tool, node.key)));
        } else {
            m_nodes.back().members.emplace_back(node.key, jsonOf(node, {}));
        }
        return Status::kMore;
    }

    [[nodiscard]] std::string jsonOf(const Node& node, const ParameterType& type) const {
        if (!node.members.empty()) {
            return composed(node);
        }
        if (node.text.empty() && type.isKnown && !type.isText) {
            return type.isList ? "[]" : "{}";
        }
        return m_nodes.empty()                     ? m_types.toJson(m_tool, node.key, node.text)
               : nlohmann::json::accept(node.text) ? node.text
                                                   : quoteJson(node.text);
    }

    const ParameterTypes& m_types;
    std::string m_tool;
    std::string m_text;
    std::size_t m_mark = std::string::npos;  // where the last mark in m_text begins
    std::vector<Node> m_nodes;
    std::size_t m_count = 0;
    bool m_isOpen = false;  // inside an invoke tag
    bool m_hasCalls = false;
};

}  // namespace

std::unique_ptr<CallBody> makeTreeBody(const ParameterTypes& types) {
    return std::make_unique<TreeBody>(types);
}

}  // namespace quern::engine::tool_parsers
