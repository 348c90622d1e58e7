#include "app/cli/verify_vectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "engine/embed.h"

namespace quern::cli {

namespace {

using engine::Pooling;
using Vector = std::vector<float>;

/// One kind of vector that the cases may have.
struct Kind {
    const char* name;
    Vector GoldenCase::*wanted;
    std::optional<Pooling> pooling;  // absent: the model's own, and its length
};

constexpr Kind kKinds[] = {{"mean pooling", &GoldenCase::meanPooled, Pooling::kMean},
                           {"first token", &GoldenCase::firstToken, Pooling::kFirst},
                           {"embedding", &GoldenCase::embedding, std::nullopt}};

/// An engine with the model, as one run wants it.
class VectorSource {
public:
    static Result<VectorSource> open(const VerifyOptions& options, const Kind& kind,
                                     std::int32_t threads, std::int32_t batch) {
        VectorSource source;
        source.m_batch = batch;
        source.m_isRaw = kind.pooling.has_value();
        auto engine = engine::makeEngine({.threads = threads});
        if (!engine) {
            return forward(engine);
        }
        source.m_engine = std::move(*engine);
        engine::LoadOptions load{.path = options.model, .pooling = kind.pooling};
        load.activations = options.activations.value_or(kernels::ActivationType::kF32);
        load.kvType = options.kvType.value_or(kernels::DType::kF32);
        auto model = source.m_engine->load(load, {});
        if (!model) {
            return forward(model);
        }
        source.m_model = *model;
        return source;
    }

    [[nodiscard]] const engine::LoadedModel& model() const { return *m_model; }

    /// Of the ids alone, or among others of other lengths.
    [[nodiscard]] Result<Vector> of(const std::vector<engine::TokenId>& ids) {
        std::vector<engine::Request> requests;
        for (std::int32_t n = 0; n < m_batch; ++n) {
            const auto share =
                static_cast<std::size_t>(n) * ids.size() / static_cast<std::size_t>(m_batch);
            engine::TokenPrompt prompt(ids.begin() + static_cast<std::ptrdiff_t>(share), ids.end());
            std::reverse(prompt.begin(), n == 0 ? prompt.begin() : prompt.end());
            engine::Request request;
            request.prompt = std::move(prompt);
            request.vector =
                engine::VectorParams{.isNormalized = m_isRaw ? std::optional(false) : std::nullopt};
            requests.push_back(std::move(request));
        }
        auto replies = engine::embedAll(*m_engine, std::move(requests));
        if (!replies) {
            return forward(replies);
        }
        return std::move(replies->front().vector);
    }

private:
    std::unique_ptr<engine::Engine> m_engine;
    std::shared_ptr<const engine::LoadedModel> m_model;
    std::int32_t m_batch = 1;
    bool m_isRaw = false;
};

double cosineOf(const Vector& a, const Vector& b) {
    double product = 0;
    double squaresA = 0;
    double squaresB = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const auto x = static_cast<double>(a[i]);
        const auto y = static_cast<double>(b[i]);
        product += x * y;
        squaresA += x * x;
        squaresB += y * y;
    }
    return product / std::sqrt(squaresA * squaresB);
}

// Comparisons are written so that NaN counts as beyond the bar.
void compareElements(const Vector& got, const Vector& wanted, VerifiedCase& result) {
    double scale = 0;
    for (const float element : wanted) {
        scale = std::max(scale, std::abs(static_cast<double>(element)));
    }
    result.errorBar = 5e-5 * scale;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const double error = std::abs(static_cast<double>(got[i]) - static_cast<double>(wanted[i]));
        if (!(error <= result.errorBar) && result.isWithinBar) {
            result.isWithinBar = false;
            result.difference =
                fmt::format("element {} is {:.6g}, expected {:.6g}", i, got[i], wanted[i]);
        }
        result.largestError =
            error > result.largestError || std::isnan(error) ? error : result.largestError;
        result.sumError += error;
    }
    result.errors = wanted.size();
}

void compareAngle(const Vector& got, const Vector& wanted, VerifiedCase& result) {
    constexpr double kLeastCosine = 0.9999;
    const double cosine = cosineOf(got, wanted);
    result.errorBar = 1 - kLeastCosine;
    result.largestError = 1 - cosine;
    result.sumError = result.largestError;
    result.errors = 1;
    result.isWithinBar = cosine >= kLeastCosine;
    if (!result.isWithinBar) {
        result.difference = fmt::format("the cosine is {:.6f}", cosine);
    }
}

Result<VerifiedCase> verifyCase(const GoldenCase& golden, const Kind& kind, VectorSource& source) {
    const auto got = source.of(golden.ids);
    if (!got) {
        return tl::unexpected<Error>(got.error());
    }
    const Vector& wanted = golden.*kind.wanted;
    if (wanted.size() != got->size()) {
        return fail(ErrorCode::kInvalidArgument,
                    fmt::format("case {}: {} elements expected, the model's vectors have {}",
                                golden.name, wanted.size(), got->size()));
    }
    VerifiedCase result{.name = golden.name, .ids = golden.ids.size()};
    if (kind.pooling) {
        compareElements(*got, wanted, result);
    } else {
        compareAngle(*got, wanted, result);
    }
    return result;
}

/// Where two sources part, bit for bit; empty when nowhere.
Result<std::string> firstDifference(const GoldenFile& file, VectorSource& plain,
                                    VectorSource& other) {
    for (const GoldenCase& golden : file.cases) {
        const auto a = plain.of(golden.ids);
        const auto b = other.of(golden.ids);
        if (!a || !b) {
            return tl::unexpected<Error>(a ? b.error() : a.error());
        }
        for (std::size_t i = 0; i < a->size(); ++i) {
            if (std::memcmp(&(*a)[i], &(*b)[i], sizeof(float)) != 0) {
                return fmt::format("case {}, element {}: {:.6g} is not {:.6g}", golden.name, i,
                                   (*b)[i], (*a)[i]);
            }
        }
    }
    return std::string();
}

Result<VerifiedRun> verifyKind(const VerifyOptions& options, const GoldenFile& file,
                               const Kind& kind) {
    auto plain = VectorSource::open(options, kind, 0, 1);
    if (!plain) {
        return forward(plain);
    }
    VerifiedRun run{.activations = plain->model().options.activations,
                    .kvType = plain->model().options.kvType,
                    .vectors = kind.name};
    for (const GoldenCase& golden : file.cases) {
        if ((golden.*kind.wanted).empty()) {
            continue;
        }
        auto result = verifyCase(golden, kind, *plain);
        if (!result) {
            return forward(result);
        }
        run.isWithinBar = run.isWithinBar && result->isWithinBar;
        run.cases.push_back(std::move(*result));
    }
    struct Variant {
        std::string what;
        std::int32_t threads;
        std::int32_t batch;
    };
    std::vector<Variant> variants;
    if (options.batch) {
        variants.push_back({fmt::format("--batch {}", *options.batch), 0, *options.batch});
    }
    if (options.threads) {
        variants.push_back({fmt::format("--threads {}", *options.threads), *options.threads, 1});
    }
    if (options.batch && options.threads) {
        variants.push_back({"all of them", *options.threads, *options.batch});
    }
    for (const Variant& variant : variants) {
        auto other = VectorSource::open(options, kind, variant.threads, variant.batch);
        if (!other) {
            return forward(other);
        }
        auto difference = firstDifference(file, *plain, *other);
        if (!difference) {
            return forward(difference);
        }
        run.isWithinBar = run.isWithinBar && difference->empty();
        run.equalities.push_back({.what = variant.what, .difference = std::move(*difference)});
    }
    return run;
}

}  // namespace

Result<VerifyReport> verifyVectors(const VerifyOptions& options, const GoldenFile& file) {
    if (options.chunk || options.prefix) {
        return fail(ErrorCode::kInvalidArgument,
                    std::string(options.chunk ? "--chunk" : "--prefix") +
                        " cannot be had: the text of a vector is computed in one step");
    }
    VerifyReport report;
    for (const Kind& kind : kKinds) {
        const bool isThere = std::ranges::any_of(
            file.cases, [&](const GoldenCase& golden) { return !(golden.*kind.wanted).empty(); });
        if (!isThere) {
            continue;
        }
        auto run = verifyKind(options, file, kind);
        if (!run) {
            return forward(run);
        }
        report.isWithinBar = report.isWithinBar && run->isWithinBar;
        report.runs.push_back(std::move(*run));
    }
    return report;
}

}  // namespace quern::cli
