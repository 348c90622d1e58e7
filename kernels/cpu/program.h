#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/cpu/step.h"
#include "kernels/cpu/weight_store.h"

namespace quern::kernels::cpu {

/// An op list compiled for the CPU. One step at a time; all its workers are the pool's.
class CpuProgram final : public Program {
public:
    struct Parts {
        OpList ops;
        KvLayout kv;
        CompileOptions options;
        std::unique_ptr<WeightStore> weights;
        ProgramImage image;
        ThreadPool* pool = nullptr;
        std::string tier;
        std::uint64_t id = 0;  // of the backend's programs
    };
    [[nodiscard]] static Result<std::unique_ptr<CpuProgram>> create(Parts parts);

    [[nodiscard]] std::uint64_t id() const { return m_parts.id; }
    [[nodiscard]] const OpList& ops() const override { return m_parts.ops; }
    [[nodiscard]] std::int64_t weightBytes() const override { return m_parts.weights->bytes(); }
    [[nodiscard]] std::int64_t scratchBytes() const override;
    void setProfiling(bool isOn) override;
    [[nodiscard]] std::vector<OpTiming> timings() const override;
    [[nodiscard]] std::string describe() const override;
    [[nodiscard]] std::int64_t barriersPerStep() const override;

    /// Checks the step against the program and the cache, then computes it.
    [[nodiscard]] Status run(CpuKvCache& cache, const StepInputs& inputs, StepOutputs outputs);

private:
    void setUp(CpuKvCache& cache, const StepInputs& inputs, const StepOutputs& outputs);
    void work(std::int32_t worker) noexcept;

    Parts m_parts;
    SystemMemory m_scratch;
    StepContext m_step;
    bool m_isProfiling = false;
    std::int64_t m_profiledSteps = 0;
    std::vector<std::int64_t> m_nanoseconds;  // [stages], written by worker 0
};

}  // namespace quern::kernels::cpu
