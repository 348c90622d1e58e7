// One thread's matrix kernels by tier, type, rows and shape. Counters: MAC/s of the product, and
// the bytes of packed weights read a second. "cold" walks matrices that exceed the last-level cache
// together, as decoding one sequence does.

#include <benchmark/benchmark.h>

#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "kernels/quant.h"
#include "tests/kernels/gemm_cases.h"

namespace quern::kernels::test {
namespace {

struct Case {
    CpuTier tier;
    DType type;
    ActivationType activations;
    std::int64_t rows;
    std::int64_t inputs;
    std::int64_t outputs;
    std::int64_t coldBytes;  // walk at least so many; 0: one matrix
};

void multiplyOften(benchmark::State& state, const Case& c) {
    const cpu::GemmKernels& kernels = cpu::gemmKernels(c.tier);
    std::mt19937 random(1);
    cpu::WeightMemory memory;
    std::vector<std::unique_ptr<cpu::PackedWeight>> weights;
    const auto bytes = randomWeight(c.type, c.outputs, c.inputs, random);
    const TensorView view{.type = c.type,
                          .shape = {.dims = {c.outputs, c.inputs, 1, 1}, .rank = 2},
                          .data = bytes.data()};
    do {
        auto packed = kernels.pack(view, c.activations, memory, {});
        if (!packed) {
            state.SkipWithError(packed.error().message.c_str());
            return;
        }
        weights.push_back(std::move(*packed));
    } while (memory.bytes() < c.coldBytes);

    const auto in = randomFloats(static_cast<std::size_t>(c.rows * c.inputs), random);
    const QuantizedRows quantized = quantizeRows(kernels, in, c.rows, c.inputs);
    std::vector<float> out(static_cast<std::size_t>(c.rows * c.outputs));
    std::size_t next = 0;
    for (auto _ : state) {
        const cpu::PackedWeight& weight = *weights[next];
        next = (next + 1) % weights.size();
        if (weight.takesQ8()) {
            weight.multiply(quantized.rows, 0, c.outputs, out.data(), c.outputs);
        } else {
            weight.multiplyF32(in.data(), c.rows, c.inputs, 0, c.outputs, out.data(), c.outputs);
        }
        benchmark::DoNotOptimize(out.data());
        benchmark::ClobberMemory();
    }
    const auto runs = static_cast<double>(state.iterations());
    const auto macs = static_cast<double>(c.rows * c.inputs * c.outputs);
    state.counters["GMAC/s"] = benchmark::Counter(1e-9 * runs * macs, benchmark::Counter::kIsRate);
    state.counters["GB/s"] = benchmark::Counter(
        1e-9 * runs * static_cast<double>(weights.front()->bytes()), benchmark::Counter::kIsRate);
}

void registerCase(const Tier& tier, const Case& c) {
    const std::string name = tier.name + "/" + std::string(traits(c.type).name) +
                             (c.activations == ActivationType::kQ8 ? "/q8" : "/f32") +
                             "/M=" + std::to_string(c.rows) + "/K=" + std::to_string(c.inputs) +
                             "/N=" + std::to_string(c.outputs) + (c.coldBytes > 0 ? "/cold" : "");
    benchmark::RegisterBenchmark(name.c_str(), multiplyOften, c);
}

void quantizeOften(benchmark::State& state, CpuTier tier) {
    const cpu::GemmKernels& kernels = cpu::gemmKernels(tier);
    std::mt19937 random(1);
    const std::int64_t cols = 2048;
    const auto in = randomFloats(static_cast<std::size_t>(cols), random);
    const QuantizedRows made = quantizeRows(kernels, in, 1, cols);
    for (auto _ : state) {
        kernels.quantizeRow(in.data(), made.rows, 0);
        benchmark::ClobberMemory();
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) * cols);
}

void registerAll() {
    constexpr std::int64_t kCold = std::int64_t{160} << 20;
    for (const Tier& tier : gemmTiers()) {
        if (!tier.lacks.empty()) {
            std::printf("tier %s skipped: no %s\n", tier.name.c_str(), tier.lacks.c_str());
            continue;
        }
        benchmark::RegisterBenchmark((tier.name + "/quantizeRow").c_str(), quantizeOften,
                                     tier.tier);
        for (const DType type : weightTypes()) {
            for (const ActivationType activations : {ActivationType::kQ8, ActivationType::kF32}) {
                if (activations == ActivationType::kQ8 && !traits(type).isQuantized) {
                    continue;
                }
                Case c{tier.tier, type, activations, 1, 2048, 2048, 0};
                for (const std::int64_t rows : {1, 4, 8, 16, 128, 512}) {
                    c.rows = rows;
                    if (traits(type).blockElements <= 64) {
                        c.inputs = 576;
                        c.outputs = 1536;
                        registerCase(tier, c);
                    }
                    c.inputs = 2048;
                    c.outputs = 2048;
                    registerCase(tier, c);
                }
                c.rows = 1;
                c.coldBytes = kCold;
                registerCase(tier, c);
            }
        }
    }
}

void printCpu() {
    std::ifstream info("/proc/cpuinfo");
    for (std::string line; std::getline(info, line);) {
        if (line.starts_with("model name") || line.starts_with("flags")) {
            std::printf("%s\n", line.c_str());
        }
        if (line.empty()) {
            return;
        }
    }
}

}  // namespace
}  // namespace quern::kernels::test

int main(int argc, char** argv) {
    quern::kernels::test::printCpu();
    quern::kernels::test::registerAll();
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
