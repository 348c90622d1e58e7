#pragma once

#include <span>
#include <vector>

#include "engine/snapshot.h"

namespace quern::engine {

/// A histogram with fixed buckets. Allocates only when made. Belongs to one thread at a time.
class Histogram {
public:
    /// upperBounds ascending
    explicit Histogram(std::span<const double> upperBounds);
    void observe(double value);
    [[nodiscard]] const HistogramSnapshot& snapshot() const { return m_data; }

private:
    HistogramSnapshot m_data;
};

/// Buckets as vLLM has them, so that boards made for it show the same classes.
namespace buckets {
[[nodiscard]] std::span<const double> timeToFirstToken();  // seconds
[[nodiscard]] std::span<const double> interToken();        // seconds
[[nodiscard]] std::span<const double> requestLatency();    // seconds
[[nodiscard]] std::span<const double> stepTokens();
[[nodiscard]] std::span<const double> choices();
/// 1, 2, 5, 10, 20, 50 … up to `most`.
[[nodiscard]] std::vector<double> lengths(std::int64_t most);
}  // namespace buckets

}  // namespace quern::engine
