#include "engine/metrics/process_memory.h"

#include <unistd.h>

#include <fstream>

namespace quern::engine {

std::int64_t residentBytes() {
    std::ifstream statm("/proc/self/statm");
    std::int64_t totalPages = 0;
    std::int64_t residentPages = 0;
    if (!(statm >> totalPages >> residentPages)) {
        return 0;
    }
    return residentPages * sysconf(_SC_PAGESIZE);
}

}  // namespace quern::engine
