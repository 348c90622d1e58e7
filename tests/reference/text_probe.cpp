// The text room behind one pipe: a JSON object a line in, a JSON object a line out, so that scripts
// can hold thousands of cases against a reference without a process for each.
//
//   {"op": "render", "template": …, "messages": "[…]", "tools": "[…]", "documents": "[…]",
//    "kwargs": "{…}", "bos": …, "eos": …, "now": 1768478400}   → {"text": …} or {"error": …}
//   {"op": "load", "path": …}                                  → {"description": …} or {"error": …}
//   {"op": "encode", "text": …, "special": true, "parse": true} → {"ids": […]} or {"error": …}
//   {"op": "decode", "ids": […], "skip": true}                 → {"hex": …, "streamed": …}
//   {"op": "reply", "template": …, "prompt": …, "tools": ["{…}"], "text": …, "cut": 0}
//        → {"content": …, "reasoning": …, "calls": [[name, arguments], …]}
//
// JSON inside the JSON stands as text, so that numbers and the order of keys reach the engine as
// they were written. "cut": bytes a push; 0 for all at once.
#include <cstdio>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "engine/reply_parser.h"
#include "engine/text.h"

namespace quern::engine {
namespace {

using Json = nlohmann::ordered_json;

std::string textOf(const Json& in, const char* key) {
    return in.contains(key) && in.at(key).is_string() ? in.at(key).get<std::string>() : "";
}

bool flagOf(const Json& in, const char* key) {
    return in.contains(key) && in.at(key).get<bool>();
}

Json errorOf(const Error& error) {
    return {{"error", error.message}};
}

std::string hexOf(std::string_view bytes) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        const auto byte = static_cast<unsigned char>(c);
        out += kDigits[byte >> 4U];
        out += kDigits[byte & 15U];
    }
    return out;
}

class TextProbe {
public:
    Json answer(const Json& in) {
        const std::string op = textOf(in, "op");
        if (op == "render") {
            return render(in);
        }
        if (op == "load") {
            return load(in);
        }
        if (op == "encode" || op == "decode") {
            if (m_tokenizer == nullptr) {
                return {{"error", "no tokenizer is loaded"}};
            }
            return op == "encode" ? encode(in) : decode(in);
        }
        if (op == "reply") {
            return reply(in);
        }
        return {{"error", "unknown op"}};
    }

private:
    static Json render(const Json& in) {
        const auto made = ChatTemplate::create(textOf(in, "template"));
        if (!made) {
            return errorOf(made.error());
        }
        TemplateInput input;
        input.messages = textOf(in, "messages");
        input.tools = textOf(in, "tools");
        input.documents = textOf(in, "documents");
        input.kwargs = textOf(in, "kwargs");
        input.bos = textOf(in, "bos");
        input.eos = textOf(in, "eos");
        if (in.contains("now")) {
            input.now = in.at("now").get<std::int64_t>();
        }
        const auto text = (*made)->render(input);
        return text ? Json{{"text", *text}} : errorOf(text.error());
    }

    Json load(const Json& in) {
        m_tokenizer = nullptr;
        auto loaded = loadTokenizer(textOf(in, "path"));
        if (!loaded) {
            return errorOf(loaded.error());
        }
        m_tokenizer = std::move(*loaded);
        return {{"description", m_tokenizer->description()}};
    }

    [[nodiscard]] Json encode(const Json& in) const {
        const auto ids = m_tokenizer->encode(
            textOf(in, "text"),
            {.addSpecial = flagOf(in, "special"), .parseSpecial = flagOf(in, "parse")});
        return ids ? Json{{"ids", *ids}} : errorOf(ids.error());
    }

    [[nodiscard]] Json decode(const Json& in) const {
        const auto ids = in.at("ids").get<std::vector<TokenId>>();
        Detokenizer detokenizer(*m_tokenizer, flagOf(in, "skip"));
        std::string streamed;
        for (const TokenId id : ids) {
            streamed += detokenizer.push(id);
        }
        streamed += detokenizer.takeUnfinished();
        return {{"hex", hexOf(m_tokenizer->decode(ids, flagOf(in, "skip")))},
                {"streamed", hexOf(streamed)}};
    }

    static Json reply(const Json& in) {
        ReplyParser parser(recognizeReplyFormat(textOf(in, "template")), textOf(in, "prompt"),
                           in.at("tools").get<std::vector<std::string>>());
        std::map<ReplyDelta::Kind, std::string> texts;
        Json calls = Json::array();
        const auto take = [&](const std::vector<ReplyDelta>& deltas) {
            for (const ReplyDelta& delta : deltas) {
                if (delta.kind == ReplyDelta::Kind::kCallName) {
                    calls.push_back(Json::array({delta.text, ""}));
                } else if (delta.kind == ReplyDelta::Kind::kCallArguments) {
                    auto& arguments = calls.at(delta.call).at(1);
                    arguments = arguments.get<std::string>() + delta.text;
                } else {
                    texts[delta.kind] += delta.text;
                }
            }
        };
        const std::string text = textOf(in, "text");
        const auto cut = in.contains("cut") ? in.at("cut").get<std::size_t>() : 0;
        const std::size_t step = cut == 0 ? text.size() + 1 : cut;
        for (std::size_t at = 0; at < text.size(); at += step) {
            take(parser.push(std::string_view(text).substr(at, step)));
        }
        take(parser.finish());
        return {{"content", texts[ReplyDelta::Kind::kContent]},
                {"reasoning", texts[ReplyDelta::Kind::kReasoning]},
                {"calls", calls}};
    }

    std::shared_ptr<const Tokenizer> m_tokenizer;
};

}  // namespace
}  // namespace quern::engine

int main() {
    using quern::engine::Json;
    quern::engine::TextProbe probe;
    std::string line;
    while (std::getline(std::cin, line)) {
        const Json in = Json::parse(line, nullptr, false);
        const Json out = in.is_object() ? probe.answer(in) : Json{{"error", "not a JSON object"}};
        std::cout << out.dump(-1, ' ', true, Json::error_handler_t::replace) << '\n' << std::flush;
    }
    return 0;
}
