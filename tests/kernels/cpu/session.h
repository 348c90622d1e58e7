#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/kernels/cpu/list_builder.h"

namespace quern::kernels::test {

using Tokens = std::vector<std::int32_t>;

/// Some tokens of one sequence, computed in one step.
struct Piece {
    std::size_t sequence = 0;
    std::int32_t count = 0;
};

/// Runs an op list on whole sequences through a paged cache, in steps as a test likes, and keeps
/// the result of every token. The cache's blocks are handed out in a random order (seed 0: in
/// order), and those that no window sees any more are taken out of the tables.
class Session {
public:
    Session(Backend& backend, const TestList& list, std::vector<Tokens> sequences,
            std::uint32_t seed = 1,
            const CompileOptions& options = {.maxTokens = 1024, .maxOutputs = 1024});

    /// One step with these pieces, in this order.
    void step(const std::vector<Piece>& pieces);
    /// Steps with one sequence after the other: `head` tokens at first (not quite all of them),
    /// then `chunk` tokens each.
    void runAll(std::int32_t chunk, std::int32_t head = 0);
    /// Results of all tokens of a sequence so far, [tokens, output cols].
    [[nodiscard]] const std::vector<float>& results(std::size_t sequence) const {
        return m_results[sequence];
    }
    [[nodiscard]] Program& program() { return *m_program; }
    /// Asks for the result of each piece's last token instead of all.
    void setLastOutputOnly(bool isOn) { m_isLastOnly = isOn; }
    /// Types of all tokens of each sequence, from the next step on.
    void setTypes(std::vector<Tokens> types) { m_types = std::move(types); }
    /// The adapter of each sequence (null: none), from the next step on.
    void setAdapters(std::vector<const Adapter*> adapters) { m_adapters = std::move(adapters); }

private:
    void prepareTables(const std::vector<Piece>& pieces);

    Backend& m_backend;
    const TestList& m_list;
    std::vector<Tokens> m_sequences;
    std::unique_ptr<Program> m_program;
    std::unique_ptr<KvCache> m_cache;
    std::vector<std::vector<std::int32_t>> m_free;               // [groups]
    std::vector<std::vector<std::vector<std::int32_t>>> m_held;  // [groups][sequences][blocks]
    std::vector<std::int32_t> m_done;                            // [sequences]
    std::vector<std::vector<float>> m_results;                   // [sequences]
    std::vector<std::int64_t> m_windows;                         // [groups]
    std::vector<std::vector<std::int32_t>> m_tableData;
    std::vector<BlockTables> m_tables;
    bool m_isLastOnly = false;
    std::vector<Tokens> m_types;             // [sequences], or empty
    std::vector<const Adapter*> m_adapters;  // [sequences], or empty
};

[[nodiscard]] Tokens randomTokens(std::int64_t count, std::int64_t vocab, std::uint32_t seed);

/// Largest |a − b|, and the largest |b|.
struct Difference {
    double error = 0.0;
    double largest = 0.0;
};
[[nodiscard]] Difference compare(const std::vector<float>& got, const std::vector<double>& wanted);

/// Whether all bits agree.
[[nodiscard]] bool areSameBits(const std::vector<float>& a, const std::vector<float>& b);

[[nodiscard]] std::unique_ptr<Backend> makeBackend(CpuTier tier, std::int32_t threads,
                                                   bool isReference = false);

}  // namespace quern::kernels::test
