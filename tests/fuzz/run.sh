#!/usr/bin/env bash
# run.sh [FACTOR] — builds the fuzzers with clang and runs each for its number of inputs, FACTOR times
# as many as in ./dev test where that is given. Says how many inputs each was given.
set -euo pipefail
cd "$(dirname "$0")/../.."
export QUERN_FUZZ_FACTOR="${1:-1}"
jobs="$(nproc)"

command -v clang++ >/dev/null || {
    echo "fuzz: clang++ is not installed" >&2
    exit 1
}
# -w: warnings are the other compiler's business; what this one warns of besides is no error.
# -O0: compiling takes longer than running, and twice as long where it optimizes.
# ccache takes precompiled headers only where it is told that their macros are stable.
export CCACHE_SLOPPINESS=pch_defines,time_macros
cmake -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE= -DCMAKE_CXX_COMPILER=clang++ \
    '-DCMAKE_CXX_FLAGS=-w -O0 -g1 -Xclang -fno-pch-timestamp' -DQUERN_DESKTOP=OFF -DQUERN_FUZZ=ON \
    -DQUERN_SANITIZE=fuzzer-no-link,address >build/fuzz.configure.log 2>&1 || {
    cat build/fuzz.configure.log >&2
    exit 1
}
cmake --build build/fuzz -j "$jobs" --target fuzzers
rm -rf build/fuzz/ran
ctest --test-dir build/fuzz -L '^fuzz$' -j "$jobs" --output-on-failure --no-tests=error
cat build/fuzz/ran/*
