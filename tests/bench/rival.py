#!/usr/bin/env python3
"""Measures `quern bench` beside llama.cpp's llama-bench on the same file, in alternation.

usage: rival.py --quern build/release/bin/quern --llama-bench PATH --model FILE [--pairs 10] [--threads 2]

Runs ours and theirs as A B B A …, takes one ratio a pair, and prints medians, the median ratio and a
bootstrap 95 % interval. A win is one whose lower end is above 1. The first pair of ours against ours
shows the noise.
"""
import argparse
import json
import os
import random
import statistics
import subprocess


def ours(a, kind, tokens):
    out = subprocess.run([a.quern, "bench", kind, a.model, "-n", str(tokens), "-r", "1", "--threads", str(a.threads),
                          "--json"], capture_output=True, check=True)
    return json.loads(out.stdout)["tokens_per_second"]["median"]


def theirs(a, kind, tokens):
    lengths = ["-p", str(tokens), "-n", "0"] if kind == "prefill" else ["-p", "0", "-n", str(tokens)]
    out = subprocess.run([a.llama_bench, "-m", a.model, "-t", str(a.threads), "-r", "1", "-fa", "1", "-o", "json", *lengths],
                         capture_output=True, check=True)
    return json.loads(out.stdout)[0]["avg_ts"]


def interval(ratios, seed=1):
    chance = random.Random(seed)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(4000))
    return medians[100], medians[3899]


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--quern", required=True)
    p.add_argument("--llama-bench", required=True)
    p.add_argument("--model", required=True)
    p.add_argument("--pairs", type=int, default=10)
    p.add_argument("--threads", type=int, default=2)
    a = p.parse_args()
    print("load before:", os.getloadavg())
    for kind, tokens in (("prefill", 512), ("decode", 64)):
        noise = ours(a, kind, tokens) / ours(a, kind, tokens)
        pairs = []
        for i in range(a.pairs):
            if i % 2 == 0:
                mine = ours(a, kind, tokens)
                pairs.append((mine, theirs(a, kind, tokens)))
            else:
                rival = theirs(a, kind, tokens)
                pairs.append((ours(a, kind, tokens), rival))
        ratios = [mine / rival for mine, rival in pairs]
        low, high = interval(ratios)
        print(f"{kind} {tokens}: ours {statistics.median(m for m, _ in pairs):.1f} tok/s, theirs "
              f"{statistics.median(r for _, r in pairs):.1f} tok/s, ratio {statistics.median(ratios):.2f} "
              f"({low:.2f} … {high:.2f}), A/A {noise:.2f}, {a.pairs} pairs")
    print("load after:", os.getloadavg())


if __name__ == "__main__":
    main()
