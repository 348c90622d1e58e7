#include "app/cli/bench_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <random>

#include "app/cli/exit_codes.h"
#include "app/cli/model_session.h"
#include "app/cli/reply_stream.h"
#include "kernels/kernels.h"
#include "kernels/quant.h"

namespace quern::cli {

namespace {

using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

struct Spread {
    double median = 0;
    double least = 0;
    double most = 0;
};

Spread spreadOf(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    if (values.empty()) {
        return {};
    }
    const std::size_t middle = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2.0;
    return {.median = median, .least = values.front(), .most = values.back()};
}

Json asJson(const Spread& spread) {
    return {{"median", spread.median}, {"min", spread.least}, {"max", spread.most}};
}

/// Prompts of random tokens from a fixed seed: every run of the program measures the same work.
class RandomPrompts {
public:
    explicit RandomPrompts(std::int64_t vocabSize)
        : m_tokens(static_cast<engine::TokenId>(vocabSize / 10),
                   static_cast<engine::TokenId>(vocabSize - vocabSize / 10)) {}
    std::vector<engine::TokenId> next(std::int32_t length) {
        std::vector<engine::TokenId> ids(static_cast<std::size_t>(length));
        std::generate(ids.begin(), ids.end(), [this] { return m_tokens(m_random); });
        return ids;
    }

private:
    std::mt19937 m_random{20260115};
    std::uniform_int_distribution<engine::TokenId> m_tokens;
};

Result<std::shared_ptr<ReplyStream>> start(ModelSession& session, std::vector<engine::TokenId> ids,
                                           std::int32_t maxTokens) {
    engine::Request request;
    request.model = session.model->name;
    request.prompt = std::move(ids);
    request.sampling.temperature = 0.0F;
    request.output.maxTokens = maxTokens;
    request.output.ignoreEos = true;
    request.clientId = "bench";
    auto prepared = session.engine->prepare(std::move(request));
    if (!prepared) {
        return forward(prepared);
    }
    auto stream = std::make_shared<ReplyStream>();
    auto id = session.engine->submit(std::move(*prepared), stream);
    if (!id) {
        return forward(id);
    }
    return stream;
}

Result<engine::Usage> finish(ReplyStream& stream, std::vector<double>* gaps = nullptr) {
    std::optional<Clock::time_point> last;
    while (true) {
        const engine::TokenEvent event = stream.next();
        if (gaps != nullptr && !event.tokens.empty()) {
            const auto now = Clock::now();
            if (last) {
                gaps->push_back(std::chrono::duration<double>(now - *last).count());
            }
            last = now;
        }
        if (event.finish) {
            if (event.finish->error) {
                return tl::unexpected<Error>(*event.finish->error);
            }
            return event.finish->usage;
        }
    }
}

Json conditions(const ModelSession& session, std::int32_t threads) {
    Json json;
    for (const auto& device : kernels::devices()) {
        if (device.id == "cpu") {
            json["cpu"] = device.name;
            json["tier"] = device.tier;
            json["threads"] = threads > 0 ? threads : device.threads;
        }
    }
    const engine::LoadedModel& model = *session.model;
    json["model"] = model.name;
    json["quantization"] = model.info.quantization;
    json["file_bytes"] = model.info.fileBytes;
    json["activations"] = model.options.activations == kernels::ActivationType::kQ8 ? "q8" : "f32";
    json["kv_type"] = std::string(kernels::traits(model.options.kvType).name);
    json["context"] = model.options.contextTokens;
    json["load_seconds"] = model.loadSeconds;
    return json;
}

void print(const BenchOptions& options, const Json& json, const std::string& sentence) {
    if (options.asJson) {
        std::printf("%s\n", json.dump(2).c_str());
        return;
    }
    const Json& c = json["conditions"];
    std::printf("%s\n  %s, %s, %s · %s %s, activations %s, KV %s\n", sentence.c_str(),
                c.value("cpu", "").c_str(), c.value("tier", "").c_str(),
                fmt::format("{} threads", c.value("threads", 0)).c_str(),
                c.value("model", "").c_str(), c.value("quantization", "").c_str(),
                c.value("activations", "").c_str(), c.value("kv_type", "").c_str());
}

/// Runs one kind of single-sequence measurement; the first, untimed, warms caches and clocks.
template <class Rate>
int runSingle(const BenchOptions& options, const app::ModelLibrary& library, const char* kind,
              std::int32_t promptTokens, std::int32_t replyTokens, Rate rateOf) {
    auto session = ModelSession::open(library, options.model, options.modelFlags, true);
    if (!session) {
        return reportError(session.error());
    }
    RandomPrompts prompts(session->model->info.vocabSize);
    std::vector<double> rates;
    for (std::int32_t i = 0; i <= options.repeats; ++i) {
        auto stream = start(*session, prompts.next(promptTokens), replyTokens);
        if (!stream) {
            return reportError(stream.error());
        }
        auto usage = finish(**stream);
        if (!usage) {
            return reportError(usage.error());
        }
        if (i > 0) {
            rates.push_back(rateOf(*usage));
        }
    }
    const Spread spread = spreadOf(rates);
    const Json json{{"kind", kind},
                    {"prompt_tokens", promptTokens},
                    {"reply_tokens", replyTokens},
                    {"repeats", options.repeats},
                    {"tokens_per_second", asJson(spread)},
                    {"conditions", conditions(*session, options.modelFlags.threads)}};
    print(options, json,
          fmt::format("{} {}: {:.1f} tok/s ({:.1f} … {:.1f})", kind,
                      replyTokens > 1 ? replyTokens : promptTokens, spread.median, spread.least,
                      spread.most));
    return kExitOk;
}

Result<Json> measureConcurrency(ModelSession& session, RandomPrompts& prompts,
                                std::int32_t concurrency, std::int32_t replyTokens) {
    constexpr std::int32_t kPromptTokens = 128;
    std::vector<std::shared_ptr<ReplyStream>> streams;
    const auto begin = Clock::now();
    for (std::int32_t i = 0; i < concurrency; ++i) {
        auto stream = start(session, prompts.next(kPromptTokens), replyTokens);
        if (!stream) {
            return forward(stream);
        }
        streams.push_back(std::move(*stream));
    }
    std::vector<double> firsts;
    std::int64_t tokens = 0;
    double decodeSeconds = 0;
    for (const auto& stream : streams) {
        auto usage = finish(*stream);
        if (!usage) {
            return forward(usage);
        }
        firsts.push_back(usage->ttftSeconds * 1000.0);
        tokens += usage->completionTokens;
        decodeSeconds += usage->decodeSeconds / std::max(usage->completionTokens - 1, 1);
    }
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return Json{{"concurrency", concurrency},
                {"prompt_tokens", kPromptTokens},
                {"reply_tokens", replyTokens},
                {"output_tokens_per_second", static_cast<double>(tokens) / seconds},
                {"ttft_ms", asJson(spreadOf(firsts))},
                {"mean_inter_token_ms", decodeSeconds * 1000.0 / concurrency}};
}

}  // namespace

int runBenchPrefill(const BenchOptions& options, const app::ModelLibrary& library) {
    const std::int32_t length = options.tokens > 0 ? options.tokens : 512;
    return runSingle(options, library, "prefill", length, 1, [](const engine::Usage& usage) {
        return usage.promptTokens / usage.prefillSeconds;
    });
}

int runBenchDecode(const BenchOptions& options, const app::ModelLibrary& library) {
    const std::int32_t length = options.tokens > 1 ? options.tokens : 64;
    return runSingle(options, library, "decode", 16, length, [](const engine::Usage& usage) {
        return (usage.completionTokens - 1) / usage.decodeSeconds;
    });
}

int runBenchServe(const BenchOptions& options, const app::ModelLibrary& library) {
    auto session = ModelSession::open(library, options.model, options.modelFlags, true);
    if (!session) {
        return reportError(session.error());
    }
    const std::vector<std::int32_t> sweep =
        options.concurrency.empty() ? std::vector<std::int32_t>{1, 4, 16} : options.concurrency;
    RandomPrompts prompts(session->model->info.vocabSize);
    Json json{{"kind", "serve"},
              {"runs", Json::array()},
              {"conditions", conditions(*session, options.modelFlags.threads)}};
    std::string sentence = "serve, 128 prompt tokens:";
    for (const std::int32_t concurrency : sweep) {
        auto run = measureConcurrency(*session, prompts, concurrency,
                                      options.tokens > 0 ? options.tokens : 64);
        if (!run) {
            return reportError(run.error());
        }
        sentence += fmt::format(
            "\n  {:>3} at once: {:8.1f} tok/s out · TTFT {:.0f} ms (median) · {:.1f} ms a token",
            concurrency, (*run)["output_tokens_per_second"].get<double>(),
            (*run)["ttft_ms"]["median"].get<double>(), (*run)["mean_inter_token_ms"].get<double>());
        json["runs"].push_back(std::move(*run));
    }
    print(options, json, sentence);
    return kExitOk;
}

}  // namespace quern::cli
