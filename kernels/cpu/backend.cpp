#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <utility>

#include "kernels/cpu/adapter.h"
#include "kernels/cpu/check_ops.h"
#include "kernels/cpu/gemm.h"
#include "kernels/cpu/host.h"
#include "kernels/cpu/isa.h"
#include "kernels/cpu/program.h"
#include "kernels/cuda/cuda.h"

namespace quern::kernels {

namespace cpu {

namespace {

constexpr std::int32_t kMaxThreads = 1024;

class CpuBuffer final : public DeviceBuffer {
public:
    explicit CpuBuffer(SystemMemory memory) : m_memory(std::move(memory)) {}
    [[nodiscard]] std::int64_t bytes() const override { return m_memory.bytes(); }
    [[nodiscard]] std::byte* data() const { return m_memory.data(); }

private:
    SystemMemory m_memory;
};

DeviceInfo describeCpu(CpuTier tier, std::int32_t threads) {
    const HostMemory memory = hostMemory();
    return {.id = "cpu",
            .name = processorName(),
            .tier = std::string(tierName(tier)),
            .isAvailable = true,
            .whyNot = {},
            .memoryTotalBytes = memory.totalBytes,
            .memoryFreeBytes = memory.freeBytes,
            .threads = threads};
}

/// The part [offset, offset + size) of a buffer of this backend.
Result<std::byte*> partOf(const DeviceBuffer& buffer, std::int64_t offset, std::size_t size) {
    const auto* own = dynamic_cast<const CpuBuffer*>(&buffer);
    if (own == nullptr) {
        return fail(ErrorCode::kInvalidArgument, "the buffer belongs to another backend");
    }
    if (offset < 0 || offset > own->bytes() ||
        size > static_cast<std::size_t>(own->bytes() - offset)) {
        return fail(ErrorCode::kInvalidArgument,
                    "bytes " + std::to_string(offset) + " to " +
                        std::to_string(static_cast<std::uint64_t>(offset) + size) +
                        " of a buffer of " + std::to_string(own->bytes()));
    }
    return own->data() + offset;
}

/// Steps are computed in submit, so that there is nothing left to wait for.
class CpuBackend final : public Backend {
public:
    CpuBackend(CpuTier tier, std::int32_t threads, bool isReference)
        : m_tier(tier), m_isReference(isReference), m_pool(threads) {}

    [[nodiscard]] DeviceInfo device() const override {
        return describeCpu(m_tier, m_pool.threads());
    }

    [[nodiscard]] Result<std::unique_ptr<DeviceBuffer>> allocate(std::int64_t bytes) override {
        if (bytes < 0) {
            return fail(ErrorCode::kInvalidArgument,
                        "a buffer of " + std::to_string(bytes) + " bytes");
        }
        auto memory = SystemMemory::create(bytes, "a buffer");
        if (!memory) {
            return forward(memory);
        }
        return std::make_unique<CpuBuffer>(std::move(*memory));
    }

    [[nodiscard]] Status upload(DeviceBuffer& to, std::int64_t offset,
                                std::span<const std::byte> from) override {
        auto part = partOf(to, offset, from.size());
        if (!part) {
            return forward(part);
        }
        if (!from.empty()) {
            std::memcpy(*part, from.data(), from.size());
        }
        return {};
    }

    [[nodiscard]] Status download(const DeviceBuffer& from, std::int64_t offset,
                                  std::span<std::byte> to) override {
        auto part = partOf(from, offset, to.size());
        if (!part) {
            return forward(part);
        }
        if (!to.empty()) {
            std::memcpy(to.data(), *part, to.size());
        }
        return {};
    }

    [[nodiscard]] Result<std::unique_ptr<KvCache>> allocateKv(
        const KvLayout& layout, std::span<const std::int64_t> blocks) override {
        auto cache = CpuKvCache::create(layout, blocks);
        if (!cache) {
            return forward(cache);
        }
        return std::move(*cache);
    }

    [[nodiscard]] Status copyBlock(KvCache& cache, std::int32_t group, std::int32_t from,
                                   std::int32_t to) override {
        auto* own = dynamic_cast<CpuKvCache*>(&cache);
        if (own == nullptr) {
            return fail(ErrorCode::kInvalidArgument, "the KV cache belongs to another backend");
        }
        return own->copyBlock(group, from, to);
    }

    [[nodiscard]] Result<std::unique_ptr<Program>> compile(OpList ops, const KvLayout& kv,
                                                           std::span<const TensorView> weights,
                                                           const CompileOptions& options) override {
        Result<KvBlockLayout> blocks = planKvBlocks(kv);
        if (!blocks) {
            return forward(blocks);
        }
        if (auto status = checkOps(ops, kv, weights, options); !status) {
            return forward(status);
        }
        const GemmKernels& gemm = gemmKernels(m_tier);
        auto store = WeightStore::create(ops, weights, gemm, options);
        if (!store) {
            return forward(store);
        }
        std::vector<bool> takesQ8(ops.weights.size(), false);
        for (const Op& op : ops.ops) {
            for (const WeightId weight : matricesOf(op.op)) {
                takesQ8[static_cast<std::size_t>(weight)] = (*store)->packed(weight).takesQ8();
            }
        }
        const Plan plan = makePlan(ops, kv, takesQ8, m_isReference);
        const LowerOptions lowering{.isReference = m_isReference,
                                    .threads = m_pool.threads(),
                                    .maxTokens = options.maxTokens,
                                    .maxOutputs = options.maxOutputs};
        ProgramImage image = lower(ops, plan, **store, *blocks, lowering);
        image.kernels = &tierKernels(m_tier);
        image.gemm = &gemm;
        auto program = CpuProgram::create({.ops = std::move(ops),
                                           .kv = kv,
                                           .options = options,
                                           .weights = std::move(*store),
                                           .image = std::move(image),
                                           .pool = &m_pool,
                                           .tier = std::string(tierName(m_tier)),
                                           .id = m_programs.fetch_add(1) + 1});
        if (!program) {
            return forward(program);
        }
        return std::move(*program);
    }

    [[nodiscard]] Result<std::unique_ptr<Adapter>> makeAdapter(
        const Program& program, std::span<const LowRank> parts) override {
        const auto* own = dynamic_cast<const CpuProgram*>(&program);
        if (own == nullptr) {
            return fail(ErrorCode::kInvalidArgument, "the program belongs to another backend");
        }
        auto adapter = CpuAdapter::create(own->id(), own->ops(), parts, gemmKernels(m_tier));
        if (!adapter) {
            return forward(adapter);
        }
        return std::move(*adapter);
    }

    [[nodiscard]] Result<StepTicket> submit(Program& program, KvCache& cache,
                                            const StepInputs& inputs,
                                            StepOutputs outputs) override {
        auto* own = dynamic_cast<CpuProgram*>(&program);
        auto* ownCache = dynamic_cast<CpuKvCache*>(&cache);
        if (own == nullptr || ownCache == nullptr) {
            return fail(ErrorCode::kInvalidArgument,
                        "the program or the KV cache belongs to another backend");
        }
        if (auto status = own->run(*ownCache, inputs, outputs); !status) {
            return forward(status);
        }
        return StepTicket{.id = ++m_steps};
    }

    [[nodiscard]] Status wait(StepTicket ticket) override {
        if (ticket.id == 0 || ticket.id > m_steps) {
            return fail(ErrorCode::kInvalidArgument,
                        "step " + std::to_string(ticket.id) + " was never submitted");
        }
        return {};
    }

private:
    CpuTier m_tier;
    bool m_isReference;
    ThreadPool m_pool;
    std::uint64_t m_steps = 0;
    std::atomic<std::uint64_t> m_programs{0};
};

}  // namespace
}  // namespace cpu

std::vector<DeviceInfo> devices() {
    std::vector<DeviceInfo> devices{cpu::describeCpu(cpu::bestTier(), cpu::usableCores())};
    for (DeviceInfo& gpu : cuda::devices()) {
        devices.push_back(std::move(gpu));
    }
    return devices;
}

Result<std::unique_ptr<Backend>> makeCpuBackend(const CpuOptions& options) {
    if (options.threads < 0 || options.threads > cpu::kMaxThreads) {
        return fail(ErrorCode::kInvalidArgument,
                    std::to_string(options.threads) + " threads; 0 (choose) to " +
                        std::to_string(cpu::kMaxThreads) + " are allowed");
    }
    const CpuTier tier = options.tier == CpuTier::kAuto ? cpu::bestTier() : options.tier;
    if (!cpu::hasTier(tier)) {
        std::string available;
        for (const CpuTier other : availableCpuTiers()) {
            available += (available.empty() ? "" : ", ") + std::string(tierName(other));
        }
        return fail(ErrorCode::kUnsupported, "no " + std::string(tierName(tier)) +
                                                 " kernels for this processor; it has " +
                                                 available);
    }
    const std::int32_t threads = options.threads == 0 ? cpu::usableCores() : options.threads;
    return std::make_unique<cpu::CpuBackend>(tier, threads, options.isReference);
}

}  // namespace quern::kernels
