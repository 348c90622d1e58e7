#pragma once

namespace quern::test {

/// Calls of operator new in this program so far. Linking this file replaces operator new.
[[nodiscard]] long allocationCount();

}  // namespace quern::test
