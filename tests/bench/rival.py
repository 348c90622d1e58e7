#!/usr/bin/env python3
"""Measures Quern beside llama.cpp on the same file, in alternation.

usage: rival.py --quern build/release/bin/quern --llama FOLDER --model FILE [--pairs 10] [--threads 2] [--only …]
                [--cpu-tier avx2]

FOLDER holds llama-bench, llama-server and llama-completion. What is measured:
  prefill, decode  tokens a second, `quern bench` beside llama-bench
  load             seconds from the start of a server to its first healthy answer
  start            seconds from the start of a program to its end, with a prompt and one token
  memory           MiB of resident memory at its peak, after a prompt of 400 tokens or so
Ours and theirs run as A B B A …, one ratio a pair; printed are medians, the median ratio and a bootstrap
95 % interval. A ratio above 1 means that ours is better; a win is one whose lower end is above 1. The
first pair of ours against ours shows the noise.
"""
import argparse
import json
import os
import random
import socket
import statistics
import subprocess
import time
import urllib.request

CONTEXT = "2048"
PROMPT = "The old miller rose before dawn and opened the sluice. " * 32


def our_flags(a):
    return ["--threads", str(a.threads)] + (["--cpu-tier", a.cpu_tier] if a.cpu_tier else [])


def ours_per_second(a, kind, tokens):
    out = subprocess.run([a.quern, "bench", kind, a.model, "-n", str(tokens), "-r", "1", "--json", *our_flags(a)],
                         capture_output=True, check=True)
    return json.loads(out.stdout)["tokens_per_second"]["median"]


def theirs_per_second(a, kind, tokens):
    lengths = ["-p", str(tokens), "-n", "0"] if kind == "prefill" else ["-p", "0", "-n", str(tokens)]
    out = subprocess.run([os.path.join(a.llama, "llama-bench"), "-m", a.model, "-t", str(a.threads), "-r", "1", "-fa", "1", "-o", "json", *lengths],
                         capture_output=True, check=True)
    return json.loads(out.stdout)[0]["avg_ts"]


def interval(ratios, seed=1):
    chance = random.Random(seed)
    medians = sorted(statistics.median(chance.choices(ratios, k=len(ratios))) for _ in range(4000))
    return medians[100], medians[3899]


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def seconds_to_health(command):
    """Starts a server, waits for 200 from /health, ends it."""
    port = free_port()
    began = time.monotonic()
    server = subprocess.Popen([*command, "--port", str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        while time.monotonic() - began < 120 and server.poll() is None:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as answer:
                    if answer.status == 200:
                        return time.monotonic() - began
            except OSError:
                time.sleep(0.005)
        raise RuntimeError(f"{command[0]} did not become healthy")
    finally:
        server.terminate()
        server.wait()


def one_run(command):
    """Seconds and MiB of a whole program."""
    began = time.monotonic()
    program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(program.pid, 0)
    if status != 0:
        raise RuntimeError(f"{command[0]} ended with {status}")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def our_run(a, prompt):
    return one_run([a.quern, "run", a.model, prompt, "--raw", "--max-tokens", "1", "--ctx", CONTEXT, *our_flags(a)])


def their_run(a, prompt):
    return one_run([os.path.join(a.llama, "llama-completion"), "-m", a.model, "-p", prompt, "-n", "1", "-no-cnv",
                    "-c", CONTEXT, "-t", str(a.threads), "-fa", "1"])


def our_load(a):
    return seconds_to_health([a.quern, "serve", a.model, "--ctx", CONTEXT, *our_flags(a)])


def their_load(a):
    return seconds_to_health([os.path.join(a.llama, "llama-server"), "-m", a.model, "-c", CONTEXT,
                              "-t", str(a.threads), "-fa", "1"])


# name → (what it is, unit, ours, theirs, whether more is better)
MEASURES = {
    "prefill": ("prefill 512", "tok/s", lambda a: ours_per_second(a, "prefill", 512),
                lambda a: theirs_per_second(a, "prefill", 512), True),
    "decode": ("decode 64", "tok/s", lambda a: ours_per_second(a, "decode", 64),
               lambda a: theirs_per_second(a, "decode", 64), True),
    "load": ("start of a server to healthy", "s", our_load, their_load, False),
    "start": ("start to one token and end", "s", lambda a: our_run(a, "Hello")[0],
              lambda a: their_run(a, "Hello")[0], False),
    "memory": ("peak resident memory", "MiB", lambda a: our_run(a, PROMPT)[1], lambda a: their_run(a, PROMPT)[1], False),
}


def compare(a, name):
    what, unit, ours, theirs, more_is_better = MEASURES[name]
    noise = ours(a) / ours(a)
    pairs = []
    for i in range(a.pairs):
        if i % 2 == 0:
            mine = ours(a)
            pairs.append((mine, theirs(a)))
        else:
            rival = theirs(a)
            pairs.append((ours(a), rival))
    ratios = [mine / rival if more_is_better else rival / mine for mine, rival in pairs]
    low, high = interval(ratios)
    print(f"{what}: ours {statistics.median(m for m, _ in pairs):.4g} {unit}, theirs "
          f"{statistics.median(r for _, r in pairs):.4g} {unit}, ratio {statistics.median(ratios):.2f} "
          f"({low:.2f} … {high:.2f}), A/A {noise:.2f}, {a.pairs} pairs", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--quern", required=True)
    p.add_argument("--llama", required=True, help="the folder of llama.cpp's programs")
    p.add_argument("--model", required=True)
    p.add_argument("--pairs", type=int, default=10)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--cpu-tier", help="avx2: ours in that tier; build llama.cpp with -DGGML_AVX512=OFF to match")
    p.add_argument("--only", nargs="+", choices=MEASURES, default=list(MEASURES))
    a = p.parse_args()
    print("load before:", os.getloadavg())
    for name in a.only:
        compare(a, name)
    print("load after:", os.getloadavg())


if __name__ == "__main__":
    main()
