#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "engine/snapshot.h"

namespace quern::app {

/// Counts of the endpoint itself. Belongs to the I/O thread.
class HttpMetrics {
public:
    HttpMetrics();
    void add(const std::string& handler, const std::string& method, int status, double seconds);
    [[nodiscard]] std::string text() const;

private:
    std::map<std::tuple<std::string, std::string, int>, std::uint64_t> m_requests;
    std::map<std::string, engine::HistogramSnapshot> m_durations;
};

/// The Prometheus text of /metrics, in vLLM's names with labels model_name and engine, so that its
/// boards work; process_* and quern_* beside them.
[[nodiscard]] std::string metricsText(const engine::EngineSnapshot& snapshot,
                                      const HttpMetrics& http);

}  // namespace quern::app
