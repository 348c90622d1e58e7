#include "engine/snapshot.h"

#include <numeric>

namespace quern::engine {

std::uint64_t HistogramSnapshot::count() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
}

double HistogramSnapshot::quantile(double q) const {
    const std::uint64_t total = count();
    if (total == 0 || upperBounds.empty()) {
        return 0.0;
    }
    const double rank = q * static_cast<double>(total);
    double below = 0.0;
    for (std::size_t i = 0; i < upperBounds.size(); ++i) {
        const auto inBucket = static_cast<double>(counts[i]);
        if (inBucket > 0.0 && below + inBucket >= rank) {
            const double lower = i == 0 ? 0.0 : upperBounds[i - 1];
            return lower + (upperBounds[i] - lower) * (rank - below) / inBucket;
        }
        below += inBucket;
    }
    return upperBounds.back();
}

}  // namespace quern::engine
