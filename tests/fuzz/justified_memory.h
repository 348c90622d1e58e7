#pragma once

#include <cstddef>

namespace quern::test {

/// Holds what a parser allocates to what its input can justify: while it lives, at most `most`
/// bytes that were allocated since it was made are there at once; one more ends the process, which
/// is a finding. One at a time, on one thread.
class JustifiedMemory {
public:
    explicit JustifiedMemory(std::size_t most);
    ~JustifiedMemory();
    JustifiedMemory(const JustifiedMemory&) = delete;
    JustifiedMemory& operator=(const JustifiedMemory&) = delete;
};

}  // namespace quern::test
