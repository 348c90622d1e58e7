// Speed of tokenizing and of decoding, in bytes of text a second, one thread.
//   tokenizer_bench --benchmark_filter=llama-bpe
// The vocabularies are the golden ones ($QUERN_GOLDEN); without them nothing is measured.

#include <benchmark/benchmark.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "engine/text.h"
#include "tests/support/golden.h"

namespace quern::engine {
namespace {

/// English prose and code of about `bytes`, the same on every machine: sentences over a list of
/// words, drawn with a fixed generator, so that most words come many times and some once.
std::string englishText(std::size_t bytes) {
    constexpr std::string_view kWords[] = {
        "the",          "of",        "and",        "to",
        "in",           "engine",    "a",          "that",
        "is",           "was",       "he",         "for",
        "memory",       "it",        "with",       "as",
        "his",          "on",        "be",         "at",
        "by",           "had",       "not",        "are",
        "but",          "from",      "or",         "have",
        "an",           "they",      "which",      "one",
        "you",          "were",      "her",        "all",
        "she",          "there",     "would",      "their",
        "we",           "him",       "been",       "has",
        "when",         "who",       "will",       "more",
        "no",           "if",        "out",        "scheduler",
        "prefix",       "blocks",    "sequence",   "tokens",
        "although",     "quietly",   "mountain",   "breakfast",
        "umbrella",     "paragraph", "generation", "don't",
        "it's",         "Zürich",    "3.14159",    "https://example.org/a?b=c",
        "kvCacheBytes",
    };
    std::string text;
    std::uint64_t state = 42;
    const auto next = [&state](std::uint64_t bound) {
        state = state * 6364136223846793005ULL + 1442695040888963407ULL;
        return (state >> 33) % bound;
    };
    while (text.size() < bytes) {
        const std::uint64_t words = 6 + next(15);
        for (std::uint64_t i = 0; i < words; ++i) {
            // Two draws, the smaller counts: the first words of the list are the frequent ones.
            const std::uint64_t at = std::min(next(std::size(kWords)), next(std::size(kWords)));
            std::string word(kWords[at]);
            if (i == 0 && word[0] >= 'a' && word[0] <= 'z') {
                word[0] = static_cast<char>(word[0] - 'a' + 'A');
            }
            text += (i == 0 ? "" : next(12) == 0 ? ", " : " ") + word;
        }
        text += next(5) == 0 ? ".\n\n" : ". ";
    }
    return text;
}

void encode(benchmark::State& state, const std::string& path, const std::string& text) {
    const auto tokenizer = loadTokenizer(path);
    if (!tokenizer) {
        state.SkipWithError(tokenizer.error().message.c_str());
        return;
    }
    std::size_t tokens = 0;
    for (auto step : state) {
        static_cast<void>(step);
        const auto ids = (*tokenizer)->encode(text, {});
        tokens = ids ? ids->size() : 0;
        benchmark::DoNotOptimize(tokens);
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
    state.counters["tokens"] = static_cast<double>(tokens);
}

void decode(benchmark::State& state, const std::string& path, const std::string& text) {
    const auto tokenizer = loadTokenizer(path);
    const auto ids = tokenizer ? (*tokenizer)->encode(text, {}) : std::vector<TokenId>{};
    if (!tokenizer || !ids) {
        state.SkipWithError("no tokenizer");
        return;
    }
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize((*tokenizer)->decode(*ids, true));
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * text.size()));
}

void load(benchmark::State& state, const std::string& path) {
    for (auto step : state) {
        static_cast<void>(step);
        benchmark::DoNotOptimize(loadTokenizer(path));
    }
}

}  // namespace
}  // namespace quern::engine

int main(int argc, char** argv) {
    using namespace quern;
    const auto golden = test::goldenDir();
    if (!golden) {
        std::cerr << "no golden vocabularies: set QUERN_GOLDEN\n";
        return 1;
    }
    const std::string english = engine::englishText(4 << 20);
    const std::string longLine(10 << 20, 'a');
    for (const std::string name :
         {"llama-bpe", "gpt-2", "qwen2", "deepseek-coder", "llama-spm", "bert-bge"}) {
        const std::string path = (*golden / "tokenizers-gguf" / (name + ".gguf")).string();
        const auto add = [&](const std::string& what, auto function, const auto&... arguments) {
            benchmark::RegisterBenchmark((what + "/" + name).c_str(), function, path, arguments...)
                ->Unit(benchmark::kMillisecond);
        };
        add("load", engine::load);
        add("encode-english-4MB", engine::encode, english);
        add("decode-english-4MB", engine::decode, english);
        add("encode-one-10MB-line", engine::encode, longLine);
    }
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
