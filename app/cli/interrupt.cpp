#include "app/cli/interrupt.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <utility>

#include "app/cli/exit_codes.h"

namespace quern::cli {

InterruptWatcher::InterruptWatcher() {
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &wanted, nullptr);
    m_signals = ::signalfd(-1, &wanted, SFD_CLOEXEC);
    m_wake = ::eventfd(0, EFD_CLOEXEC);
    m_thread = std::jthread([this] {
        while (true) {
            pollfd waiting[2] = {{m_signals, POLLIN, 0}, {m_wake, POLLIN, 0}};
            if (::poll(waiting, 2, -1) < 0) {
                continue;
            }
            if ((waiting[1].revents & POLLIN) != 0) {
                return;
            }
            signalfd_siginfo info{};
            if (::read(m_signals, &info, sizeof info) != sizeof info) {
                continue;
            }
            std::function<void()> handler;
            {
                const std::lock_guard lock(m_mutex);
                const bool isKey = info.ssi_signo == SIGINT;
                handler = !isKey && m_ending ? m_ending : m_handler;
            }
            if (!handler) {
                // The shell's prompt is not to stand behind a line of progress.
                if (::isatty(STDERR_FILENO) != 0) {
                    [[maybe_unused]] const auto ended = ::write(STDERR_FILENO, "\n", 1);
                }
                ::_exit(kExitInterrupted);
            }
            handler();
        }
    });
}

InterruptWatcher::~InterruptWatcher() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(m_wake, &one, sizeof one);
    m_thread.join();
    ::close(m_signals);
    ::close(m_wake);
}

void InterruptWatcher::setHandler(std::function<void()> handler) {
    const std::lock_guard lock(m_mutex);
    m_handler = std::move(handler);
}

void InterruptWatcher::setEnding(std::function<void()> ending) {
    const std::lock_guard lock(m_mutex);
    m_ending = std::move(ending);
}

}  // namespace quern::cli
