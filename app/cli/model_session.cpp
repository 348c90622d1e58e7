#include "app/cli/model_session.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace quern::cli {

namespace {

const char* stageName(engine::LoadStage stage) {
    switch (stage) {
        case engine::LoadStage::kReading:
            return "reading";
        case engine::LoadStage::kWeights:
            return "weights";
        case engine::LoadStage::kCache:
            return "KV cache";
        case engine::LoadStage::kReady:
            return "ready";
    }
    return "";
}

std::string stopName(const engine::FinishInfo& finish) {
    switch (finish.reason) {
        case engine::FinishReason::kStop:
            return finish.stopToken ? "eos" : fmt::format("\"{}\"", finish.stopReason);
        case engine::FinishReason::kLength:
            return "length";
        case engine::FinishReason::kContext:
            return "context full";
        case engine::FinishReason::kCancelled:
            return "stopped";
        case engine::FinishReason::kDeadline:
            return "deadline";
        case engine::FinishReason::kError:
            return "error";
    }
    return "";
}

}  // namespace

Result<ModelSession> ModelSession::open(const app::ModelLibrary& library,
                                        const std::string& nameOrPath, const ModelFlags& flags,
                                        bool isQuiet) {
    auto path = library.resolve(nameOrPath);
    if (!path) {
        return forward(path);
    }
    auto options = flags.loadOptions(*path);
    if (!options) {
        return forward(options);
    }
    ModelSession session;
    auto engine = engine::makeEngine(flags.engineOptions());
    if (!engine) {
        return forward(engine);
    }
    session.engine = std::move(*engine);
    const bool showsProgress = !isQuiet && ::isatty(STDERR_FILENO) != 0;
    int lastPercent = -1;
    auto model = session.engine->load(*options, [&](const engine::LoadProgress& progress) {
        const int percent = static_cast<int>(progress.fraction * 100.0);
        if (showsProgress && std::exchange(lastPercent, percent) != percent) {
            std::fprintf(stderr, "\rloading: %s %3d %%\033[K", stageName(progress.stage), percent);
        }
        return true;
    });
    if (showsProgress) {
        std::fputs("\r\033[K", stderr);
    }
    if (!model) {
        return forward(model);
    }
    session.model = std::move(*model);
    if (!isQuiet) {
        for (const std::string& note : session.model->notes) {
            std::fprintf(stderr, "quern: %s\n", note.c_str());
        }
    }
    return session;
}

std::string figuresLine(double tokensPerSecond, std::int64_t tokens, double ttftMs,
                        std::int64_t promptTokens, std::int64_t cachedTokens,
                        const std::string& stop) {
    const double hit = promptTokens > 0 ? 100.0 * static_cast<double>(cachedTokens) /
                                              static_cast<double>(promptTokens)
                                        : 0.0;
    return fmt::format("{:.1f} tok/s · {} tok · TTFT {:.0f} ms · prefix hit {:.0f} % · stop: {}",
                       tokensPerSecond, tokens, ttftMs, hit, stop);
}

std::string replyLine(const engine::FinishInfo& finish) {
    const engine::Usage& usage = finish.usage;
    const double rate = usage.completionTokens > 1 && usage.decodeSeconds > 0
                            ? (usage.completionTokens - 1) / usage.decodeSeconds
                            : 0.0;
    return figuresLine(rate, usage.completionTokens, usage.ttftSeconds * 1000.0, usage.promptTokens,
                       usage.cachedTokens, stopName(finish));
}

std::string withoutTerminalControls(const std::string& text) {
    std::string safe;
    safe.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const bool isC0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F;
        // C1 controls are U+0080 … U+009F: C2 80 … C2 9F in UTF-8.
        const bool isC1 =
            byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
        if (isC0) {
            safe += fmt::format("\\x{:02x}", byte);
        } else if (isC1) {
            ++i;
            safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
        } else {
            safe += text[i];
        }
    }
    return safe;
}

}  // namespace quern::cli
