#include "app/library/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

namespace quern::app {

namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;
constexpr int kAskEveryMs = 100;
constexpr auto kGrace = std::chrono::seconds(2);  // for a program that was told to end

/// A pipe's two ends; what is still open is closed.
struct Pipe {
    int ends[2] = {-1, -1};
    ~Pipe() {
        for (int& end : ends) {
            closeEnd(end);
        }
    }
    static void closeEnd(int& end) {
        if (end >= 0) {
            ::close(end);
            end = -1;
        }
    }
};

// In the child, after fork in a program of many threads: system calls only.
[[noreturn]] void becomeProgram(char* const* argv, pid_t parent, int output, int trouble) {
    // Ended with the thread that waits for it, however that ends: nobody would read what it
    // fetches. One that ended before this call is seen by the parent's number.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    // Of a group of its own: Ctrl+C is for this program, which ends the other in its own time.
    ::setpgid(0, 0);
    const int nothing = ::open("/dev/null", O_RDONLY);
    if (::getppid() != parent || nothing < 0 || ::dup2(nothing, STDIN_FILENO) < 0 ||
        ::dup2(output, STDOUT_FILENO) < 0 || ::dup2(output, STDERR_FILENO) < 0) {
        ::_exit(127);
    }
    // The child hears the signals that this program holds back for itself.
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::execvp(argv[0], argv);
    const int why = errno;
    [[maybe_unused]] const ssize_t told = ::write(trouble, &why, sizeof why);
    ::_exit(127);
}

/// A program that was started. One that was not waited for is killed, with its group.
class Child {
public:
    explicit Child(pid_t pid) : m_pid(pid) {}
    ~Child() {
        if (!m_isReaped) {
            signalGroup(SIGKILL);
            [[maybe_unused]] const int status = wait();
        }
    }
    Child(const Child&) = delete;
    Child& operator=(const Child&) = delete;

    /// The group is there once the program runs.
    void signalGroup(int signal) const { ::kill(-m_pid, signal); }
    /// Once.
    [[nodiscard]] int wait() {
        int status = 0;
        while (::waitpid(m_pid, &status, 0) < 0 && errno == EINTR) {
        }
        m_isReaped = true;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }

private:
    pid_t m_pid;
    bool m_isReaped = false;
};

// The child's errno when there was no such program; 0 once it runs.
int startTrouble(int trouble) {
    int why = 0;
    ssize_t count = 0;
    do {
        count = ::read(trouble, &why, sizeof why);
    } while (count < 0 && errno == EINTR);
    return count == sizeof why ? why : 0;
}

}  // namespace

Result<ProcessResult> runProcess(const std::vector<std::string>& arguments,
                                 const ProcessObserver& keepGoing) {
    Pipe output;
    Pipe trouble;
    if (::pipe2(output.ends, O_CLOEXEC) != 0 || ::pipe2(trouble.ends, O_CLOEXEC) != 0) {
        return fail(ErrorCode::kIo, "cannot make a pipe", std::strerror(errno));
    }
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    const pid_t self = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
        becomeProgram(argv.data(), self, output.ends[1], trouble.ends[1]);
    }
    if (pid < 0) {
        return fail(ErrorCode::kIo, "cannot start " + arguments.at(0), std::strerror(errno));
    }
    Child child(pid);
    Pipe::closeEnd(output.ends[1]);
    Pipe::closeEnd(trouble.ends[1]);
    if (const int why = startTrouble(trouble.ends[0]); why != 0) {
        [[maybe_unused]] const int status = child.wait();
        return fail(ErrorCode::kNotFound, "cannot run " + arguments.at(0), std::strerror(why));
    }

    ProcessResult result;
    bool isCancelled = false;
    auto killAt = std::chrono::steady_clock::time_point::max();
    for (bool isOpen = true; isOpen;) {
        pollfd waiting{.fd = output.ends[0], .events = POLLIN, .revents = 0};
        std::string fresh;
        if (::poll(&waiting, 1, kAskEveryMs) > 0) {
            std::array<char, 4096> buffer{};
            const ssize_t count = ::read(output.ends[0], buffer.data(), buffer.size());
            isOpen = count > 0 || (count < 0 && errno == EINTR);
            fresh.assign(buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
            result.output += fresh;
            if (result.output.size() > kKeptBytes) {
                result.output.erase(0, result.output.size() - kKeptBytes);
            }
        }
        if (!isCancelled && keepGoing && !keepGoing(fresh)) {
            isCancelled = true;
            child.signalGroup(SIGTERM);
            killAt = std::chrono::steady_clock::now() + kGrace;
        } else if (std::chrono::steady_clock::now() >= killAt) {
            child.signalGroup(SIGKILL);
            killAt = std::chrono::steady_clock::time_point::max();
        }
    }
    result.exitCode = child.wait();
    if (isCancelled) {
        return fail(ErrorCode::kCancelled, arguments.at(0) + " was ended");
    }
    return result;
}

}  // namespace quern::app
