#!/usr/bin/env bash
# Builds the fuzzers with clang and runs each for SECONDS_EACH (default 20) seconds, starting from
# golden files. What a fuzzer finds stays in build/fuzz/found; any finding fails the script.
set -euo pipefail
cd "$(dirname "$0")/../.."
seconds="${1:-${SECONDS_EACH:-20}}"

command -v clang++ >/dev/null || { echo "fuzz: clang++ is not installed" >&2; exit 1; }
# -w: warnings are the other compiler's business; what this one warns of besides is no error.
cmake -B build/fuzz -G Ninja -DCMAKE_BUILD_TYPE=Sanitized -DCMAKE_CXX_COMPILER=clang++ \
    -DCMAKE_CXX_FLAGS=-w -DQUERN_DESKTOP=OFF -DQUERN_FUZZ=ON \
    -DQUERN_SANITIZE=fuzzer-no-link,address,undefined >/dev/null
ninja -C build/fuzz fuzzers

golden="${QUERN_GOLDEN:-../shared/golden}"
[ -d "$golden/models" ] || golden=tests/data/golden
mkdir -p build/fuzz/found

# corpus NAME GLOB…: the seeds of a fuzzer. Large seeds are cut: it is the headers that are parsed.
corpus() {
    local folder="build/fuzz/corpus/$1" file
    shift
    mkdir -p "$folder"
    for file in "$@"; do
        [ -f "$file" ] && head -c 65536 "$file" >"$folder/$(echo "$file" | md5sum | cut -c1-12)"
    done
}
corpus fuzz_gguf "$golden"/models/*/model.gguf
corpus fuzz_safetensors "$golden"/models/*/model.safetensors
corpus fuzz_hf_config "$golden"/models/*/config.json
corpus fuzz_template "$golden"/chat-templates/templates/* tests/fuzz/seeds/template/*
corpus fuzz_tokenizer_gguf "$golden"/models/*/model.gguf
corpus fuzz_tokenizer_json tests/fuzz/seeds/tokenizer_json/*
corpus fuzz_tokenizer_encode tests/fuzz/seeds/text/*
corpus fuzz_reply_parser tests/fuzz/seeds/reply/*

status=0
for fuzzer in build/fuzz/fuzz/fuzz_*; do
    name="$(basename "$fuzzer")"
    echo "fuzz: $name for $seconds s"
    "$fuzzer" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -print_final_stats=0 \
        -verbosity=0 -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/corpus/$name" ||
        status=1
done
exit "$status"
