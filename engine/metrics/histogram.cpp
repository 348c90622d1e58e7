#include "engine/metrics/histogram.h"

#include <algorithm>
#include <array>

namespace quern::engine {

Histogram::Histogram(std::span<const double> upperBounds) {
    m_data.upperBounds.assign(upperBounds.begin(), upperBounds.end());
    m_data.counts.assign(upperBounds.size() + 1, 0);
}

void Histogram::observe(double value) {
    const auto bucket =
        std::lower_bound(m_data.upperBounds.begin(), m_data.upperBounds.end(), value);
    ++m_data.counts[static_cast<std::size_t>(bucket - m_data.upperBounds.begin())];
    m_data.sum += value;
}

namespace buckets {

std::span<const double> timeToFirstToken() {
    static constexpr std::array kBounds = {0.001, 0.005, 0.01, 0.02,  0.04,  0.06,  0.08, 0.1,
                                           0.25,  0.5,   0.75, 1.0,   2.5,   5.0,   7.5,  10.0,
                                           20.0,  40.0,  80.0, 160.0, 640.0, 2560.0};
    return kBounds;
}

std::span<const double> interToken() {
    static constexpr std::array kBounds = {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2,
                                           0.3,  0.4,   0.5,  0.75,  1.0, 2.5,  5.0,
                                           7.5,  10.0,  20.0, 40.0,  80.0};
    return kBounds;
}

std::span<const double> requestLatency() {
    static constexpr std::array kBounds = {0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,
                                           5.0,  10.0, 15.0, 20.0, 30.0,  40.0,  50.0,
                                           60.0, 120., 240., 480., 960.0, 1920., 7680.0};
    return kBounds;
}

std::span<const double> stepTokens() {
    static constexpr std::array kBounds = {1.0,   8.0,    16.0,   32.0,   64.0,   128.0,  256.0,
                                           512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0};
    return kBounds;
}

std::span<const double> choices() {
    static constexpr std::array kBounds = {1.0, 2.0, 5.0, 10.0, 20.0};
    return kBounds;
}

std::vector<double> lengths(std::int64_t most) {
    std::vector<double> bounds;
    for (std::int64_t decade = 1; decade <= most; decade *= 10) {
        for (const std::int64_t step : {1, 2, 5}) {
            if (step * decade <= most) {
                bounds.push_back(static_cast<double>(step * decade));
            }
        }
    }
    return bounds;
}

}  // namespace buckets

}  // namespace quern::engine
