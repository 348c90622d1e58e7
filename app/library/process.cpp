#include "app/library/process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

extern char** environ;

namespace quern::app {

namespace {

constexpr std::size_t kKeptBytes = 64 * 1024;
constexpr int kAskEveryMs = 100;

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

}  // namespace

Result<ProcessResult> runProcess(const std::vector<std::string>& arguments,
                                 const std::function<bool()>& keepGoing) {
    Pipe pipe;
    if (::pipe2(pipe.ends, O_CLOEXEC) != 0) {
        return fail(ErrorCode::kIo, "cannot make a pipe", std::strerror(errno));
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, pipe.ends[1], STDERR_FILENO);
    std::vector<char*> argv;
    argv.reserve(arguments.size() + 1);
    for (const std::string& argument : arguments) {
        argv.push_back(const_cast<char*>(argument.c_str()));
    }
    argv.push_back(nullptr);
    pid_t pid = 0;
    // The child hears the signals that this program holds back for itself.
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    const int spawned = ::posix_spawnp(&pid, argv[0], &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (spawned != 0) {
        return fail(ErrorCode::kNotFound, "cannot run " + arguments.at(0), std::strerror(spawned));
    }
    Pipe::closeEnd(pipe.ends[1]);

    ProcessResult result;
    bool isCancelled = false;
    while (true) {
        pollfd waiting{.fd = pipe.ends[0], .events = POLLIN, .revents = 0};
        const int ready = ::poll(&waiting, 1, kAskEveryMs);
        if (ready > 0) {
            char buffer[4096];
            const ssize_t count = ::read(pipe.ends[0], buffer, sizeof buffer);
            if (count == 0 || (count < 0 && errno != EINTR)) {
                break;
            }
            if (count > 0) {
                result.output.append(buffer, static_cast<std::size_t>(count));
                if (result.output.size() > kKeptBytes) {
                    result.output.erase(0, result.output.size() - kKeptBytes);
                }
            }
        }
        if (!isCancelled && keepGoing && !keepGoing()) {
            isCancelled = true;
            ::kill(pid, SIGTERM);
        }
    }
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (isCancelled) {
        return fail(ErrorCode::kCancelled, "cancelled");
    }
    result.exitCode = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return result;
}

}  // namespace quern::app
