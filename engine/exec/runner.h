#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "engine/exec/adapter_maker.h"
#include "engine/model/forward.h"
#include "engine/sched/batch_plan.h"
#include "kernels/kernels.h"

namespace quern::engine {

struct RunnerOptions {
    kernels::DType kvType = kernels::DType::kF16;
    kernels::CompileOptions compile;
    std::int64_t contextTokens = 0;  // the longest sequence that will be served; 0: the model's
    std::optional<Pooling> pooling;  // instead of the model's
};

/// Runs batch plans on one model's program: flattens a plan, submits it, waits, hands out logits.
/// Belongs to the engine thread once made.
class Runner {
public:
    /// Builds and compiles the model. Takes the tensors of `source` over, letting go of each as its
    /// copy is made: they cannot be used afterwards. `backend` must outlive the runner; `source`
    /// only the call.
    [[nodiscard]] static Result<std::unique_ptr<Runner>> create(kernels::Backend& backend,
                                                                ModelSource& source,
                                                                const RunnerOptions& options);
    virtual ~Runner() = default;

    [[nodiscard]] virtual const kernels::KvLayout& kvLayout() const = 0;
    [[nodiscard]] virtual std::span<const KvGroupSpec> groups() const = 0;
    /// Allocates the cache; before the first run. blocks [groups].
    [[nodiscard]] virtual Status allocateKv(std::span<const std::int64_t> blocks) = 0;
    [[nodiscard]] virtual std::int64_t kvBytes() const = 0;
    [[nodiscard]] virtual kernels::Program& program() = 0;
    /// Columns of a result: logits of the vocabulary, or the elements of a vector.
    [[nodiscard]] virtual std::int64_t vocabSize() const = 0;

    /// Makes adapters for this model, also on other threads and beside steps; null where the model
    /// takes none.
    [[nodiscard]] virtual std::shared_ptr<const AdapterMaker> adapterMaker() const { return {}; }
    /// Puts an adapter of this model's maker into a slot that plans then may name, or takes it out
    /// (null).
    virtual void setAdapter(std::int32_t slot, std::unique_ptr<const kernels::Adapter> adapter);

    /// Computes one step: the plan's block copies, then its tokens. The result [R, vocab] is valid
    /// until the next call and may be changed by the caller (samplers work in place). kInternal for
    /// a plan that contradicts itself or a cache that was never allocated.
    [[nodiscard]] virtual Result<std::span<float>> run(const BatchPlan& plan) = 0;
};

}  // namespace quern::engine
