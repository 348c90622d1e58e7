#!/usr/bin/env bash
# run_target.sh PROGRAM RUNS LENGTH — gives a fuzzer RUNS × QUERN_FUZZ_FACTOR inputs of at most
# LENGTH bytes, made from its seeds: those in tests/fuzz/seeds, and golden files. The same seeds and
# QUERN_SEED (default 1) make the same inputs. What it finds stays in build/fuzz/found and fails the
# run; build/fuzz/ran/NAME says how many inputs there were.
set -euo pipefail
cd "$(dirname "$0")/../.."
program="$1" runs="$(($2 * ${QUERN_FUZZ_FACTOR:-1}))" length="$3"
name="$(basename "$program")"
seed="${QUERN_SEED:-1}"

golden="${QUERN_GOLDEN:-../shared/golden}"
[ -d "$golden/models" ] || golden=tests/data/golden
corpus="build/fuzz/corpus/$name"
rm -rf "$corpus" "build/fuzz/new/$name"
mkdir -p "$corpus" "build/fuzz/new/$name" build/fuzz/found build/fuzz/log build/fuzz/ran
rm -f "build/fuzz/ran/$name"

# Seeds that were made by hand, or that once were findings.
kind="${name#fuzz_}"
for file in tests/fuzz/seeds/"$kind"/*; do
    [ -f "$file" ] && cp "$file" "$corpus/"
done

# add FILE… — further seeds. Large ones are cut: it is the headers that are parsed.
add() {
    local file
    for file in "$@"; do
        [ -f "$file" ] && head -c "$length" "$file" >"$corpus/$(echo "$file" | tr / -)"
    done
    return 0
}
# header FILE — a safetensors file up to its data
header() { head -c $((8 + $(od -An -t u8 -N 8 "$1"))) "$1"; }
# part LETTER — begins another file of a folder (see folder_input.h)
part() { printf '\0FILE%s' "$1"; }

case "$kind" in
    gguf | tokenizer_gguf) add "$golden"/models/*/model.gguf ;;
    hf_config) add "$golden"/models/*/config.json ;;
    template) add "$golden"/chat-templates/templates/* ;;
    safetensors)
        for file in "$golden"/models/*/model.safetensors; do
            header "$file" >"$corpus/$(echo "$file" | tr / -)"
        done
        ;;
    hf_folder)
        for folder in "$golden"/models/*/; do
            { cat "$folder/config.json" && part b && header "$folder/model.safetensors"; } \
                >"$corpus/$(basename "$folder")"
        done
        ;;
    adapter)
        for folder in "$golden"/lora/*/; do
            { cat "$folder/adapter_config.json" && part b &&
                header "$folder/adapter_model.safetensors"; } >"$corpus/$(basename "$folder")"
            [ -f "$folder/adapter.gguf" ] &&
                { part c && head -c "$length" "$folder/adapter.gguf"; } >"$corpus/$(basename "$folder").gguf"
        done
        ;;
esac

# A single allocation has a bound besides that of all together, which the targets keep themselves.
export ASAN_OPTIONS="quarantine_size_mb=16:${ASAN_OPTIONS:-}"
log="build/fuzz/log/$name"
status=0
"$program" -runs="$runs" -seed="$seed" -max_len="$length" -timeout=20 -rss_limit_mb=1024 \
    -malloc_limit_mb=64 -print_final_stats=1 -print_funcs=0 -verbosity=0 \
    -artifact_prefix="build/fuzz/found/$name-" "build/fuzz/new/$name" "$corpus" \
    >"$log" 2>&1 || status=$?
ran="$(awk '/stat::number_of_executed_units/ { print $2 }' "$log")"
seeds="$(find "$corpus" -type f | wc -l)"
if [ "$status" != 0 ] || [ "${ran:-0}" -lt "$runs" ] || [ "$seeds" = 0 ]; then
    tail -n 60 "$log"
    echo "fuzz: $name failed after ${ran:-0} of $runs inputs (seed $seed, $seeds seeds)"
    exit 1
fi
echo "fuzz: $name: $ran inputs from $seeds seeds (seed $seed)" | tee "build/fuzz/ran/$name"
