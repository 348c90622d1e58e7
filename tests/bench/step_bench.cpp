// Whole steps of a model-shaped op list with random weights: what a backend makes of a forward
// pass, without files or samplers. `step_bench [--tier generic|avx2] [--threads N] [--prompt N]
// [--context N] [--batch N] [--tokens N] [--profile] [--describe]`.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <map>
#include <string>
#include <vector>

#include "engine/formats/model_source.h"
#include "engine/model/forward.h"
#include "tests/kernels/cpu/list_builder.h"
#include "tests/kernels/cpu/session.h"

namespace quern::kernels::test {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
    CpuTier tier = CpuTier::kAuto;
    std::int32_t threads = 0;
    std::int32_t prompt = 512;
    std::int32_t context = 0;  // tokens in the cache before decode is measured, besides the prompt
    std::int32_t batch = 1;
    std::int32_t tokens = 64;
    std::int32_t repeat = 3;
    std::string model;
    bool isProfiling = false;
    bool isDescribing = false;
};

// The shape of SmolLM2-135M.
ModelShape shape() {
    return {.vocab = 49152,
            .hidden = 576,
            .layers = 30,
            .heads = 9,
            .kvHeads = 3,
            .keyDim = 64,
            .valueDim = 64,
            .inner = 1536,
            .type = DType::kQ4_1,
            .tableType = DType::kQ8_0,
            .kvType = DType::kF16,
            .isTied = true,
            .layout = RopeLayout::kPairs};
}

/// An op list and what its weights' data belongs to.
struct Loaded {
    engine::ModelSource source;
    engine::ForwardPass pass;
    TestList list;
};

Loaded load(const std::string& path) {
    if (path.empty()) {
        return {.source = {}, .pass = {}, .list = makeModel(shape(), 1)};
    }
    auto source = engine::openModel(path);
    if (!source) {
        throw std::runtime_error(source.error().message);
    }
    auto pass = engine::buildForward(source->spec, *source->tensors, 0);
    if (!pass) {
        throw std::runtime_error(pass.error().message);
    }
    Loaded loaded{.source = std::move(*source), .pass = std::move(*pass), .list = {}};
    loaded.list.ops = loaded.pass.ops;
    loaded.list.kv = loaded.pass.kv;
    loaded.list.kv.type = DType::kF16;
    loaded.list.borrowed = loaded.pass.weights;
    return loaded;
}

Options parse(int argc, char** argv) {
    Options options;
    const std::map<std::string, std::int32_t*> numbers{
        {"--threads", &options.threads}, {"--prompt", &options.prompt},
        {"--context", &options.context}, {"--batch", &options.batch},
        {"--repeat", &options.repeat},   {"--tokens", &options.tokens}};
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        if (name == "--profile") {
            options.isProfiling = true;
        } else if (name == "--describe") {
            options.isDescribing = true;
        } else if (name == "--model" && i + 1 < argc) {
            options.model = argv[++i];
        } else if (name == "--tier" && i + 1 < argc) {
            const std::string tier = argv[++i];
            for (const CpuTier known : availableCpuTiers()) {
                options.tier = tierName(known) == tier ? known : options.tier;
            }
        } else if (numbers.contains(name) && i + 1 < argc) {
            *numbers.at(name) = std::stoi(argv[++i]);
        }
    }
    return options;
}

/// Wall time, and the time all threads were on a processor: on a busy machine, with one thread, the
/// second is what counts.
struct Stopwatch {
    Clock::time_point wall = Clock::now();
    std::clock_t cpu = std::clock();
    void print(const std::string& what, double tokens) const {
        const double wallSeconds = std::chrono::duration<double>(Clock::now() - wall).count();
        const double cpuSeconds = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;
        std::printf("%s: %.1f t/s (%.1f t per processor second)\n", what.c_str(),
                    tokens / wallSeconds, tokens / cpuSeconds);
    }
};

/// Time by kind of stage, all layers together.
void printProfile(const Program& program) {
    std::map<std::string, std::int64_t> byName;
    std::int64_t total = 0;
    for (const OpTiming& timing : program.timings()) {
        const std::size_t slash = timing.name.find(" / ");
        byName[slash == std::string::npos ? timing.name : timing.name.substr(slash + 3)] +=
            timing.nanoseconds / std::max<std::int64_t>(1, timing.calls);
    }
    std::vector<std::pair<std::int64_t, std::string>> sorted;
    for (const auto& [name, nanoseconds] : byName) {
        sorted.emplace_back(nanoseconds, name);
        total += nanoseconds;
    }
    std::sort(sorted.rbegin(), sorted.rend());
    for (const auto& [nanoseconds, name] : sorted) {
        std::printf("  %9.1f us  %5.1f %%  %s\n", static_cast<double>(nanoseconds) / 1e3,
                    100.0 * static_cast<double>(nanoseconds) / static_cast<double>(total),
                    name.c_str());
    }
}

void run(const Options& options) {
    const auto backend = makeBackend(options.tier, options.threads);
    const DeviceInfo device = backend->device();
    std::printf("%s, %s, %d threads\n", device.name.c_str(), device.tier.c_str(), device.threads);
    const Loaded loaded = load(options.model);
    const TestList& list = loaded.list;
    const std::int64_t vocab = list.ops.values[static_cast<std::size_t>(list.ops.output)].cols;
    std::vector<Tokens> sequences;
    const std::int32_t length =
        options.prompt + options.context + options.tokens * options.repeat + 1;
    for (std::int32_t s = 0; s < options.batch + options.repeat; ++s) {
        sequences.push_back(randomTokens(length, vocab, static_cast<std::uint32_t>(s)));
    }
    CompileOptions compile{.maxTokens = std::max(options.prompt, 512), .maxOutputs = 256};
    Session session(*backend, list, sequences, 0, compile);
    session.setLastOutputOnly(true);
    if (options.isDescribing) {
        std::printf("%s", session.program().describe().c_str());
    }
    for (std::int32_t r = 0; r < options.repeat; ++r) {
        session.program().setProfiling(false);
        session.program().setProfiling(options.isProfiling);
        const Stopwatch watch;
        session.step({{static_cast<std::size_t>(options.batch + r), options.prompt}});
        watch.print("prefill " + std::to_string(options.prompt), options.prompt);
    }
    if (options.isProfiling) {
        printProfile(session.program());
    }
    std::vector<Piece> pieces;
    for (std::int32_t s = 0; s < options.batch; ++s) {
        for (std::int32_t done = 0; done < options.context;) {
            const std::int32_t count = std::min(options.prompt, options.context - done);
            session.step({{static_cast<std::size_t>(s), count}});
            done += count;
        }
        pieces.push_back({static_cast<std::size_t>(s), 1});
    }
    session.step(pieces);
    for (std::int32_t r = 0; r < options.repeat; ++r) {
        session.program().setProfiling(false);
        session.program().setProfiling(options.isProfiling);
        const Stopwatch watch;
        for (std::int32_t i = 0; i < options.tokens; ++i) {
            session.step(pieces);
        }
        watch.print("decode, batch " + std::to_string(options.batch) + ", context " +
                        std::to_string(options.context),
                    options.tokens * options.batch);
    }
    if (options.isProfiling) {
        printProfile(session.program());
    }
}

}  // namespace
}  // namespace quern::kernels::test

int main(int argc, char** argv) {
    try {
        quern::kernels::test::run(quern::kernels::test::parse(argc, argv));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "step_bench: %s\n", error.what());
        return 1;
    }
    return 0;
}
