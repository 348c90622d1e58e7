// A server for real clients' tests, over an engine that says back what it was told: its reply is
// the text of the last message, in small pieces, so that a test writes what a model would. Takes
// the sign of a reply format ("<tool_call>") as its argument; runs until its input ends.
#include <cstdio>
#include <iostream>
#include <string>
#include <thread>

#include "app/server/server.h"
#include "tests/support/scripted_engine.h"

namespace quern::test {
namespace {

using engine::PreparedRequest;
using engine::RequestId;

constexpr std::size_t kPieceBytes = 5;

std::string lastText(const PreparedRequest& request) {
    const auto& chat = std::get<engine::ChatPrompt>(request.request.prompt);
    std::string text;
    for (const std::string& part : chat.messages.back().textParts) {
        text += part;
    }
    return text;
}

class ParrotEngine : public ScriptedEngine {
public:
    using ScriptedEngine::ScriptedEngine;
    Result<RequestId> submit(PreparedRequest request,
                             std::shared_ptr<engine::EventSink> sink) override {
        const std::string text = lastText(request);
        const std::int32_t most = request.request.output.maxTokens.value_or(1 << 20);
        auto id = ScriptedEngine::submit(std::move(request), std::move(sink));
        if (id) {
            m_speakers.emplace_back(
                [this, request = *id, text, most] { speak(request, text, most); });
        }
        return id;
    }

private:
    void speak(RequestId id, const std::string& text, std::int32_t most) {
        const bool isCut = text.size() > static_cast<std::size_t>(most);
        const std::string said = text.substr(0, static_cast<std::size_t>(most));
        for (std::size_t from = 0; from < said.size();) {
            std::size_t to = std::min(said.size(), from + kPieceBytes);
            while (to < said.size() && (static_cast<unsigned char>(said[to]) & 0xC0) == 0x80) {
                ++to;  // no event ends inside a character
            }
            say(id, said.substr(from, to - from));
            from = to;
        }
        engine::FinishInfo end;
        end.reason = isCut ? engine::FinishReason::kLength : engine::FinishReason::kStop;
        finish(id, std::move(end));
    }

    std::vector<std::jthread> m_speakers;  // of test replies: few
};

int serve(const std::string& sign) {
    ParrotEngine engine(1 << 16);
    engine.speakLike("{# " + sign + " #}");
    auto server = app::Server::start(engine, {.port = 0});
    if (!server) {
        std::fprintf(stderr, "%s\n", server.error().message.c_str());
        return 1;
    }
    std::printf("%s\n", (*server)->url().c_str());
    std::fflush(stdout);
    std::string line;
    while (std::getline(std::cin, line)) {
    }
    (*server)->stop(std::chrono::milliseconds(0));
    return 0;
}

}  // namespace
}  // namespace quern::test

int main(int argc, char** argv) {
    return quern::test::serve(argc > 1 ? argv[1] : "<tool_call>");
}
