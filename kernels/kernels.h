#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/ops.h"
#include "kernels/paged_kv.h"
#include "kernels/result.h"
#include "kernels/tensor.h"

namespace quern::kernels {

/// A device that could compute, or the reason why it can't.
struct DeviceInfo {
    std::string id;    // "cpu", "cuda:0"
    std::string name;  // the maker's name of the processor
    std::string tier;  // instruction set in use: "generic", "avx2", "avx512", "sm_90"
    bool isAvailable = false;
    std::string whyNot;  // when not available: "no CUDA driver on this machine"
    std::int64_t memoryTotalBytes = 0;
    std::int64_t memoryFreeBytes = 0;  // now; cgroup-aware on the CPU
    std::int32_t threads = 0;          // CPU: workers a backend would use by default
};

/// Every device there is, with those that are known but not usable and why. Any thread.
[[nodiscard]] std::vector<DeviceInfo> devices();

/// Memory on a device. Freed when destroyed; the Backend must outlive it.
class DeviceBuffer {
public:
    virtual ~DeviceBuffer() = default;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;
};

/// The paged KV memory of one model. Freed when destroyed; the Backend must outlive it.
class KvCache {
public:
    virtual ~KvCache() = default;
    [[nodiscard]] virtual const KvLayout& layout() const = 0;
    [[nodiscard]] virtual std::int64_t blocks(std::int32_t group) const = 0;
    [[nodiscard]] virtual std::int64_t blockBytes(std::int32_t group) const = 0;
};

enum class ActivationType : std::uint8_t {
    kF32,
    kQ8,  // rows quantized in blocks of 32 to int8, where the weight is quantized
};

struct CompileOptions {
    ActivationType activations = ActivationType::kQ8;
    std::int64_t maxTokens = 512;   // T of the largest step
    std::int64_t maxOutputs = 256;  // R of the largest step
    std::int64_t maxSequences = 256;
    /// Called on the calling thread as weights are taken over, with the share done in [0, 1].
    /// Returning false cancels the compilation (kCancelled).
    std::function<bool(double)> progress;
    /// Called on the calling thread, once for each weight, when its bytes will not be read again.
    std::function<void(WeightId)> taken;
};

/// What an adapter adds to one matrix of a program: out += scale · b (a · in), in float32, after
/// the matrix and its bias (LoRA, Hu et al. 2021).
struct LowRank {
    WeightId weight = kNone;  // of MatMulOps
    TensorView a;             // [rank, inputs]
    TensorView b;             // [outputs, rank]
    float scale = 1.0F;
};

/// Low-rank additions to matrices of one program, ready to run. Immutable; freed when destroyed,
/// which must not be while a step uses it. The Backend must outlive it.
class Adapter {
public:
    virtual ~Adapter() = default;
    [[nodiscard]] virtual std::int64_t bytes() const = 0;  // held on the device
};

/// One sequence's tokens in a step: tokens [firstToken, firstToken + tokenCount).
struct SequenceSlice {
    std::int32_t firstToken = 0;
    std::int32_t tokenCount = 0;
};

/// One step's inputs, flat. Borrowed until Backend::wait of the step returns.
struct StepInputs {
    std::span<const std::int32_t> tokens;      // [T] ids
    std::span<const std::int32_t> positions;   // [T] absolute, ascending within a sequence
    std::span<const SequenceSlice> sequences;  // [S], covering all tokens in order
    std::span<const BlockTables> tables;       // [groups], S rows each
    std::span<const std::int32_t> outputRows;  // [R] indices into tokens
    std::span<const std::int32_t> tokenTypes;  // [T], or empty: all 0
    /// [S], null where a sequence has none; or empty: none has one. A sequence without one gets the
    /// bits of a step in which nobody has one.
    std::span<const Adapter* const> adapters;
};

struct StepOutputs {
    std::span<float> rows;  // [R, output cols], host memory, filled when wait returns
};

/// Time spent in one op over the steps since profiling was switched on.
struct OpTiming {
    std::string name;
    std::int64_t calls = 0;
    std::int64_t nanoseconds = 0;
};

/// A compiled op list with its weights, ready to run. Made by a Backend, which must outlive it.
/// Not thread-safe: one step at a time.
class Program {
public:
    virtual ~Program() = default;
    [[nodiscard]] virtual const OpList& ops() const = 0;
    [[nodiscard]] virtual std::int64_t weightBytes() const = 0;   // held on the device
    [[nodiscard]] virtual std::int64_t scratchBytes() const = 0;  // held on the device
    virtual void setProfiling(bool isOn) = 0;
    [[nodiscard]] virtual std::vector<OpTiming> timings() const = 0;
    /// How the ops were grouped and which kernels serve them, for people.
    [[nodiscard]] virtual std::string describe() const = 0;
    /// Thread barriers (CPU) or launches (CUDA) of one step with one token: a cost tests can guard.
    [[nodiscard]] virtual std::int64_t barriersPerStep() const = 0;
};

/// Identifies a submitted step until it is waited for.
struct StepTicket {
    std::uint64_t id = 0;
};

/// A device that computes. submit, wait and copyBlock are called from one thread at a time (the
/// engine's); device, allocate, allocateKv, compile and makeAdapter may be called from any thread,
/// also while steps run (a model is loaded while another one answers).
class Backend {
public:
    virtual ~Backend() = default;
    [[nodiscard]] virtual DeviceInfo device() const = 0;

    [[nodiscard]] virtual Result<std::unique_ptr<DeviceBuffer>> allocate(std::int64_t bytes) = 0;
    [[nodiscard]] virtual Status upload(DeviceBuffer& to, std::int64_t offset,
                                        std::span<const std::byte> from) = 0;
    [[nodiscard]] virtual Status download(const DeviceBuffer& from, std::int64_t offset,
                                          std::span<std::byte> to) = 0;

    /// `blocks` [groups]: how many blocks each group gets.
    [[nodiscard]] virtual Result<std::unique_ptr<KvCache>> allocateKv(
        const KvLayout& layout, std::span<const std::int64_t> blocks) = 0;
    /// Copies a whole block within a group (branches that part inside a block).
    [[nodiscard]] virtual Status copyBlock(KvCache& cache, std::int32_t group, std::int32_t from,
                                           std::int32_t to) = 0;

    /// Checks the list, takes the weights over (repacks or uploads; `weights[i]` is the data of
    /// ops.weights[i], borrowed for the call), plans scratch and chooses kernels.
    /// kUnsupported names the op or type that this device cannot do.
    [[nodiscard]] virtual Result<std::unique_ptr<Program>> compile(
        OpList ops, const KvLayout& kv, std::span<const TensorView> weights,
        const CompileOptions& options) = 0;

    /// Takes over what an adapter adds to a program's matrices, at most once to each; `parts` is
    /// borrowed for the call. kInvalidArgument names the weight, its shape and the one that was
    /// given; kUnsupported a weight that no MatMulOp has.
    [[nodiscard]] virtual Result<std::unique_ptr<Adapter>> makeAdapter(
        const Program& program, std::span<const LowRank> parts) = 0;

    /// Starts a step. Inputs and outputs are borrowed until wait(ticket) returns. Steps of all
    /// programs run in the order of submission. The CPU backend computes before it returns.
    [[nodiscard]] virtual Result<StepTicket> submit(Program& program, KvCache& cache,
                                                    const StepInputs& inputs,
                                                    StepOutputs outputs) = 0;
    [[nodiscard]] virtual Status wait(StepTicket ticket) = 0;
};

/// Which instruction set the CPU kernels use.
enum class CpuTier : std::uint8_t { kAuto, kGeneric, kAvx2, kAvx512 };

struct CpuOptions {
    std::int32_t threads = 0;  // 0: the physical cores this process may use
    CpuTier tier = CpuTier::kAuto;
    /// Runs every op by itself, without fusion: the reference other backends are checked against.
    bool isReference = false;
};

/// kUnsupported when the processor lacks the tier that was asked for.
[[nodiscard]] Result<std::unique_ptr<Backend>> makeCpuBackend(const CpuOptions& options);

/// Tiers this processor can run, slowest first.
[[nodiscard]] std::vector<CpuTier> availableCpuTiers();
[[nodiscard]] std::string_view tierName(CpuTier tier);

}  // namespace quern::kernels
