#!/usr/bin/env python3
"""clang-tidy of each source file that has not passed yet.

    lint.py BUILD PASSED FOLDER…

BUILD holds compile_commands.json; PASSED a file for each content that has passed with these checks.
Where there are many, files of one folder are read as one unit, since most of a run goes into headers
that they share. A unit that is not clean is read again file by file: what is told, and what passes, is always a file.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

UNIT_FILES = 8
# So few files are read one by one: then a header that a file forgot to include is noticed too.
FEW_FILES = 40
# Tier files switch their instruction set on with a pragma that only g++ reads.
ISA_FLAGS = {
    "avx2": ["-mavx2", "-mfma", "-mf16c"],
    "avx512": ["-mavx2", "-mfma", "-mf16c", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl",
               "-mavx512vnni"],
}
DROPPED = {"-c", "-Werror", "-o"}


def isa_flags(path):
    if not path.startswith("kernels/"):
        return []
    return next((flags for name, flags in ISA_FLAGS.items() if name in path), [])


def flags_of(command):
    """What a file is compiled with, less the compiler, the file and its output."""
    words = shlex.split(command["command"])
    first = next(i for i, word in enumerate(words) if os.path.basename(word).startswith(("g++", "c++", "clang++")))
    flags, skip = [], False
    for word in words[first + 1:]:
        if skip or word in DROPPED or word == command["file"]:
            skip = word == "-o"
            continue
        flags.append(word)
    return [*flags, "-Wno-unknown-warning-option", "-Wno-unknown-pragmas"]


def run(source, flags, is_test, filters=()):
    """What clang-tidy says of it; empty when it is clean."""
    # In tests plain words go before speed.
    checks = ["--checks=-performance-*"] if is_test else []
    result = subprocess.run(["clang-tidy", "--quiet", *checks, *filters, source, "--", *flags],
                            capture_output=True, text=True)
    if result.returncode == 0 and not result.stdout.strip():
        return ""
    return result.stdout.strip() or result.stderr.strip() or f"clang-tidy ended with {result.returncode}"


class Linter:
    def __init__(self, root, build, passed):
        self.root = root
        self.passed = passed
        commands = json.loads((build / "compile_commands.json").read_text())
        self.commands = {c["file"]: c for c in commands}
        version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True).stdout
        checks = (root / ".clang-tidy").read_text() + version
        self.checks = hashlib.sha256(checks.encode()).hexdigest()[:16]

    def mark(self, path):
        content = hashlib.sha256((self.root / path).read_bytes()).hexdigest()[:32]
        return self.passed / f"{content}-{self.checks}"

    def units(self, files):
        """Files that are read together: of one folder, with the same flags, and of no tier."""
        groups = {}
        for path in files:
            command = self.commands.get(str(self.root / path))
            alone = command is None or path.startswith("kernels/")
            key = path if alone else (os.path.dirname(path), *flags_of(command))
            groups.setdefault(key, []).append(path)
        size = 1 if len(files) <= FEW_FILES else UNIT_FILES
        for group in groups.values():
            for i in range(0, len(group), size):
                yield group[i:i + size]

    def lint_file(self, path):
        command = self.commands.get(str(self.root / path))
        if command is None:
            return f"{path}: no target compiles it"
        said = run(str(self.root / path), flags_of(command) + isa_flags(path), path.startswith("tests/"))
        if not said:
            self.mark(path).touch()
        return said

    def lint_unit(self, files):
        """Faults found, file by file."""
        if len(files) > 1 and not self.faults_of_unit(files):
            for path in files:
                self.mark(path).touch()
            return []
        return [(path, said) for path in files if (said := self.lint_file(path))]

    def faults_of_unit(self, files):
        with tempfile.TemporaryDirectory() as folder:
            # .clang-tidy is looked for above the file.
            (pathlib.Path(folder) / ".clang-tidy").write_text((self.root / ".clang-tidy").read_text())
            unit = pathlib.Path(folder) / "unit.cpp"
            unit.write_text("".join(f'#include "{self.root / path}"\n' for path in files))
            flags = flags_of(self.commands[str(self.root / files[0])])
            return run(str(unit), flags, files[0].startswith("tests/"),
                       [f"--header-filter=^{self.root}/.*\\.cpp$"])


def main(build, passed, *folders):
    root = pathlib.Path(__file__).resolve().parents[2]
    linter = Linter(root, pathlib.Path(build), pathlib.Path(passed))
    linter.passed.mkdir(parents=True, exist_ok=True)
    tracked = subprocess.run(["git", "-C", root, "ls-files", "--", *(f"{f}/*.cpp" for f in folders)],
                             capture_output=True, text=True, check=True).stdout.split()
    # Fuzzers are built by clang alone, in a tree of their own.
    tracked = [path for path in tracked if not path.startswith("tests/fuzz/")]
    files = [path for path in tracked if not linter.mark(path).exists()]
    print(f"{len(files)} of {len(tracked)} files to check", flush=True)
    faults = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found in pool.map(linter.lint_unit, linter.units(files)):
            for path, said in found:
                faults += 1
                print(f"clang-tidy: {path}\n{said}", file=sys.stderr, flush=True)
    return 1 if faults or not tracked else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
