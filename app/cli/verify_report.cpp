#include "app/cli/verify_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "kernels/quant.h"

namespace quern::cli {

namespace {

std::string lowerName(kernels::DType type) {
    std::string name(kernels::traits(type).name);
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return static_cast<char>(std::tolower(c)); });
    return name;
}

std::string activationName(kernels::ActivationType type) {
    return type == kernels::ActivationType::kQ8 ? "q8" : "f32";
}

std::string caseLine(const VerifiedCase& c) {
    std::string line = fmt::format("  case {:<14} {:>4} ids", c.name, c.ids);
    if (c.errors > 0) {
        line += fmt::format("  largest error {:.3g}", c.largestError);
        line += c.errorBar > 0
                    ? fmt::format(" (bar {:.3g})", c.errorBar)
                    : fmt::format(", mean {:.3g}", c.sumError / static_cast<double>(c.errors));
    }
    if (c.topTotal > 0) {
        line += fmt::format("  best token {}/{}", c.topAgreed, c.topTotal);
    }
    if (c.greedyTotal > 0) {
        line += fmt::format("  greedy {}/{}", c.greedyAgreed, c.greedyTotal);
    }
    if (!c.isWithinBar) {
        line += "  BEYOND THE BAR: " + c.difference;
    }
    return line;
}

/// JSON has no NaN: null says that a value is not a number.
nlohmann::ordered_json finite(double value) {
    return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

}  // namespace

void printText(const VerifyReport& report, std::ostream& out) {
    std::size_t cases = 0;
    std::size_t within = 0;
    std::size_t equalities = 0;
    std::size_t equal = 0;
    for (const VerifiedRun& run : report.runs) {
        out << fmt::format("{}activations {}, KV cache {}\n",
                           run.vectors.empty() ? "" : run.vectors + ", ",
                           activationName(run.activations), lowerName(run.kvType));
        for (const VerifiedCase& c : run.cases) {
            out << caseLine(c) << "\n";
            ++cases;
            within += c.isWithinBar ? 1 : 0;
        }
        if (run.meanErrorBar > 0) {
            const bool isWithin =
                run.meanError <= run.meanErrorBar && run.topShare >= run.topShareBar;
            out << fmt::format(
                "  over all cases: mean error {:.4g} (bar {:.4g}), best token {:.2f} % (bar {:.2f} "
                "%){}\n",
                run.meanError, run.meanErrorBar, 100 * run.topShare, 100 * run.topShareBar,
                isWithin ? "" : "  BEYOND THE BAR");
        }
        for (const VerifiedRun::Equality& equality : run.equalities) {
            ++equalities;
            equal += equality.difference.empty() ? 1 : 0;
            out << fmt::format("  {}: {}\n", equality.what,
                               equality.difference.empty() ? "bitwise equal to the plain run"
                                                           : "DIFFERS: " + equality.difference);
        }
    }
    out << fmt::format("{}: {} of {} cases within the bar", report.isWithinBar ? "pass" : "FAIL",
                       within, cases);
    if (equalities > 0) {
        out << fmt::format(", {} of {} variants bitwise equal", equal, equalities);
    }
    out << "\n";
}

void printJson(const VerifyReport& report, std::ostream& out) {
    using Json = nlohmann::ordered_json;
    Json runs = Json::array();
    for (const VerifiedRun& run : report.runs) {
        Json cases = Json::array();
        for (const VerifiedCase& c : run.cases) {
            cases.push_back(
                {{"name", c.name},
                 {"ids", c.ids},
                 {"largest_error", finite(c.largestError)},
                 {"error_bar", c.errorBar > 0 ? Json(c.errorBar) : Json()},
                 {"mean_error",
                  c.errors > 0 ? finite(c.sumError / static_cast<double>(c.errors)) : Json()},
                 {"top_agreed", c.topAgreed},
                 {"top_total", c.topTotal},
                 {"greedy_agreed", c.greedyAgreed},
                 {"greedy_total", c.greedyTotal},
                 {"within_bar", c.isWithinBar},
                 {"difference", c.difference}});
        }
        Json equalities = Json::array();
        for (const VerifiedRun::Equality& equality : run.equalities) {
            equalities.push_back({{"variant", equality.what},
                                  {"equal", equality.difference.empty()},
                                  {"difference", equality.difference}});
        }
        Json entry = {{"activations", activationName(run.activations)},
                      {"kv_type", lowerName(run.kvType)},
                      {"cases", std::move(cases)},
                      {"mean_error", finite(run.meanError)},
                      {"variants", std::move(equalities)},
                      {"within_bar", run.isWithinBar}};
        if (!run.vectors.empty()) {
            entry["vectors"] = run.vectors;
        }
        if (run.meanErrorBar > 0) {
            entry["mean_error_bar"] = run.meanErrorBar;
            entry["top1"] = run.topShare;
            entry["top1_bar"] = run.topShareBar;
        }
        runs.push_back(std::move(entry));
    }
    out << Json{{"runs", std::move(runs)}, {"within_bar", report.isWithinBar}}.dump(
               -1, ' ', false, Json::error_handler_t::replace)
        << "\n";
}

}  // namespace quern::cli
