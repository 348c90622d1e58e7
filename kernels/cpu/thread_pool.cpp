#include "kernels/cpu/thread_pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quern::kernels::cpu {

namespace {

// Long enough to cover the sampler between two steps, short enough that an idle engine sleeps.
constexpr std::chrono::microseconds kSpinTime{80};
constexpr int kSpinsPerLook = 64;

void pauseThread() {
#if defined(__x86_64__)
    _mm_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

void Gate::open() {
    // Sequentially consistent on both sides (see wait): either the opener sees the sleeper, or the
    // sleeper sees the new value.
    m_value.fetch_add(1);
    if (m_sleepers.load() > 0) {
        const std::lock_guard lock(m_mutex);
        m_changed.notify_all();
    }
}

void Gate::wait(std::uint32_t old) {
    const auto deadline = std::chrono::steady_clock::now() + kSpinTime;
    do {
        for (int i = 0; i < kSpinsPerLook; ++i) {
            if (m_value.load(std::memory_order_acquire) != old) {
                return;
            }
            pauseThread();
        }
    } while (std::chrono::steady_clock::now() < deadline);
    std::unique_lock lock(m_mutex);
    m_sleepers.fetch_add(1);
    m_changed.wait(lock, [&] { return m_value.load() != old; });
    m_sleepers.fetch_sub(1);
}

ThreadPool::ThreadPool(std::int32_t threads) {
    m_workers.reserve(static_cast<std::size_t>(std::max(threads - 1, 0)));
    // Workers wait at the start gate until the first run, so m_threads may still grow here.
    for (std::int32_t worker = 1; worker < threads; ++worker) {
        try {
            m_workers.emplace_back([this, worker] { work(worker); });
        } catch (const std::system_error&) {
            break;
        }
        m_threads = worker + 1;
    }
}

ThreadPool::~ThreadPool() {
    m_isStopping = true;
    m_start.open();
    for (std::thread& worker : m_workers) {
        worker.join();
    }
}

void ThreadPool::run(Task task, void* context) {
    const std::lock_guard lock(m_runMutex);
    m_task = task;
    m_context = context;
    if (m_threads > 1) {
        m_start.open();
    }
    task(context, 0);
    barrier();
}

void ThreadPool::barrier() {
    if (m_threads == 1) {
        return;
    }
    // Read before arriving: the gate cannot open until this worker has arrived.
    const std::uint32_t phase = m_barrier.value();
    if (m_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == m_threads) {
        m_arrived.store(0, std::memory_order_relaxed);
        m_barrier.open();
    } else {
        m_barrier.wait(phase);
    }
}

void ThreadPool::work(std::int32_t worker) {
    for (std::uint32_t seen = 0;; ++seen) {
        m_start.wait(seen);
        if (m_isStopping) {
            return;
        }
        m_task(m_context, worker);
        barrier();
    }
}

}  // namespace quern::kernels::cpu
