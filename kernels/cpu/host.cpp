#include "kernels/cpu/host.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace quern::kernels::cpu {

namespace {

std::optional<std::string> firstLine(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line)) {
        return std::nullopt;
    }
    return line;
}

std::optional<std::int64_t> parseInt(std::string_view text) {
    const std::size_t start = text.find_first_not_of(" \t");
    if (start == std::string_view::npos) {
        return std::nullopt;
    }
    text.remove_prefix(start);
    std::int64_t value = 0;
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (code != std::errc()) {
        return std::nullopt;
    }
    return value;
}

std::optional<std::int64_t> readInt(const std::string& path) {
    const std::optional<std::string> line = firstLine(path);
    return line ? parseInt(*line) : std::nullopt;
}

// The value of "KEY   123" or "KEY: 123" in a file of such lines.
std::optional<std::int64_t> readField(const std::string& path, std::string_view key) {
    std::ifstream file(path);
    std::string line;
    while (std::getline(file, line)) {
        if (line.compare(0, key.size(), key) == 0) {
            return parseInt(std::string_view(line).substr(key.size()));
        }
    }
    return std::nullopt;
}

// Where the process's limits are: one folder a controller in version 1, one for all in version 2.
// A container often sees its own group as the root of the mount, so that is tried as well.
std::vector<std::string> cgroupFolders(std::string_view controller) {
    std::vector<std::string> folders;
    std::ifstream file("/proc/self/cgroup");
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) {
            continue;
        }
        const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
        std::string base;
        if (names == ",,") {
            base = "/sys/fs/cgroup";
        } else if (names.find("," + std::string(controller) + ",") != std::string::npos) {
            base = "/sys/fs/cgroup/" + std::string(controller);
        } else {
            continue;
        }
        // A limit may sit on any ancestor.
        std::string path = line.substr(second + 1);
        while (path.size() > 1) {
            folders.push_back(base + path);
            path.resize(path.rfind('/'));
        }
        folders.push_back(base);
    }
    return folders;
}

std::optional<double> cpuQuota() {
    std::optional<double> quota;
    const auto take = [&](std::int64_t share, std::int64_t period) {
        if (share > 0 && period > 0) {
            const double cores = static_cast<double>(share) / static_cast<double>(period);
            quota = quota ? std::min(*quota, cores) : cores;
        }
    };
    for (const std::string& folder : cgroupFolders("cpu")) {
        if (const auto line = firstLine(folder + "/cpu.max")) {
            const std::size_t space = line->find(' ');
            const auto share = parseInt(*line);  // "max" doesn't parse: no limit
            if (share && space != std::string::npos) {
                take(*share, parseInt(std::string_view(*line).substr(space)).value_or(0));
            }
        }
        take(readInt(folder + "/cpu.cfs_quota_us").value_or(-1),
             readInt(folder + "/cpu.cfs_period_us").value_or(0));
    }
    return quota;
}

}  // namespace

std::string processorName() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line)) {
        const std::size_t colon = line.find(": ");
        if (line.rfind("model name", 0) == 0 && colon != std::string::npos) {
            return line.substr(colon + 2);
        }
    }
#if defined(__x86_64__)
    return "x86-64 processor";
#elif defined(__aarch64__)
    return "ARM64 processor";
#else
    return "processor";
#endif
}

std::int32_t usableCores() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    std::set<std::pair<std::int64_t, std::int64_t>> cores;
    if (sched_getaffinity(0, sizeof(mask), &mask) == 0) {
        for (int i = 0; i < CPU_SETSIZE; ++i) {
            if (CPU_ISSET(i, &mask)) {
                const std::string folder =
                    "/sys/devices/system/cpu/cpu" + std::to_string(i) + "/topology/";
                const auto core = readInt(folder + "core_id");
                // Without a topology each processor counts as a core of its own.
                cores.emplace(
                    core ? readInt(folder + "physical_package_id").value_or(0) : std::int64_t{-1},
                    core.value_or(i));
            }
        }
    }
    std::int64_t count = static_cast<std::int64_t>(cores.size());
    if (count == 0) {
        count = std::max<std::int64_t>(1, sysconf(_SC_NPROCESSORS_ONLN));
    }
    if (const auto quota = cpuQuota()) {
        const auto whole = static_cast<std::int64_t>(*quota + 0.999);
        count = std::min(count, std::max<std::int64_t>(1, whole));
    }
    return static_cast<std::int32_t>(count);
}

HostMemory hostMemory() {
    constexpr std::int64_t kKib = 1024;
    HostMemory memory;
    memory.totalBytes = readField("/proc/meminfo", "MemTotal:").value_or(0) * kKib;
    memory.freeBytes = readField("/proc/meminfo", "MemAvailable:").value_or(0) * kKib;
    for (const std::string& folder : cgroupFolders("memory")) {
        const bool isV2 = readInt(folder + "/memory.current").has_value();
        const auto limit = readInt(folder + (isV2 ? "/memory.max" : "/memory.limit_in_bytes"));
        const auto used = readInt(folder + (isV2 ? "/memory.current" : "/memory.usage_in_bytes"));
        if (!limit || !used || *limit <= 0) {
            continue;
        }
        // Clean file pages count as used but go away when memory is wanted.
        const std::int64_t droppable =
            readField(folder + "/memory.stat", isV2 ? "inactive_file " : "total_inactive_file ")
                .value_or(0);
        memory.totalBytes = std::min(memory.totalBytes, *limit);
        memory.freeBytes =
            std::min(memory.freeBytes, std::max<std::int64_t>(0, *limit - *used + droppable));
    }
    return memory;
}

}  // namespace quern::kernels::cpu
