#include "app/cli/verify_command.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ostream>
#include <span>
#include <utility>

#include "app/cli/golden_cases.h"
#include "app/cli/verify_report.h"
#include "app/cli/verify_vectors.h"
#include "engine/logprobs.h"

namespace quern::cli {

namespace {

using engine::ScoreOptions;
using engine::Scorer;
using engine::TokenId;

/// Logits of one case: the reference's own tokens are fed back, so that one row a greedy token
/// follows the rows of the ids.
struct Rows {
    std::vector<float> logits;
    std::size_t vocab = 0;

    [[nodiscard]] std::size_t count() const { return logits.size() / vocab; }
    [[nodiscard]] std::span<const float> row(std::size_t index) const {
        return std::span(logits).subspan(index * vocab, vocab);
    }
};

// Where positions depend on a text's length, each greedy token's row comes from a text that ends
// before it.
Status scoreOneByOne(Scorer& scorer, const GoldenCase& golden, Rows& rows) {
    std::vector<TokenId> ids = golden.ids;
    for (std::size_t i = 0; i < std::max<std::size_t>(1, golden.greedy.size()); ++i) {
        auto logits = scorer.logits(ids);
        if (!logits) {
            return tl::unexpected<Error>(logits.error());
        }
        const std::size_t from = i == 0 ? 0 : logits->size() - rows.vocab;
        rows.logits.insert(rows.logits.end(), logits->begin() + static_cast<std::ptrdiff_t>(from),
                           logits->end());
        if (i < golden.greedy.size()) {
            ids.push_back(golden.greedy[i]);
        }
    }
    return {};
}

Result<Rows> score(Scorer& scorer, const GoldenCase& golden) {
    std::vector<TokenId> ids = golden.ids;
    if (!golden.greedy.empty()) {
        ids.insert(ids.end(), golden.greedy.begin(), golden.greedy.end() - 1);
    }
    const std::int64_t vocab = scorer.vocabSize();
    for (const TokenId id : ids) {
        if (id < 0 || id >= vocab) {
            return fail(ErrorCode::kInvalidArgument,
                        "case " + golden.name + ": id " + std::to_string(id) +
                            " is not in the model's vocabulary of " + std::to_string(vocab));
        }
    }
    if (!scorer.givesSamePositions(golden.ids.size(), ids.size())) {
        Rows rows{.logits = {}, .vocab = static_cast<std::size_t>(vocab)};
        if (Status status = scoreOneByOne(scorer, golden, rows); !status) {
            return tl::unexpected<Error>(status.error());
        }
        return rows;
    }
    auto logits = scorer.logits(ids);
    if (!logits) {
        return forward(logits);
    }
    Rows rows{.logits = std::move(*logits), .vocab = static_cast<std::size_t>(vocab)};
    if (rows.count() != ids.size()) {
        return fail(ErrorCode::kInternal, std::to_string(rows.count()) + " rows of logits for " +
                                              std::to_string(ids.size()) + " ids");
    }
    return rows;
}

std::string number(double value) {
    std::array<char, 32> text{};
    (void)std::snprintf(text.data(), text.size(), "%.3g", value);
    return text.data();
}

void noteDifference(VerifiedCase& result, const std::string& text) {
    result.isWithinBar = false;
    if (result.difference.empty()) {
        result.difference = text;
    }
}

void compareGreedy(const GoldenCase& golden, const Rows& rows, double certainGap,
                   VerifiedCase& result) {
    for (std::size_t i = 0; i < golden.greedy.size(); ++i) {
        if (!(golden.gap[i] > certainGap)) {
            continue;
        }
        const TokenId best = engine::bestToken(rows.row(golden.ids.size() - 1 + i));
        ++result.greedyTotal;
        result.greedyAgreed += best == golden.greedy[i] ? 1 : 0;
        if (best != golden.greedy[i]) {
            noteDifference(result, "greedy token " + std::to_string(i) + " is " +
                                       std::to_string(best) + ", expected " +
                                       std::to_string(golden.greedy[i]) + " by a gap of " +
                                       number(golden.gap[i]));
        }
    }
}

Result<VerifiedCase> compareLogits(const GoldenCase& golden, const Rows& rows) {
    VerifiedCase result{.name = golden.name, .ids = golden.ids.size()};
    if (golden.lastLogits.size() != rows.vocab) {
        return fail(ErrorCode::kInvalidArgument,
                    "case " + golden.name + ": " + std::to_string(golden.lastLogits.size()) +
                        " logits expected of a vocabulary of " + std::to_string(rows.vocab));
    }
    double scale = 0;
    for (const float logit : golden.lastLogits) {
        scale = std::max(scale, std::abs(static_cast<double>(logit)));
    }
    constexpr double kErrorShare = 5e-5;
    constexpr double kGapShare = 1e-3;
    result.errorBar = kErrorShare * scale;
    const std::span<const float> last = rows.row(golden.ids.size() - 1);
    for (std::size_t i = 0; i < last.size(); ++i) {
        const double error =
            std::abs(static_cast<double>(last[i]) - static_cast<double>(golden.lastLogits[i]));
        // Written so that NaN counts as beyond the bar.
        if (!(error <= result.errorBar)) {
            noteDifference(result, "logit " + std::to_string(i) + " is " + number(last[i]) +
                                       ", expected " + number(golden.lastLogits[i]));
        }
        result.largestError =
            error > result.largestError || std::isnan(error) ? error : result.largestError;
        result.sumError += error;
    }
    result.errors = last.size();
    compareGreedy(golden, rows, kGapShare * scale, result);
    return result;
}

VerifiedCase compareLogprobs(const GoldenCase& golden, const Rows& rows) {
    VerifiedCase result{.name = golden.name, .ids = golden.ids.size()};
    for (std::size_t i = 0; i < golden.nextLogprob.size(); ++i) {
        const std::span<const float> row = rows.row(i);
        const auto next = static_cast<std::size_t>(golden.ids[i + 1]);
        const double logprob = engine::logProbability(row[next], engine::logSumExp(row));
        const double error = std::abs(logprob - golden.nextLogprob[i]);
        result.largestError = std::max(result.largestError, error);
        result.sumError += error;
        ++result.errors;
    }
    for (std::size_t i = 0; i < golden.topIds.size(); ++i) {
        ++result.topTotal;
        result.topAgreed += engine::bestToken(rows.row(i)) == golden.topIds[i] ? 1 : 0;
    }
    constexpr double kCertainGap = 0.5;
    compareGreedy(golden, rows, kCertainGap, result);
    return result;
}

/// The bars that hold over all cases together.
void judgePooled(const GoldenFile& file, VerifiedRun& run) {
    double sum = 0;
    std::size_t errors = 0;
    std::size_t agreed = 0;
    std::size_t total = 0;
    for (const VerifiedCase& result : run.cases) {
        sum += result.sumError;
        errors += result.errors;
        agreed += result.topAgreed;
        total += result.topTotal;
    }
    run.meanError = errors == 0 ? 0 : sum / static_cast<double>(errors);
    run.topShare = total == 0 ? 1 : static_cast<double>(agreed) / static_cast<double>(total);
    if (file.kind == GoldenKind::kLogits) {
        return;
    }
    const bool isF32 = run.activations == kernels::ActivationType::kF32;
    run.meanErrorBar = isF32 ? 1e-3 : 1.2 * file.rivalMeanAbs;
    run.topShareBar = isF32 ? 0.995 : file.rivalTop1 - 0.015;
    if (!(run.meanError <= run.meanErrorBar) || run.topShare < run.topShareBar) {
        run.isWithinBar = false;
    }
}

/// A run with other tilings: which switch asked for it, and how.
struct Variant {
    std::string what;
    ScoreOptions options;
};

std::vector<Variant> variantsOf(const VerifyOptions& options, const ScoreOptions& plain) {
    std::vector<Variant> variants;
    const auto add = [&](std::string what, auto change) {
        Variant variant{.what = std::move(what), .options = plain};
        change(variant.options);
        variants.push_back(std::move(variant));
    };
    const auto setChunk = [&](ScoreOptions& o) { o.chunk = options.chunk.value_or(o.chunk); };
    const auto setBatch = [&](ScoreOptions& o) { o.batch = options.batch.value_or(o.batch); };
    const auto setThreads = [&](ScoreOptions& o) {
        o.threads = options.threads.value_or(o.threads);
    };
    const auto setPrefix = [&](ScoreOptions& o) { o.prefix = options.prefix; };
    if (options.chunk) {
        add("--chunk " + std::to_string(*options.chunk), setChunk);
    }
    if (options.batch) {
        add("--batch " + std::to_string(*options.batch), setBatch);
    }
    if (options.threads) {
        add("--threads " + std::to_string(*options.threads), setThreads);
    }
    if (options.prefix) {
        add("--prefix", setPrefix);
    }
    if (variants.size() > 1) {
        add("all of them", [&](ScoreOptions& o) {
            setChunk(o);
            setBatch(o);
            setThreads(o);
            setPrefix(o);
        });
    }
    return variants;
}

/// Where two results part, bit for bit; empty when nowhere.
std::string firstDifference(const GoldenCase& golden, const Rows& plain, const Rows& other) {
    for (std::size_t i = 0; i < plain.count(); ++i) {
        const std::span<const float> a = plain.row(i);
        const std::span<const float> b = other.row(i);
        if (std::memcmp(a.data(), b.data(), a.size_bytes()) == 0) {
            continue;
        }
        std::size_t token = 0;
        while (std::memcmp(&a[token], &b[token], sizeof(float)) == 0) {
            ++token;
        }
        return "case " + golden.name + ", position " + std::to_string(i) + ", token " +
               std::to_string(token) + ": " + number(b[token]) + " differs from " +
               number(a[token]) + " by " +
               number(static_cast<double>(b[token]) - static_cast<double>(a[token]));
    }
    return "";
}

/// Scores every case by `variant` beside the plain run again: so that the logits of one case are
/// all that is held.
Result<std::string> compareVariant(const VerifyOptions& options, const GoldenFile& file,
                                   Scorer& plain, const Variant& variant,
                                   const ScorerFactory& makeScorer) {
    auto other = makeScorer(options.model, variant.options);
    if (!other) {
        return forward(other);
    }
    for (const GoldenCase& golden : file.cases) {
        const auto a = score(plain, golden);
        if (!a) {
            return tl::unexpected<Error>(a.error());
        }
        const auto b = score(**other, golden);
        if (!b) {
            return tl::unexpected<Error>(b.error());
        }
        if (std::string difference = firstDifference(golden, *a, *b); !difference.empty()) {
            return difference;
        }
    }
    return std::string();
}

Result<VerifiedRun> verifyRun(const VerifyOptions& options, const GoldenFile& file, Scorer& plain,
                              const ScoreOptions& plainOptions, const ScorerFactory& makeScorer) {
    VerifiedRun run{.activations = plainOptions.activations, .kvType = plainOptions.kvType};
    for (const GoldenCase& golden : file.cases) {
        const auto rows = score(plain, golden);
        if (!rows) {
            return tl::unexpected<Error>(rows.error());
        }
        Result<VerifiedCase> result = file.kind == GoldenKind::kLogits
                                          ? compareLogits(golden, *rows)
                                          : compareLogprobs(golden, *rows);
        if (!result) {
            return forward(result);
        }
        run.isWithinBar = run.isWithinBar && result->isWithinBar;
        run.cases.push_back(std::move(*result));
    }
    judgePooled(file, run);
    for (const Variant& variant : variantsOf(options, plainOptions)) {
        auto difference = compareVariant(options, file, plain, variant, makeScorer);
        if (!difference) {
            return forward(difference);
        }
        run.isWithinBar = run.isWithinBar && difference->empty();
        run.equalities.push_back({.what = variant.what, .difference = std::move(*difference)});
    }
    return run;
}

}  // namespace

Result<VerifyReport> verifyModel(const VerifyOptions& options, const ScorerFactory& makeScorer) {
    using kernels::ActivationType;
    using kernels::DType;
    const auto file = readGoldenFile(options.expected);
    if (!file) {
        return tl::unexpected<Error>(file.error());
    }
    if (file->kind == GoldenKind::kVectors && !options.adapters.empty()) {
        return fail(ErrorCode::kUnsupported, "--lora: vectors are verified without adapters");
    }
    if (file->kind == GoldenKind::kVectors) {
        return verifyVectors(options, *file);
    }
    const bool isChosen = options.activations.has_value() || options.kvType.has_value();
    ScoreOptions plain{.adapters = options.adapters};
    plain.activations =
        options.activations.value_or(isChosen ? ActivationType::kQ8 : ActivationType::kF32);
    plain.kvType = options.kvType.value_or(isChosen ? DType::kF16 : DType::kF32);

    VerifyReport report;
    bool isQuantized = false;
    const auto run = [&]() -> Status {
        auto scorer = makeScorer(options.model, plain);
        if (!scorer) {
            return forward(scorer);
        }
        isQuantized = (*scorer)->isQuantized();
        if (!isQuantized) {
            plain.activations = ActivationType::kF32;  // what unquantized weights take anyway
        }
        auto verified = verifyRun(options, *file, **scorer, plain, makeScorer);
        if (!verified) {
            return forward(verified);
        }
        report.isWithinBar = report.isWithinBar && verified->isWithinBar;
        report.runs.push_back(std::move(*verified));
        return {};
    };
    if (auto status = run(); !status) {
        return forward(status);
    }
    if (!isChosen && isQuantized) {
        plain.activations = ActivationType::kQ8;
        plain.kvType = DType::kF16;
        if (auto status = run(); !status) {
            return forward(status);
        }
    }
    return report;
}

int runVerify(const VerifyOptions& options, const ScorerFactory& makeScorer, std::ostream& out,
              std::ostream& err) {
    const auto report = verifyModel(options, makeScorer);
    if (!report) {
        err << "quern verify: " << report.error().message;
        if (!report.error().cause.empty()) {
            err << " (" << report.error().cause << ")";
        }
        err << "\n";
        return 2;
    }
    if (options.asJson) {
        printJson(*report, out);
    } else {
        printText(*report, out);
    }
    return report->isWithinBar ? 0 : 1;
}

}  // namespace quern::cli
