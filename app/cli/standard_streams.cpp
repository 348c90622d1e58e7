#include "app/cli/standard_streams.h"

#include <array>
#include <cstdio>

#include "app/cli/exit_codes.h"
#include "app/cli/terminal_text.h"

namespace quern::cli {

Result<std::string> readStandardInput() {
    std::string text;
    std::array<char, 65536> bytes{};
    while (const std::size_t count = std::fread(bytes.data(), 1, bytes.size(), stdin)) {
        text.append(bytes.data(), count);
    }
    if (std::ferror(stdin) != 0) {
        return fail(ErrorCode::kIo, "standard input cannot be read");
    }
    return text;
}

void tellUser(const std::string& line) {
    std::fprintf(stderr, "quern: %s\n", withoutTerminalControls(line).c_str());
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
