#include "tests/kernels/cpu/session.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace quern::kernels::test {

Session::Session(Backend& backend, const TestList& list, std::vector<Tokens> sequences,
                 std::uint32_t seed, const CompileOptions& options)
    : m_backend(backend), m_list(list), m_sequences(std::move(sequences)) {
    auto program = backend.compile(list.ops, list.kv, list.views(), options);
    if (!program) {
        throw std::runtime_error(program.error().message);
    }
    m_program = std::move(*program);
    std::int64_t blocks = 3;
    for (const Tokens& tokens : m_sequences) {
        blocks += (std::ssize(tokens) + kBlockTokens - 1) / kBlockTokens;
    }
    const auto groups = static_cast<std::size_t>(list.kv.groups);
    const std::vector<std::int64_t> counts(groups, blocks);
    auto cache = backend.allocateKv(list.kv, counts);
    if (!cache) {
        throw std::runtime_error(cache.error().message);
    }
    m_cache = std::move(*cache);
    std::mt19937 random(seed);
    m_windows.resize(groups, -1);
    for (std::size_t g = 0; g < groups; ++g) {
        std::vector<std::int32_t>& free = m_free.emplace_back();
        for (std::int32_t b = 0; b < blocks; ++b) {
            free.push_back(b);
        }
        if (seed != 0) {
            std::shuffle(free.begin(), free.end(), random);
        } else {
            std::reverse(free.begin(), free.end());  // they are taken from the end
        }
    }
    for (const Op& op : list.ops.ops) {
        if (const auto* attention = std::get_if<AttentionOp>(&op.op)) {
            std::int64_t& window = m_windows[static_cast<std::size_t>(
                list.kv.layers[static_cast<std::size_t>(attention->kvLayer)].group)];
            window =
                window == 0 || attention->window == 0 ? 0 : std::max(window, attention->window);
        }
    }
    m_held.resize(groups, std::vector<std::vector<std::int32_t>>(m_sequences.size()));
    m_done.resize(m_sequences.size(), 0);
    m_results.resize(m_sequences.size());
}

void Session::prepareTables(const std::vector<Piece>& pieces) {
    m_tableData.assign(m_held.size(), {});
    m_tables.clear();
    for (std::size_t g = 0; g < m_held.size(); ++g) {
        std::size_t stride = 1;
        for (const Piece& piece : pieces) {
            auto& held = m_held[g][piece.sequence];
            const std::int32_t end = m_done[piece.sequence] + piece.count;
            while (std::ssize(held) * kBlockTokens < end) {
                held.push_back(m_free[g].back());
                m_free[g].pop_back();
            }
            stride = std::max(stride, held.size());
        }
        stride += g;  // strides may differ and be longer than needed
        for (const Piece& piece : pieces) {
            std::vector<std::int32_t> row = m_held[g][piece.sequence];
            if (m_windows[g] > 0) {
                const std::int64_t least = m_done[piece.sequence] - m_windows[g] + 1;
                for (std::int64_t i = 0; (i + 1) * kBlockTokens <= least; ++i) {
                    row[static_cast<std::size_t>(i)] = -1;
                }
            }
            row.resize(stride, -1);
            m_tableData[g].insert(m_tableData[g].end(), row.begin(), row.end());
        }
        m_tables.push_back({.blocks = m_tableData[g], .stride = static_cast<std::int64_t>(stride)});
    }
}

void Session::step(const std::vector<Piece>& pieces) {
    prepareTables(pieces);
    Tokens tokens;
    std::vector<std::int32_t> positions;
    std::vector<SequenceSlice> slices;
    std::vector<std::int32_t> outputs;
    std::vector<std::int32_t> types;
    std::vector<const Adapter*> adapters;
    for (const Piece& piece : pieces) {
        slices.push_back(
            {.firstToken = static_cast<std::int32_t>(tokens.size()), .tokenCount = piece.count});
        if (!m_adapters.empty()) {
            adapters.push_back(m_adapters[piece.sequence]);
        }
        for (std::int32_t i = 0; i < piece.count; ++i) {
            if (!m_isLastOnly || i + 1 == piece.count) {
                outputs.push_back(static_cast<std::int32_t>(tokens.size()));
            }
            positions.push_back(m_done[piece.sequence]);
            if (!m_types.empty()) {
                types.push_back(
                    m_types[piece.sequence][static_cast<std::size_t>(m_done[piece.sequence])]);
            }
            tokens.push_back(
                m_sequences[piece.sequence][static_cast<std::size_t>(m_done[piece.sequence]++)]);
        }
    }
    const auto cols = static_cast<std::size_t>(
        m_list.ops.values[static_cast<std::size_t>(m_list.ops.output)].cols);
    std::vector<float> rows(outputs.size() * cols, std::nanf(""));
    auto ticket = m_backend.submit(*m_program, *m_cache,
                                   {.tokens = tokens,
                                    .positions = positions,
                                    .sequences = slices,
                                    .tables = m_tables,
                                    .outputRows = outputs,
                                    .tokenTypes = types,
                                    .adapters = adapters},
                                   {.rows = rows});
    if (!ticket) {
        throw std::runtime_error(ticket.error().message);
    }
    EXPECT_TRUE(m_backend.wait(*ticket).has_value());
    auto from = rows.begin();
    for (const Piece& piece : pieces) {
        const auto end =
            from + (m_isLastOnly ? 1 : piece.count) * static_cast<std::ptrdiff_t>(cols);
        auto& results = m_results[piece.sequence];
        results.insert(results.end(), from, end);
        from = end;
    }
}

void Session::runAll(std::int32_t chunk, std::int32_t head) {
    for (std::size_t s = 0; s < m_sequences.size(); ++s) {
        const auto length = static_cast<std::int32_t>(std::ssize(m_sequences[s]));
        if (head > 0 && length > 1) {
            step({{.sequence = s, .count = std::min(head, length - length / 16 - 1)}});
        }
        while (m_done[s] < length) {
            step({{.sequence = s, .count = std::min(chunk, length - m_done[s])}});
        }
    }
}

Tokens randomTokens(std::int64_t count, std::int64_t vocab, std::uint32_t seed) {
    std::mt19937 random(seed);
    Tokens tokens;
    for (std::int64_t i = 0; i < count; ++i) {
        tokens.push_back(static_cast<std::int32_t>(random() % static_cast<std::uint32_t>(vocab)));
    }
    return tokens;
}

Difference compare(const std::vector<float>& got, const std::vector<double>& wanted) {
    EXPECT_EQ(got.size(), wanted.size());
    Difference difference;
    for (std::size_t i = 0; i < std::min(got.size(), wanted.size()); ++i) {
        const double error = std::abs(double{got[i]} - wanted[i]);
        // A NaN compares false: count it as the largest error there is.
        difference.error = error <= difference.error ? difference.error
                           : std::isnan(error)       ? HUGE_VAL
                                                     : error;
        difference.largest = std::max(difference.largest, std::abs(wanted[i]));
    }
    return difference;
}

bool areSameBits(const std::vector<float>& a, const std::vector<float>& b) {
    return a.size() == b.size() &&
           (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

std::unique_ptr<Backend> makeBackend(CpuTier tier, std::int32_t threads, bool isReference) {
    auto backend = makeCpuBackend({.threads = threads, .tier = tier, .isReference = isReference});
    if (!backend) {
        throw std::runtime_error(backend.error().message);
    }
    return std::move(*backend);
}

}  // namespace quern::kernels::test
