#include "app/cli/standard_streams.h"

#include <fcntl.h>

#include <cstdio>

#include "app/cli/exit_codes.h"
#include "app/cli/terminal_text.h"

namespace quern::cli {

void tellUser(const std::string& line) {
    std::fprintf(stderr, "quern: %s\n", withoutTerminalControls(line).c_str());
}

void openMissingStreams() {
    // In order, since open() gives the lowest number that is free.
    for (const int descriptor : {0, 1, 2}) {
        if (::fcntl(descriptor, F_GETFD) < 0 && ::open("/dev/null", O_RDONLY) < 0) {
            return;
        }
    }
}

int afterOutput(int code) {
    const bool isWritten = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
    if (isWritten) {
        return code;
    }
    tellUser("the output could not be written; is the disk full?");
    return code == kExitOk ? kExitNoNetwork : code;
}

}  // namespace quern::cli
