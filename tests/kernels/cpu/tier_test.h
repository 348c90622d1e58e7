#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/kernels/cpu/oracle.h"
#include "tests/kernels/cpu/session.h"

namespace quern::kernels::test {

inline constexpr std::int64_t kVocab = 40;

/// Ops against the double-precision oracle on one tier, where this processor has it.
class TierTest : public testing::TestWithParam<CpuTier> {
protected:
    void SetUp() override {
        const auto tiers = availableCpuTiers();
        if (std::find(tiers.begin(), tiers.end(), GetParam()) == tiers.end()) {
            GTEST_SKIP() << "this processor has no " << tierName(GetParam());
        }
    }

    /// Runs the list on some tokens: in one chunk, in some, and token by token.
    static void check(const TestList& list, std::int64_t tokens, double tolerance = 2e-6) {
        const Tokens sequence = randomTokens(tokens, kVocab, 5);
        const std::vector<double> wanted = evaluate(list, sequence);
        const auto backend = makeBackend(GetParam(), 2);
        for (const std::int32_t chunk : {static_cast<std::int32_t>(tokens), 5, 1}) {
            Session session(*backend, list, {sequence});
            session.runAll(chunk);
            const Difference d = compare(session.results(0), wanted);
            EXPECT_LE(d.error, tolerance * d.largest) << "chunk " << chunk;
        }
    }
};

}  // namespace quern::kernels::test

/// Runs a suite derived from TierTest on every tier.
#define QUERN_ON_EVERY_TIER(Suite)                                                         \
    INSTANTIATE_TEST_SUITE_P(                                                              \
        Tiers, Suite,                                                                      \
        testing::Values(quern::kernels::CpuTier::kGeneric, quern::kernels::CpuTier::kAvx2, \
                        quern::kernels::CpuTier::kAvx512),                                 \
        [](const auto& param) { return std::string(quern::kernels::tierName(param.param)); })
