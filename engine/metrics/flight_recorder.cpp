#include "engine/metrics/flight_recorder.h"

#include <algorithm>

namespace quern::engine {

FlightRecorder::FlightRecorder(std::size_t steps) : m_ring(steps) {}

StepRecord& FlightRecorder::next() {
    return m_ring[m_count++ % m_ring.size()];
}

std::vector<StepRecord> FlightRecorder::records() const {
    const std::uint64_t held = std::min<std::uint64_t>(m_count, m_ring.size());
    std::vector<StepRecord> records;
    records.reserve(held);
    for (std::uint64_t i = m_count - held; i < m_count; ++i) {
        records.push_back(m_ring[i % m_ring.size()]);
    }
    return records;
}

}  // namespace quern::engine
